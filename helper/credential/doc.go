// Package credential finds tokens in requests, wherever a provider allows them, and takes them out of what goes upstream.
//
// It guarantees that a token is only looked for in the places that are given, and that what is ambiguous isn't resolved
// by a guess: a cookie or a parameter that is there twice is said to be. A [Remover] takes out every cookie and parameter
// of its names in any spelling that a server could read as the name, and leaves every other byte of the Cookie lines and
// of the query as it came.
//
// It doesn't judge what it finds, and doesn't look into bodies.
//
// All values are immutable and can be used by any number of goroutines.
package credential
