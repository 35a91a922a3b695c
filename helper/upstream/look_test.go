package upstream_test

import (
	"testing"

	"gatehouse/helper/upstream"
)

func TestALookTakesNothing(t *testing.T) {
	o := inTurn(t, "a", "b", "c")
	o.Concurrency = 2
	p := upstream.NewPool(o, nil)
	for range 7 {
		look, again := p.Look(0), p.Look(0)
		var a upstream.Attempt
		if got := p.Pick(&a, 0); got != look || got != again || got.InFlight() != 1 {
			t.Errorf("picked %s, looks say %s and %s", got.Name, look.Name, again.Name)
		}
		a.Release()
	}
	for _, b := range p.Backends() {
		b.Drain(true)
	}
	if b := p.Look(0); b != nil {
		t.Errorf("of draining backends a look finds %s", b.Name)
	}
}

func TestAPoolIsFullWithAsManyRequestsAsItMayHave(t *testing.T) {
	o := inTurn(t, "a")
	if upstream.NewPool(o, nil).Full() {
		t.Error("a pool without a limit is full")
	}
	o.Concurrency = 2
	p := upstream.NewPool(o, nil)
	for _, full := range []bool{false, false, true, true} {
		if p.Full() != full || p.Enter() == full {
			t.Errorf("Full is %t, want %t", p.Full(), full)
		}
	}
	if p.Leave(); p.Full() {
		t.Error("it is full after a request has left")
	}
}
