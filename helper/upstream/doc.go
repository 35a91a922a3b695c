// Package upstream holds the pools: which backends an upstream has, which of
// them may be used at the moment, and which one a request is sent to.
//
// A pool filters and its picker picks. A backend is offered when its active
// checks call it up, its own requests haven't had it ejected, it isn't draining,
// has room for another connection, hasn't been tried by this request, and didn't
// fail last while no retry would be allowed (Options.Spare). When that leaves none,
// one that failed will do, then one without room, and then one that was tried.
//
//	var attempt upstream.Attempt // a field of a per-request struct
//	for {
//		backend := pool.Pick(&attempt, key)
//		if backend == nil {
//			break // no backend can take it
//		}
//		... // send it; attempt.Report says what became of it
//		attempt.Release()
//	}
//
// A host name that is to be followed (Member.Host) is looked up every ten
// seconds, and each of its addresses is a backend with connections of its own,
// under the same name. A lookup that fails changes nothing. Backends that leave get no
// new request; those in flight finish.
//
// Guaranteed: a pick ends; a draining backend gets no new request; what NewPool
// is given as previous passes on what is known of backends that stay. Not
// guaranteed: that a backend is still up when the request arrives.
//
// Pools and backends are safe for concurrent use; an Attempt belongs to one
// request. Picking takes no lock and allocates nothing. The only goroutines are
// those of Run, which waits for them.
package upstream
