// Package balance chooses one of several backends. A picker is handed what may
// be picked and never decides on health: pools filter, pickers pick, and a pick
// always ends.
//
// Pickers are safe for concurrent use and don't allocate.
package balance
