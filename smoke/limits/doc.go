// Package limits tests several gateways that share their limits: the built binary, as processes, in front of a backend
// that counts what arrives, with a real redis-server, a Cluster and Sentinels.
//
// Guaranteed by its passing: no key gets more than its limit over all gateways, whatever their clocks say and while slots
// move; Redis going away, in whatever way, costs no caller an error and no more time than redis.timeout, and its return,
// or a new master, is noticed. Not covered: what a single gateway does, which the packages' own tests do.
package limits
