// Command peers compares gatehouse with HAProxy and nginx on the same work: plain
// proxying, and the full chain (a token's signature, times, issuer, audience and
// scope, a rate limit, a JSON access log, metrics and a breaker) with HS256, RS256
// and ES256.
//
//	make bench-peers        (about fifteen minutes)
//
// It needs haproxy, nginx, wrk and taskset (the Debian packages haproxy,
// nginx-light, wrk and util-linux) and two CPUs: the proxy has one to itself, load
// and upstream have the other. Before and after each run a good token has to get
// 200 and a bad one 401. The programs are run in rotation and the medians printed,
// as figures and as ratios to HAProxy's in the same run: figures of two runs, or
// of two machines, can't be compared. The last column is the 99th percentile when
// each gets half of the requests a second that it could do.
package main
