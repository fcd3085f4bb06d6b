package synth

import (
	"fmt"
	"math/big"
)

// Arrivals says how the updates of a source are spread over time.
type Arrivals uint8

// The arrivals. All have the same mean rate.
const (
	// Steady spaces updates evenly.
	Steady Arrivals = iota
	// Poisson draws independent, exponential gaps.
	Poisson
	// Bursty lets updates trigger further ones, as fitted to a real spot feed.
	Bursty
)

// String returns the name that ParseArrivals reads.
func (a Arrivals) String() string {
	switch a {
	case Steady:
		return "steady"
	case Poisson:
		return "poisson"
	case Bursty:
		return "bursty"
	}
	return fmt.Sprintf("Arrivals(%d)", uint8(a))
}

// ParseArrivals reads "steady", "poisson" or "bursty"; anything else is an error.
func ParseArrivals(text string) (Arrivals, error) {
	for a := Steady; a <= Bursty; a++ {
		if text == a.String() {
			return a, nil
		}
	}
	return 0, fmt.Errorf("arrivals %q: want steady, poisson or bursty", text)
}

const nsPerSecond = 1_000_000_000

// schedule yields the times of updates, in nanoseconds since its start, never
// decreasing. A negative time says that int64 holds no more of them.
type schedule interface {
	next() int64
}

func newSchedule(a Arrivals, rate float64, rng random) (schedule, error) {
	switch a {
	case Steady:
		return newSteady(rate), nil
	case Poisson:
		return newPoisson(rate, rng), nil
	case Bursty:
		return newHawkes(rate, rng), nil
	}
	return nil, fmt.Errorf("arrivals %d: want Steady, Poisson or Bursty", uint8(a))
}

// steady puts update i, from 0, at exactly i/rate, rounded down to a nanosecond.
// The gap is kept as a fraction, whole + num/den nanoseconds, and what rounding
// left behind is carried along, so no error adds up.
type steady struct {
	whole, num, den int64
	at, carry       int64 // carry is in units of 1/den
}

// newSteady wants a rate between MinRate and MaxRate: then den, which divides
// the rate's 53-bit mantissa or is at most the rate, and the gap both fit.
func newSteady(rate float64) *steady {
	gap := new(big.Rat).SetFloat64(rate)
	gap.Mul(gap.Inv(gap), big.NewRat(nsPerSecond, 1))
	whole, num := new(big.Int).QuoRem(gap.Num(), gap.Denom(), new(big.Int))
	return &steady{whole: whole.Int64(), num: num.Int64(), den: gap.Denom().Int64()}
}

func (s *steady) next() int64 {
	at := s.at
	s.at += s.whole
	s.carry += s.num
	if s.carry >= s.den {
		s.carry -= s.den
		s.at++
	}
	return at
}

// poisson is a Poisson process.
type poisson struct {
	rng   random
	clock clock
}

func newPoisson(rate float64, rng random) *poisson {
	p := &poisson{rng: rng, clock: clock{unitNS: nsPerSecond / rate}}
	p.clock.advance(p.rng.exponential())
	return p
}

func (p *poisson) next() int64 {
	at := p.clock.at
	p.clock.advance(p.rng.exponential())
	return at
}

// clock adds up gaps. It keeps whole nanoseconds apart from their fraction, so
// that it is as fine after a year as at the start.
type clock struct {
	unitNS float64 // nanoseconds in the unit of the gaps
	at     int64
	part   float64 // of a nanosecond
}

// advance moves the clock by a gap; past the end of int64 at turns negative.
func (c *clock) advance(gap float64) {
	c.part += float64(gap * c.unitNS)
	whole := int64(c.part)
	c.part -= float64(whole)
	c.at += whole
}
