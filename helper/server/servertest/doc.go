// Package servertest gives tests addresses that stay what they are: a port that
// the system chose and that was given up is soon another listener's.
package servertest
