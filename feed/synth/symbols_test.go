package synth

import (
	"math"
	"testing"
)

// chiSquare compares counts with chances. It returns how far the sum is from its
// mean, in standard deviations.
func chiSquare(counts []int, chances []float64) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	sum := 0.0
	for i, c := range counts {
		want := chances[i] * float64(n)
		sum += (float64(c) - want) * (float64(c) - want) / want
	}
	freedom := float64(len(counts) - 1)
	return (sum - freedom) / math.Sqrt(2*freedom)
}

func TestPicks(t *testing.T) {
	const symbols, draws = 100, 500_000
	for _, exponent := range []float64{0, 0.3, 0.99, 1, 1.1, 2} {
		chances := make([]float64, symbols)
		total := 0.0
		for i := range chances {
			chances[i] = math.Pow(float64(i+1), -exponent)
			total += chances[i]
		}
		for i := range chances {
			chances[i] /= total
		}
		p, err := newPicker(symbols, exponent, newRandom(4, streamPicks))
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, symbols)
		for range draws {
			counts[p.pick()]++
		}
		if off := chiSquare(counts, chances); math.Abs(off) > 4 {
			t.Errorf("exponent %v: chi-square is off by %.2f standard deviations", exponent, off)
		}
	}
}

func TestPicksAtTheEdges(t *testing.T) {
	for _, exponent := range []float64{60, 1e6, math.MaxFloat64} {
		p, err := newPicker(1000, exponent, newRandom(4, streamPicks))
		if err != nil {
			t.Fatal(err)
		}
		for range 10_000 {
			if i := p.pick(); i != 0 {
				t.Fatalf("exponent %v: symbol %d of a weight below 2^-53", exponent, i)
			}
		}
	}
	for _, n := range []int{1, 2, 3, 7, MaxSymbols} {
		p, err := newPicker(n, 0.5, newRandom(4, streamPicks))
		if err != nil {
			t.Fatal(err)
		}
		if top := p.below[n-1]; top != 1<<drawBits {
			t.Errorf("%d symbols: the table ends at %d, want 2^53", n, top)
		}
	}
}
