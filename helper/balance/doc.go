// Package balance chooses one of several backends. Pools filter, pickers pick: a
// picker is told which backends may be picked, never decides on their health,
// and doesn't know what a backend is but for its index and its weight.
//
//	picker := balance.NewRoundRobin([]int{2, 1, 1})
//	index := picker.Pick(candidates, 0)
//	if index < 0 {
//		return // 503: there is none
//	}
//
// Guaranteed of every picker: a pick ends, after a number of steps that depends
// on the number of backends alone; it returns the index of a candidate that was
// allowed when it was asked for, or -1; a backend of weight 0 is never picked; the
// others are picked in proportion to their weights, also among themselves when
// some aren't allowed; it allocates nothing and takes no lock.
//
// Not guaranteed: that the candidate is still allowed, or the least loaded one,
// when Pick returns. Who must be sure takes its place in the backend and, where
// that fails, picks again without it.
//
// Pickers are safe for concurrent use; what they are made of doesn't change.
package balance
