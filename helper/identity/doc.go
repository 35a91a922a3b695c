// Package identity says who a request is from and what they may do: the [Principal] that authentication makes, its
// scopes, and the requirements that a route compares them with.
//
// It guarantees that comparing is exact: whole strings, case-sensitive, type by type. A claim of a type that isn't
// expected grants nothing and matches nothing; it is never converted.
//
// It doesn't verify anything: package token does, and only what it verified may become a Principal.
//
// Every value here is immutable once made, so it can be cached and shared by any number of goroutines.
package identity
