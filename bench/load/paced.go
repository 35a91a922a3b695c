package load

import (
	"bufio"
	"net"
	"time"
)

// Paced sends request perSecond times a second over connections for duration d, each at its own time, and expects
// answers with status. A request that comes late because its connection still waits for an answer counts from the time
// at which it should have been sent; one that comes late because this process was, from when it was.
func Paced(address string, request []byte, connections, perSecond int, d time.Duration, status int) Result {
	start := time.Now()
	interval := time.Second * time.Duration(connections) / time.Duration(perSecond)
	return together(connections, func(i int) Result {
		first := start.Add(interval * time.Duration(i) / time.Duration(connections))
		return pace(address, request, first, interval, start.Add(d), status)
	})
}

func pace(address string, request []byte, at time.Time, interval time.Duration, end time.Time, status int) (r Result) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return Result{Errors: 1}
	}
	defer conn.Close() //nolint:errcheck // what was answered has been counted
	in := bufio.NewReaderSize(conn, 16<<10)
	for ; at.Before(end); at = at.Add(interval) {
		from := at
		if wait := time.Until(at); wait > 0 {
			time.Sleep(wait)
			from = time.Now()
		}
		if !r.exchange(conn, in, request, from, status) {
			return r
		}
	}
	return r
}
