// Package demo has what a gateway needs around it to be tried: services that echo what reached them, and an identity
// service that issues tokens to anybody who asks.
//
// Guarantees: an echo says what came over the wire, header lines as they were spelled and ordered; the identity service's
// key is made at start and never leaves the process.
//
// Non-guarantees: nothing here is meant for production. The identity service asks for no password.
//
// Concurrency: all handlers serve any number of requests at once.
package demo
