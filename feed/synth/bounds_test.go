package synth

import "testing"

// TestWalkReflects takes a walk with narrow bounds, which it meets often, in
// place of the billions of updates that the real ones would need.
func TestWalkReflects(t *testing.T) {
	w := newWalk(newRandom(1, streamWalks))
	w.low, w.high = w.bid-3, w.bid+4
	visits := map[int64]int{}
	for range 1_000_000 {
		w.move()
		if w.bid < w.low || w.bid > w.high {
			t.Fatalf("bid at %d, outside %d to %d", w.bid, w.low, w.high)
		}
		visits[w.bid]++
	}
	for at := w.low; at <= w.high; at++ {
		if visits[at] < 50_000 {
			t.Errorf("%d of a million visits to %d: want 8 places visited about evenly", visits[at], at)
		}
	}
}

// TestKindsFit checks that no price or size of any instrument can overflow or
// reach zero.
func TestKindsFit(t *testing.T) {
	for _, k := range kinds() {
		if k.from/2 < 100 || k.from >= k.to || k.grid <= 0 || k.lot <= 0 || k.maxSpread < 1 {
			t.Errorf("%+v: out of proportion", k)
		}
		if highest := float64(k.grid) * float64(2*k.to+k.maxSpread+3); highest > 1e18 {
			t.Errorf("%+v: prices to %v", k, highest)
		}
	}
}
