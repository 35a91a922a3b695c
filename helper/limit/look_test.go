package limit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/limit"
)

func TestALookSaysWhatARequestWouldGetAndTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, rule := limit.NewLocal(limit.Options{}), newRule(t, 1, time.Hour, 3)
		key := stringKey(rule, "ada")
		for _, left := range []int{2, 1, 0, -1, -1} {
			look := []limit.Demand{{Rule: rule, Key: key, Look: true}}
			l.Decide(look)
			again := []limit.Demand{{Rule: rule, Key: key, Look: true}}
			l.Decide(again)
			real := []limit.Demand{{Rule: rule, Key: key}}
			l.Decide(real)
			if look[0].Decision != real[0].Decision || again[0].Decision != real[0].Decision || real[0].Decision.Allowed != (left >= 0) {
				t.Errorf("with %d left: looks say %+v and %+v, a request gets %+v", left, look[0].Decision, again[0].Decision, real[0].Decision)
			}
		}
		if l.Decide([]limit.Demand{{Rule: rule, Key: stringKey(rule, "bob"), Look: true}}); l.Len() != 1 {
			t.Errorf("a look made a bucket: there are %d", l.Len())
		}
	})
}

func TestARemoteStoreIsntAskedForALook(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		s.told(t, "remote")
		s.ask("ada")
		before := s.remote.calls.Load()
		look := []limit.Demand{{Rule: s.rule, Key: stringKey(s.rule, "ada"), Look: true}}
		s.Decide(look)
		if d := look[0]; !d.Unasked || !d.Decision.Allowed || d.Decision.Remaining != 29 || s.remote.calls.Load() != before {
			t.Errorf("the look says %+v, after %d more calls", d, s.remote.calls.Load()-before)
		}
	})
}
