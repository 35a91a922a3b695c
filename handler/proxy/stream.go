package proxy

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"gatehouse/helper/problem"
)

// streamError is the end of a stream of HTTP/2. Those of net/http have no exported
// type, but errors.As turns them into any struct with these fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "the stream was reset" }

// broken says whether a backend broke a stream off, as over HTTP/1 it would close the
// connection: with INTERNAL_ERROR or CANCEL (RFC 9113 section 7). The other codes tell
// of a breach of the protocol, on one of the sides.
func broken(err error) bool {
	var stream streamError
	return errors.As(err, &stream) && (stream.Code == 2 || stream.Code == 8)
}

// overdue says whether a gRPC call has had all the time that its caller gives it, in a
// header that the service sees as well. A service that breaks it off then does as it
// is told.
func (c *call) overdue(h http.Header) bool {
	return problem.IsGRPC(h) && time.Since(c.started) >= grpcTimeout(h.Get("Grpc-Timeout"))
}

// grpcTimeout reads a timeout as gRPC over HTTP2 has it: at most 8 digits and a unit.
// One that isn't valid, or doesn't fit, is never over.
func grpcTimeout(text string) time.Duration {
	const never = time.Duration(math.MaxInt64)
	if len(text) < 2 || len(text) > 9 {
		return never
	}
	last := len(text) - 1
	n, err := strconv.ParseUint(text[:last], 10, 32)
	if err != nil {
		return never
	}
	var unit time.Duration
	switch text[last] {
	case 'H':
		unit = time.Hour
	case 'M':
		unit = time.Minute
	case 'S':
		unit = time.Second
	case 'm':
		unit = time.Millisecond
	case 'u':
		unit = time.Microsecond
	case 'n':
		unit = time.Nanosecond
	default:
		return never
	}
	if n > 0 && unit > never/time.Duration(n) {
		return never
	}
	return unit * time.Duration(n)
}
