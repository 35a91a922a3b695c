package trace

import (
	"math"
	"testing"
)

func TestASamplerChoosesItsShare(t *testing.T) {
	const traces = 20_000
	for _, ratio := range []float64{0, 0.1, 0.5, 1} {
		chosen := 0
		for range traces {
			if NewSampler(ratio).Samples(New()) {
				chosen++
			}
		}
		if share := float64(chosen) / traces; math.Abs(share-ratio) > 0.03 || ratio == 0 && chosen > 0 || ratio == 1 && chosen < traces {
			t.Errorf("of all traces %v are chosen, want %v", share, ratio)
		}
	}
	if (Sampler{}).Samples(New()) {
		t.Error("the zero value chooses a trace")
	}
}

func TestWhoChoosesMoreChoosesTheSameTracesToo(t *testing.T) {
	few, many := NewSampler(0.1), NewSampler(0.3)
	for range 10_000 {
		if c := New(); few.Samples(c) && !many.Samples(c) {
			t.Fatalf("%s is chosen for a tenth only", c.TraceIDString())
		}
	}
}
