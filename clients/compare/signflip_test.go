package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// Darwin's fifteen pairs of Zea mays, in eighths of an inch, as Fisher treats them in
// The Design of Experiments, §21: of the 2^15 patterns 863 have a sum of at least
// 314 in one direction, so that two-sided P is 1726/32768.
func TestSignFlipOfDarwinsMaize(t *testing.T) {
	d := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	got := SignFlip(d, 0.05, 1)
	if got.P != 1726.0/32768 || !near(got.Estimate, 314.0/15, 1e-12) {
		t.Errorf("%+v, want P %v", got, 1726.0/32768)
	}
	if got.Low >= 0 || got.High <= got.Estimate {
		t.Errorf("interval %v to %v of a test that does not reject 0", got.Low, got.High)
	}
}

// Of six pairs the interval at 95% is from the smallest to the largest: 1/64 of the
// probability lies beyond each.
func TestSignFlipOfSix(t *testing.T) {
	d := []float64{3, 1, 2, 6, 5, 4}
	if got := SignFlip(d, 0.05, 1); got.P != 2.0/64 || got.Low != 1 || got.High != 6 {
		t.Errorf("%+v", got)
	}
	if got := SignFlip(d[:5], 0.05, 1); got.P != 2.0/32 || !math.IsInf(got.Low, -1) || !math.IsInf(got.High, 1) {
		t.Errorf("five pairs cannot tell: %+v", got)
	}
	if got := SignFlip([]float64{0, 0, 0, 0, 0, 0}, 0.05, 1); got.P != 1 || got.Estimate != 0 {
		t.Errorf("no difference at all: %+v", got)
	}
	if got := SignFlip(nil, 0.05, 1); got.P != 1 {
		t.Errorf("nothing: %+v", got)
	}
}

// The interval excludes 0 exactly where the test rejects it, holds the estimate, and
// turns with the signs.
func TestSignFlipProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-20, 40).Draw(t, "d")) / 8 }), 6, 12).Draw(rt, "differences")
		got := SignFlip(d, 0.05, 1)
		if excludes := got.Low > 0 || got.High < 0; excludes != (got.P <= 0.05) {
			rt.Errorf("%+v", got)
		}
		if got.Low > got.Estimate+1e-9 || got.High < got.Estimate-1e-9 || got.P <= 0 || got.P > 1 {
			rt.Errorf("%+v", got)
		}
		turned := make([]float64, len(d))
		for i, x := range d {
			turned[i] = -x
		}
		back := SignFlip(turned, 0.05, 1)
		if back.P != got.P || !near(back.Low, -got.High, 1e-9) || !near(back.High, -got.Low, 1e-9) {
			rt.Errorf("%+v, turned %+v", got, back)
		}
	})
}

// Where a sample of the patterns stands for all, it comes near the normal
// approximation, and the same seed gives the same.
func TestSignFlipOfMany(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	d := make([]float64, 40)
	for i := range d {
		d[i] = 0.3 + random.NormFloat64()
	}
	got, again := SignFlip(d, 0.05, 7), SignFlip(d, 0.05, 7)
	if got != again {
		t.Errorf("%+v and %+v under one seed", got, again)
	}
	var sum, squares float64
	for _, x := range d {
		sum += x
		squares += x * x
	}
	if normal := math.Erfc(math.Abs(sum) / math.Sqrt(2*squares)); !near(got.P, normal, 0.01) {
		t.Errorf("P %v, by the normal approximation %v", got.P, normal)
	}
	if (got.Low > 0) != (got.P <= 0.05) || got.Low > got.Estimate || got.High < got.Estimate {
		t.Errorf("%+v", got)
	}
}

// The interval holds the truth as often as it says, whatever the shape of the noise.
func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, noise := range map[string]func() float64{
		"normal":      random.NormFloat64,
		"heavy tails": func() float64 { return random.NormFloat64() / math.Max(0.1, math.Abs(random.NormFloat64())) },
	} {
		for _, n := range []int{6, 9} {
			const times = 2000
			held := 0
			for range times {
				d := make([]float64, n)
				for i := range d {
					d[i] = 0.7 + noise()
				}
				if got := SignFlip(d, 0.05, 1); got.Low <= 0.7 && 0.7 <= got.High {
					held++
				}
			}
			// Three standard errors below 95%.
			if held < int(times*(0.95-3*math.Sqrt(0.05*0.95/times))) {
				t.Errorf("%s, %d pairs: held %d of %d times", name, n, held, times)
			}
		}
	}
}

func BenchmarkSignFlip(b *testing.B) {
	d := make([]float64, 12)
	for i := range d {
		d[i] = float64(i%5) - 1
	}
	b.ReportAllocs()
	for b.Loop() {
		SignFlip(d, 0.05, 1)
	}
}
