// Package explain is the answer to the question what would become of a request,
// and why: a Report, which the stages fill in while the request goes through the
// same chain as every other, and its text for a person.
//
// A stage that finds a Report in the exchange decides as ever, notes what it saw,
// and takes nothing: no token of a bucket, no permit, no turn of a backend.
//
// Guaranteed: a Report holds no key and no token. Not guaranteed: that the next
// moment looks the same; the state of limits, breakers and backends is that of the
// moment in which it was asked. What only a filter of somebody's own could decide is
// named in Undecided.
//
// A Report belongs to the goroutine that fills it in. After that anybody may read it.
package explain
