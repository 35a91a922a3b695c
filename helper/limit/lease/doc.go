// Package lease takes tokens of busy keys from a shared store a few at a time,
// so that most requests are decided without a round trip.
//
// How many it takes is what the key has lately needed, and never more than a
// quarter of a burst, so that one instance doesn't hold what others ask for. A
// refusal is remembered until a token can be there again.
//
// Guaranteed: every token that it hands out was taken from the shared bucket
// before, so that the total over all instances never passes the limit; a key
// that isn't busy is decided in the shared store, as without leases; the number
// of leases is bounded.
//
// Not guaranteed: fairness among the instances. Tokens that aren't used within a
// tenth of a second are dropped, so that a key may get a little less than its
// limit when its traffic moves from one instance to another. What a leased
// decision says is left is what this instance last heard.
//
// A Store may be used concurrently; Run must run while it is.
package lease
