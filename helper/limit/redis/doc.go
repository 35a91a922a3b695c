// Package redis keeps token buckets in Redis, so that any number of gateways
// share them: a single node, one that Sentinels watch, or a Cluster.
//
// A Lua script decides on all demands of a request at once, on Redis's own
// clock: the clocks of the gateways don't matter. It decides as limit.Take does,
// to the nanosecond, and a conformance test holds it to that. Requests that come
// at the same time travel in one pipeline.
//
// Guaranteed: in any time t the bucket of a key gives no more than Burst +
// t/Interval tokens to all gateways together; a refused request takes none; a
// key lives no longer than its bucket needs to fill up.
//
// Not guaranteed: after an error nothing is known about the request's tokens;
// in a Cluster, the buckets of different subjects aren't asked at the same
// instant, and what one gave for a request that another refused is given back
// (if that fails it is lost, so the limit becomes stricter, never laxer); when
// Redis loses writes, in a failover or without persistence, buckets are full
// again.
//
// It needs Redis 5 or later, or a server that speaks its protocol and has Lua.
// Keys begin with "gatehouse:" and name the rule with its rate and burst, so
// that gateways with different rules don't mix them. A Client may be used
// concurrently.
package redis
