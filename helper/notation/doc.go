// Package notation reads the values that the configuration and the arguments of filters share: sizes (10MiB), rates (600/m)
// and networks (10.0.0.0/8).
//
// It guarantees that a text has one meaning or is refused, with an error that says what to write instead, and that nothing
// overflows. It doesn't know what a value is for: a size of 0 and a rate of 0 are for the caller to judge. Its functions are
// pure and safe for concurrent use.
package notation
