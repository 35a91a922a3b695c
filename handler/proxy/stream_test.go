package proxy

import (
	"math"
	"testing"
	"time"
)

func TestTimeoutsOfGRPC(t *testing.T) {
	const never = time.Duration(math.MaxInt64)
	for text, want := range map[string]time.Duration{
		"1H": time.Hour, "2M": 2 * time.Minute, "3S": 3 * time.Second, "20m": 20 * time.Millisecond, "5u": 5 * time.Microsecond, "99999999n": 99999999,
		"0n": 0, "99999999H": never, "": never, "S": never, "10": never, "1s": never, "0s": never, "-1S": never, "+1S": never, "1.5S": never, "100000000S": never,
	} {
		if got := grpcTimeout(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
