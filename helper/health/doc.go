// Package health tells which backends of a pool may be used, in two ways that
// don't know of each other: a Checker asks each backend in intervals, and a Group
// watches the results of the requests that the backends get. A pool uses a
// backend that is up for both.
//
//	checker := health.NewChecker(checks, targets, previousChecker)
//	go checker.Run(ctx) // its owner waits for it
//	group := health.NewGroup(ejection, names, previousGroup)
//
//	if !checker.Up(i) || !group.Available(i) {
//		// the picker isn't offered this backend
//	}
//	var permit health.Permit
//	if !group.Acquire(i, &permit) {
//		// another request was first to try it: pick again without it
//	}
//	defer permit.Neutral() // does nothing after a report
//	...
//	permit.Failure() // or permit.Success()
//
// Both count with Status, a pure state machine: results in a row, and one that
// is different starts the count again.
//
// Guaranteed: a slow check delays no other backend's; a backend that refuses
// connections or answers wrongly is down within Interval × UnhealthyAfter; a
// Group never ejects more than its share of the backends; after an ejection one
// request is the trial, and no other goes to the backend until that one has
// reported; a trial that ends neutral, or yields because its client keeps it
// waiting, gives its place to the next request; and a
// result counts only for the stay, in or out, that admitted its request.
//
// Not guaranteed: a backend that doesn't answer at all is down one Timeout
// later. Two changes within the same instant may be told to the hooks in either
// order.
//
// Every type may be used concurrently. Asking costs one or two atomic loads; there are no locks. The only
// goroutines are those of Checker.Run, which waits for them.
package health
