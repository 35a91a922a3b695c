// Package builtin has the filters that come with the gateway, one a file, and in builtin.go the list of all of them.
//
// Guaranteed: no order of filters, and no filter left out, opens a hole. What must always happen (the request id, taking
// identity headers away, checking credentials) the chain does on every route; the filters of these names only make sure. A
// filter can't set or remove a header that only the gateway may decide about: such a use is refused at load, in every
// spelling.
//
// Not guaranteed: that headers in trailers are changed; the header filters leave trailers alone.
//
// The filters hold no state of their own but for a pool of compressors, and serve any number of requests at the same time.
package builtin
