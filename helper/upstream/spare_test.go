package upstream_test

import (
	"fmt"
	"testing"

	"gatehouse/helper/upstream"
)

// A backend that failed last gets no request that nobody could make good, as long
// as there are others; and it isn't forgotten.
func TestADoubtfulBackendIsSparedWhileRetriesAre(t *testing.T) {
	spare, asked := false, 0
	o := inTurn(t, "a", "b")
	o.Ejection.Failures = 5
	o.Spare = func() bool { asked++; return spare }
	p := upstream.NewPool(o, nil)
	if got := fmt.Sprint(picks(p, 2)); got != "[a b]" || asked > 0 {
		t.Errorf("all are well: %s, asked %d times", got, asked)
	}
	fail := func() {
		var a upstream.Attempt
		p.Pick(&a, 0)
		a.Failure()
		a.Release()
	}
	fail() // a
	if got := fmt.Sprint(picks(p, 3)); got != "[b b b]" {
		t.Errorf("after a failure: %s", got)
	}
	spare = true
	if got := fmt.Sprint(picks(p, 4)); got != "[a b a b]" && got != "[b a b a]" {
		t.Errorf("when it could be made good again: %s", got)
	}
	spare = false
	fail()
	fail()
	if got := picks(p, 1)[0]; got == "none" {
		t.Error("where all have failed, nobody is picked")
	}
}
