// Package assertion makes the gateway's own word about a caller: a short-lived token (RFC 7519, EdDSA) that a service
// verifies with the gateway's published keys, so that it needn't trust the network between the gateway and itself.
//
// It guarantees that an assertion is for one audience and one route, and that the keys which are published verify every
// assertion that hasn't expired: after a change of the key, the one before stays published for an hour. One assertion
// serves all requests of the same caller to the same route for half its life, unless each request is to have its own.
// What is remembered for that is bounded.
//
// It doesn't know when a caller's own token ends or is revoked: an assertion may outlive it by the time that it is valid.
//
// A Keyring, a Minter and a Target can be used by any number of goroutines.
package assertion
