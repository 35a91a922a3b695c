// Package load drives HTTP/1.1 load over kept-alive connections and measures a server process from outside: requests,
// latencies, CPU time and memory. It is for the benchmarks only.
//
// Guarantees: an answer with another status than the wanted one, and a broken connection, are counted as errors.
//
// Non-guarantees: it reads just enough of an answer to count it, and isn't an HTTP client for anything else.
//
// Concurrency: a run opens connections of its own and has ended them when it returns.
package load
