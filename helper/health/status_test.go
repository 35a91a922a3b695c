package health_test

import (
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/helper/health"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// after plays a list of results, + and -, and returns the status after each, U or D.
func after(results string, t health.Thresholds) string {
	var status health.Status
	seen := ""
	for _, r := range results {
		if status = status.After(r == '+', t); status.Up() {
			seen += "U"
		} else {
			seen += "D"
		}
	}
	return seen
}

func TestStatus(t *testing.T) {
	tests := []struct {
		name                         string
		healthyAfter, unhealthyAfter int
		results, want                string
	}{
		{"a new one is up and stays up", 2, 3, "+++", "UUU"},
		{"three bad ones in a row take it down", 2, 3, "---", "UUD"},
		{"a good one in between starts the count again", 2, 3, "--+--+--", "UUUUUUUU"},
		{"two good ones in a row bring it back", 2, 3, "---++", "UUDDU"},
		{"a bad one in between starts that count again", 2, 3, "---+-+-++", "UUDDDDDDU"},
		{"back up it takes three bad ones again", 2, 3, "---++--+---", "UUDDUUUUUUD"},
		{"thresholds of one follow each result", 1, 1, "-+-+", "DUDU"},
		{"less than one is one", 0, -1, "-+-+", "DUDU"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := after(test.results, health.Thresholds{HealthyAfter: test.healthyAfter, UnhealthyAfter: test.unhealthyAfter}); got != test.want {
				t.Errorf("after %s it was %s, want %s", test.results, got, test.want)
			}
		})
	}
}

// A change needs its whole run of equal results, counted back from the last.
func TestStatusAgreesWithTheModel(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		thresholds := health.Thresholds{HealthyAfter: 1 + random.IntN(4), UnhealthyAfter: 1 + random.IntN(4)}
		results, want, state := "", "", "U"
		for range 60 {
			results += string("+-"[random.IntN(2)])
			last, run := results[len(results)-1], 0
			for i := len(results) - 1; i >= 0 && results[i] == last; i-- {
				run++
			}
			switch {
			case last == '-' && run >= thresholds.UnhealthyAfter:
				state = "D"
			case last == '+' && run >= thresholds.HealthyAfter:
				state = "U"
			}
			want += state
		}
		if got := after(results, thresholds); got != want {
			t.Fatalf("%+v: after\n%s it was\n%s, want\n%s", thresholds, results, got, want)
		}
	}
}
