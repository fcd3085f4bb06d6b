package synth

// The fit of bursty arrivals to a real spot feed (one pair, 346 s), which had
// 119 updates/s and a variance over mean of its counts of 7.9 in bins of 1 ms, 64
// of 100 ms and 158 of 1 s. Rates are per second. An update triggers fastBranching
// further ones on average within some 1/fastDecay seconds, and slowBranching
// within some 1/slowDecay.
const (
	baseRate      = 8.93
	fastBranching = 0.655
	fastDecay     = 18_321.0
	slowBranching = 0.270
	slowDecay     = 39.6

	// Each update of the base has 1/(1-branching) updates in its cluster, itself
	// included; so this is the mean rate of the fit.
	fittedRate = baseRate / (1 - fastBranching - slowBranching)

	// warmUp is run through before the schedule starts, so that it starts among
	// bursts as it goes on. The memory of the process fades with
	// slowDecay * (1 - slowBranching/(1-fastBranching)), which is 8.6/s.
	warmUp = 10.0
)

// hawkes is a self-exciting point process (Hawkes: Spectra of some self-exciting
// and mutually exciting point processes, 1971) whose kernel is the sum of two
// exponentials. Another rate than the fitted one scales time, and leaves the
// pattern as it is.
//
// It is simulated exactly and without thinning, after Dassios and Zhao (Exact
// simulation of Hawkes process with exponentially decaying intensity, 2013): the
// intensity is that of three independent Poisson processes (the base, and what
// each kernel has left of the past), for each of which the time of its first
// point has a closed form. The earliest is the next update.
type hawkes struct {
	rng   random
	clock clock
	// What the past is still expected to trigger by each kernel: its part of the
	// intensity, divided by its decay.
	fast, slow float64
}

func newHawkes(rate float64, rng random) *hawkes {
	h := &hawkes{rng: rng, clock: clock{unitNS: nsPerSecond * (fittedRate / rate)}}
	at := 0.0
	for at < warmUp {
		at += h.gap()
	}
	h.clock.advance(at - warmUp)
	return h
}

func (h *hawkes) next() int64 {
	at := h.clock.at
	h.clock.advance(h.gap())
	return at
}

// gap returns the time to the next update, in seconds of the fit, and moves the
// state to that update.
func (h *hawkes) gap() float64 {
	gap := h.rng.exponential() / baseRate
	if t, ok := h.first(h.fast, fastDecay); ok {
		gap = min(gap, t)
	}
	if t, ok := h.first(h.slow, slowDecay); ok {
		gap = min(gap, t)
	}
	h.fast = float64(h.fast*exp(float64(-fastDecay*gap))) + fastBranching
	h.slow = float64(h.slow*exp(float64(-slowDecay*gap))) + slowBranching
	return gap
}

// first draws the time of the first point of a Poisson process that expects left
// points in all and whose intensity decays: t solves left*(1-exp(-decay*t)) = e
// for an exponential e. There is no such point where e is left or more.
func (h *hawkes) first(left, decay float64) (t float64, ok bool) {
	e := h.rng.exponential()
	if e >= left {
		return 0, false
	}
	return -log(1-e/left) / decay, true
}
