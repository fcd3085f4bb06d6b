package synth

import (
	"math"
	"testing"
)

func TestLogAndExp(t *testing.T) {
	r := newRandom(1, 1)
	for range 200_000 {
		u := float64(r.bits53()+1) / (1 << drawBits)
		for _, x := range []float64{u, u * u * u, 1 - u/1e6, 1e5 * u, math.Ldexp(u, -50)} {
			if x <= 0 {
				continue
			}
			if got, want := log(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Max(math.Abs(want), 0.5) {
				t.Fatalf("log(%v) = %v, want %v", x, got, want)
			}
		}
		for _, x := range []float64{-u, -40 * u, -690 * u, -u / 1e9} {
			if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 1e-15*want {
				t.Fatalf("exp(%v) = %v, want %v", x, got, want)
			}
		}
	}
	if log(1) != 0 || exp(0) != 1 || exp(-701) != 0 || exp(math.Inf(-1)) != 0 {
		t.Errorf("edges: %v %v %v %v", log(1), exp(0), exp(-701), exp(math.Inf(-1)))
	}
}

// TestLogAndExpBits pins every bit: schedules round to nanoseconds, and would show
// a difference between platforms after some hundred million updates only.
func TestLogAndExpBits(t *testing.T) {
	r := newRandom(1, 1)
	sum := uint64(0)
	for range 100_000 {
		u := float64(r.bits53()+1) / (1 << drawBits)
		sum = mix(sum ^ math.Float64bits(log(u)))
		sum = mix(sum ^ math.Float64bits(exp(float64(-50*u))))
	}
	if want := uint64(0x41f44bc811b953eb); sum != want {
		t.Errorf("bits hash to %#x, want %#x", sum, want)
	}
}

func TestExponential(t *testing.T) {
	r := newRandom(2, streamArrivals)
	const n = 1_000_000
	bins := make([]int, 50) // of equal chance
	chances := make([]float64, len(bins))
	for i := range chances {
		chances[i] = 1 / float64(len(bins))
	}
	sum := 0.0
	for range n {
		e := r.exponential()
		if e < 0 || math.IsInf(e, 0) {
			t.Fatalf("an exponential of %v", e)
		}
		sum += e
		bins[min(int(math.Exp(-e)*float64(len(bins))), len(bins)-1)]++
	}
	if !near(sum/n, 1, 0.005) {
		t.Errorf("mean %v, want 1", sum/n)
	}
	if off := chiSquare(bins, chances); math.Abs(off) > 4 {
		t.Errorf("chi-square is off by %.2f standard deviations", off)
	}
}

func TestBelow(t *testing.T) {
	r := newRandom(3, streamWalks)
	counts := make([]int, 7)
	chances := make([]float64, 7)
	for i := range chances {
		chances[i] = 1.0 / 7
	}
	for range 700_000 {
		counts[r.below(7)]++
	}
	if off := chiSquare(counts, chances); math.Abs(off) > 4 {
		t.Errorf("chi-square is off by %.2f standard deviations", off)
	}
	if r.below(1) != 0 {
		t.Error("a number below 1 is not 0")
	}
}

// TestStreams checks that neighbouring seeds and streams start apart.
func TestStreams(t *testing.T) {
	seen := map[uint64]bool{}
	n := 0
	for _, seed := range []uint64{0, 1, 2, 1 << 32, math.MaxUint64} {
		for stream := range uint64(2000) {
			r := newRandom(seed, stream)
			seen[r.pcg.Uint64()] = true
			n++
		}
	}
	if len(seen) != n {
		t.Errorf("%d of %d streams start with a draw of their own", len(seen), n)
	}
}
