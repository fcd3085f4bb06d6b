package synth

import (
	"math"
	"math/big"
	"testing"
)

// dispersion returns the mean and the variance over mean of the counts of a
// schedule in bins of each width, over seconds of time.
func dispersion(s schedule, seconds int64, binsNS ...int64) (perSecond float64, ratios []float64) {
	end := seconds * nsPerSecond
	counts := make([][]int32, len(binsNS))
	for i, bin := range binsNS {
		counts[i] = make([]int32, end/bin)
	}
	n := 0
	for at := s.next(); at < end; at = s.next() {
		for i, bin := range binsNS {
			counts[i][at/bin]++
		}
		n++
	}
	for _, c := range counts {
		mean := float64(n) / float64(len(c))
		squares := 0.0
		for _, k := range c {
			squares += (float64(k) - mean) * (float64(k) - mean)
		}
		ratios = append(ratios, squares/float64(len(c))/mean)
	}
	return float64(n) / float64(seconds), ratios
}

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*want }

func TestSteadyIsExact(t *testing.T) {
	for _, rate := range []int64{1, 3, 7, 200, 999, 20_000, 999_983, 1_000_000} {
		s := newSteady(float64(rate))
		for i := range int64(1_000_000) {
			if at, want := s.next(), i*nsPerSecond/rate; at != want {
				t.Fatalf("%d/s: update %d at %d ns, want %d", rate, i, at, want)
			}
		}
	}
	for _, rate := range []float64{MinRate, 0.1, 1.0 / 3, math.Pi, 333.3, 119.0666, math.Nextafter(MaxRate, 0)} {
		s := newSteady(rate)
		gap := new(big.Rat).SetFloat64(rate)
		gap.Mul(gap.Inv(gap), big.NewRat(nsPerSecond, 1))
		for i := range int64(5000) {
			exact := new(big.Rat).Mul(gap, big.NewRat(i, 1))
			want := new(big.Int).Quo(exact.Num(), exact.Denom())
			if at := s.next(); at != want.Int64() {
				t.Fatalf("%v/s: update %d at %d ns, want %s", rate, i, at, want)
			}
		}
	}
}

func TestPoissonDispersion(t *testing.T) {
	// The ratio's standard error is sqrt((2+1/mean)/bins): 0.0014, 0.0075 and 0.024.
	for seed := range uint64(2) {
		rate, ratios := dispersion(newPoisson(200, newRandom(seed, streamArrivals)), 3600, 1e6, 1e8, 1e9)
		if !near(rate, 200, 0.005) {
			t.Errorf("seed %d: %v/s, want 200", seed, rate)
		}
		for i, within := range []float64{0.006, 0.03, 0.1} {
			if !near(ratios[i], 1, within) {
				t.Errorf("seed %d: variance over mean of bin %d is %v, want 1", seed, i, ratios[i])
			}
		}
	}
}

func TestRateScalesTime(t *testing.T) {
	for a := Steady; a <= Bursty; a++ {
		slow, err := newSchedule(a, 119, newRandom(9, streamArrivals))
		if err != nil {
			t.Fatal(err)
		}
		fast, err := newSchedule(a, 238, newRandom(9, streamArrivals))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200_000 {
			if s, f := slow.next(), fast.next(); f < (s-1)/2 || f > (s+2)/2 {
				t.Fatalf("%s: update %d at %d ns, at twice the rate at %d ns", a, i, s, f)
			}
		}
	}
}

// TestClockStaysFine adds what float64 seconds or nanoseconds would lose after a year.
func TestClockStaysFine(t *testing.T) {
	const year = 365 * 24 * 3600 * nsPerSecond
	c := clock{unitNS: 1, at: year}
	for range 1_000_000 {
		c.advance(0.25)
	}
	if c.at != year+250_000 || c.part != 0 {
		t.Errorf("a year and %d ns, and %v ns; want 250000 ns", c.at-year, c.part)
	}
}

func TestParseArrivals(t *testing.T) {
	for a := Steady; a <= Bursty; a++ {
		if got, err := ParseArrivals(a.String()); err != nil || got != a {
			t.Errorf("%s: %v, %v", a, got, err)
		}
	}
	for _, text := range []string{"", "Steady", "hawkes", "Arrivals(3)"} {
		if _, err := ParseArrivals(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if s := Arrivals(3).String(); s != "Arrivals(3)" {
		t.Errorf("unknown arrivals are %q", s)
	}
}
