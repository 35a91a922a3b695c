// Package apikey knows callers by the API keys that they show.
//
// It guarantees that no key is ever kept: what is compared is its SHA-256. A key is found by looking its hash up, and that
// tells an attacker who measures time nothing to go by: to come nearer to a hash that is known he would have to choose
// the hash of what he sends, which SHA-256 doesn't let him. A plain hash is enough because keys are random: [Generate]
// makes them of 256 bits, which nobody can try through. It wouldn't be for passwords.
//
// It doesn't read files, and doesn't limit how often somebody may try.
//
// A Store can be used by any number of goroutines; replacing its keys takes effect at once.
package apikey
