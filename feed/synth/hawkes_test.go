package synth

import "testing"

// TestBurstyFollowsTheFit compares one simulated hour with the feed that was
// fitted. Seeds 0 to 99 gave (mean over seeds, standard deviation, range):
//
//	updates/s            119.1   2.4   111.6 to 126.2
//	1 ms bins              7.92  0.09    7.71 to 8.12
//	100 ms bins           64.1   2.5    58.3 to 70.7
//	1 s bins             157.8   9.1   135.4 to 180.7
//
// so no seed of them misses 15%; the five here are the first five, and their
// averages are held to about three of their standard errors.
func TestBurstyFollowsTheFit(t *testing.T) {
	const seeds = 5
	want := []float64{119, 7.9, 64, 158}
	sums := make([]float64, len(want))
	for seed := range uint64(seeds) {
		rate, ratios := dispersion(newHawkes(119, newRandom(seed, streamArrivals)), 3600, 1e6, 1e8, 1e9)
		for i, got := range append([]float64{rate}, ratios...) {
			sums[i] += got
			if !near(got, want[i], 0.15) {
				t.Errorf("seed %d: measure %d is %.4g, want %v within 15%%", seed, i, got, want[i])
			}
		}
		if !near(rate, want[0], 0.06) {
			t.Errorf("seed %d: %.4g updates/s, want 119 within 6%%", seed, rate)
		}
	}
	for i, within := range []float64{0.03, 0.02, 0.06, 0.08} {
		if got := sums[i] / seeds; !near(got, want[i], within) {
			t.Errorf("measure %d is %.4g over %d seeds, want %v within %v", i, got, seeds, want[i], within)
		}
	}
}

// TestBurstyStartsStationary counts the first 100 ms of many schedules. A process
// without a past would have 5.7 updates there; the mean of 400 has a standard
// error of 1.4.
func TestBurstyStartsStationary(t *testing.T) {
	const seeds = 400
	n := 0
	for seed := range uint64(seeds) {
		h := newHawkes(119, newRandom(seed, streamArrivals))
		for h.next() < nsPerSecond/10 {
			n++
		}
	}
	if got := float64(n) / seeds; got < 8.8 || got > 15 {
		t.Errorf("%.3g updates in the first 100 ms, want 11.9", got)
	}
}
