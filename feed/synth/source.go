// Package synth is a seeded, synthetic source of market data: arrivals, symbol
// skew and a price walk per symbol. Equal options give equal updates on every
// platform.
package synth

import (
	"fmt"
	"io"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
)

// What Options take where they are 0.
const (
	DefaultSymbols = 100
	DefaultRate    = 200.0 // updates/s over all symbols
)

// The bounds of Options. Past MaxRate the gaps inside bursts fall below the
// nanosecond of the clock; at MinRate a gap is 12 days.
const (
	MaxSymbols = 100_000
	MinRate    = 1e-6 // updates/s
	MaxRate    = 1e6  // updates/s
)

// Options are the choices of New; the zero value works.
type Options struct {
	Symbols  int      // how many, named SYM001 and so on; 0 takes DefaultSymbols, or as many as Names
	Names    []string // the symbols' own names, any distinct UTF-8 text; nil numbers them
	Rate     float64  // mean updates/s over all symbols, MinRate to MaxRate; 0 takes DefaultRate
	Arrivals Arrivals // how updates are spread over time
	Zipf     float64  // symbol i, from 1, is drawn with a weight of i^-Zipf; 0 is uniform
	Seed     uint64   // any, 0 too
	Limit    int64    // updates until io.EOF; 0 has no limit
}

// Source is a synthetic feed.Source. The updates of each symbol, and the order of
// symbols, depend on neither Arrivals nor Rate: those set the times alone. It is
// for one goroutine.
type Source struct {
	symbols []feed.Symbol
	opening []feed.Update
	times   schedule
	picks   *picker
	walks   []walk
	left    int64 // updates until io.EOF; negative for no limit
}

var _ feed.Source = (*Source)(nil)

// New returns a source at the start of its schedule. An option out of its bounds
// is an error that names it and what it may be.
func New(opts Options) (*Source, error) {
	s, err := newSource(opts)
	if err != nil {
		return nil, fmt.Errorf("new synthetic source: %w", err)
	}
	return s, nil
}

func newSource(opts Options) (*Source, error) {
	if opts.Rate == 0 {
		opts.Rate = DefaultRate
	}
	if !(opts.Rate >= MinRate && opts.Rate <= MaxRate) {
		return nil, fmt.Errorf("rate: %v ticks/s; want %v to %v", opts.Rate, MinRate, MaxRate)
	}
	if opts.Limit < 0 {
		return nil, fmt.Errorf("limit: %d ticks; want 1 or more, or 0 for no limit", opts.Limit)
	}
	list, err := names(opts)
	if err != nil {
		return nil, err
	}
	s := &Source{
		symbols: make([]feed.Symbol, len(list)),
		opening: make([]feed.Update, len(list)),
		walks:   make([]walk, len(list)),
		left:    opts.Limit,
	}
	if opts.Limit == 0 {
		s.left = -1
	}
	if s.times, err = newSchedule(opts.Arrivals, opts.Rate, newRandom(opts.Seed, streamArrivals)); err != nil {
		return nil, err
	}
	if s.picks, err = newPicker(len(list), opts.Zipf, newRandom(opts.Seed, streamPicks)); err != nil {
		return nil, err
	}
	for i, name := range list {
		s.walks[i] = newWalk(newRandom(opts.Seed, streamWalks+uint64(i)))
		s.symbols[i] = feed.Symbol{Name: name, TickSize: s.walks[i].kind.grid}
		s.opening[i] = feed.Update{Symbol: i, Origin: feed.OriginSchedule}
		s.walks[i].opening(&s.opening[i])
	}
	return s, nil
}

// Symbols returns the symbols in the order that Update.Symbol counts.
func (s *Source) Symbols() []feed.Symbol { return slices.Clone(s.symbols) }

// Opening returns one update per symbol, in their order: a quote of both sides
// and a last price, but no trade. It is the same before and after Next.
func (s *Source) Opening() []feed.Update { return slices.Clone(s.opening) }

// Next overwrites u with the next update. It returns io.EOF, and leaves u alone,
// after Options.Limit updates or when the schedule reaches the 292 years that
// int64 nanoseconds hold. It does not allocate.
func (s *Source) Next(u *feed.Update) error {
	if s.left == 0 {
		return io.EOF
	}
	at := s.times.next()
	if at < 0 {
		s.left = 0
		return io.EOF
	}
	if s.left > 0 {
		s.left--
	}
	i := s.picks.pick()
	*u = feed.Update{Symbol: i, AtNS: at, Origin: feed.OriginSchedule}
	s.walks[i].step(u)
	return nil
}
