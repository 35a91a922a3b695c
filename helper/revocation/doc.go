// Package revocation lists what is refused before it expires: single tokens (jti:…), everything of a subject (sub:…), and
// everything that was signed with a key (kid:…).
//
// Entries come from a file, until its next content takes their place, and from an operator, with an end. It
// guarantees that an entry is in force for every question that is asked after it was added, and that one which has ended
// isn't any more. A subject is refused whoever issued it, and whether it shows a token or an API key: an entry refuses
// too much rather than too little.
//
// It doesn't keep an operator's entries beyond the process, and doesn't watch the file. A kid of a key that has no ID of
// its own (a PEM file's) is what the token says of itself, so it is the file that such a key is to be taken out of.
//
// A List can be used by any number of goroutines; a question takes no lock and allocates nothing.
package revocation
