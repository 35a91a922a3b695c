// Package suggest finds what a misspelt name was probably meant to be, for the error message about it.
//
// It guarantees the same answer for the same names in any order, and that a name unlike all others gets none. It doesn't
// know what names mean. Its functions are pure and safe for concurrent use.
package suggest
