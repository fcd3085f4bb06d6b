// Package replay gives recorded captures of market data as a feed.Source. It
// reads the formats of a few venues, plain or gzip, one file a format.
package replay

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// Options are the choices of Open; the zero value works.
type Options struct {
	Format   string     // one of Formats; empty finds it from the content
	Speed    float64    // how many times faster than recorded; 0 takes 1
	Rate     float64    // mean ticks/s over all symbols, which sets the speed; 0 leaves it to Speed
	Loop     bool       // start again after the last tick, for ever
	SkipBad  bool       // pass over lines that cannot be read, and count them as "bad"
	TickSize feed.Price // grid of every symbol; 0 finds each symbol's from its prices
}

// Source replays a capture. It is a feed.Source for one goroutine, and holds
// the file open until Close.
//
// A symbol is listed once it has a tick, in the order of the first ticks, under
// the venue's name. Its grid is the power of ten, 1 at most, that shows all
// decimals, without trailing zeros, of the prices of the symbol that were read:
// levels of the book and trades.
//
// A line that a venue's book refuses, such as one that would leave it crossed,
// counts as one that cannot be read.
type Source struct {
	pass    *pass
	format  string
	counts  map[string]int64
	symbols []feed.Symbol
	ticks   int64
	speed   float64
	spanNS  int64 // from the first tick to the last, as recorded
	lapNS   int64 // from the start of one replay to the next, as replayed
	loop    bool

	startNS int64 // when this replay of the capture starts in the schedule
	err     error // what every Next returns from now on
}

// Open opens the capture at path and reads all of it once, so that every error
// of its content shows here, with file and line; it then holds no more of it in
// memory than books and a line. A capture without a tick is an error.
func Open(path string, opts Options) (*Source, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	s, err := open(in, opts)
	if err != nil {
		_ = in.close() // opened for reading: nothing to lose
		return nil, err
	}
	return s, nil
}

func (o *Options) validate() error {
	switch {
	case o.Format != "" && !slices.Contains(Formats(), o.Format):
		_, err := newDecoder(o.Format, nil)
		return err
	case !(o.Speed >= 0) || math.IsInf(o.Speed, 0):
		return fmt.Errorf("replay: speed %v; want a number above 0, 1 being as recorded", o.Speed)
	case !(o.Rate >= 0) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("replay: rate %v; want ticks/s above 0", o.Rate)
	case o.Speed != 0 && o.Rate != 0:
		return errors.New("replay: speed and rate both set; a rate sets the speed, so give one of them")
	case o.TickSize < 0:
		return fmt.Errorf("replay: tick size %s; want one above 0, or 0 to have it found", o.TickSize)
	}
	return nil
}

func open(in *input, opts Options) (*Source, error) {
	format := opts.Format
	if format == "" {
		var err error
		if format, err = findFormat(in); err != nil {
			return nil, err
		}
	}
	m := &market{tickSize: opts.TickSize, byName: make(map[string]*instrument)}
	d, err := newDecoder(format, m)
	if err != nil {
		return nil, err
	}
	p := &pass{in: in, decoder: d, market: m, skipBad: opts.SkipBad, counts: make(map[string]int64)}
	if err := p.restart(); err != nil {
		return nil, err
	}
	if err := p.scan(); err != nil {
		return nil, err
	}
	if p.ticks == 0 {
		return nil, fmt.Errorf("replay %s: no tick in %d lines read as %s; counted were %v", in.path, in.line, format, p.counts)
	}
	s := &Source{
		pass: p, format: format, counts: p.counts, symbols: m.symbols(),
		ticks: p.ticks, spanNS: p.lastNS - p.firstNS, loop: opts.Loop,
	}
	if err := s.setSpeed(opts); err != nil {
		return nil, fmt.Errorf("replay %s: %w", in.path, err)
	}
	p.counts, m.sealed = nil, true
	return s, p.restart()
}

// longestReplay keeps the times of a schedule within int64.
const longestReplay = math.MaxInt64 / 4

func (s *Source) setSpeed(opts Options) error {
	s.speed = 1
	if opts.Speed != 0 {
		s.speed = opts.Speed
	}
	if s.spanNS == 0 {
		if opts.Rate != 0 || opts.Loop {
			return fmt.Errorf("its %d ticks were all received at once, so they have no rate and cannot loop", s.ticks)
		}
		return nil
	}
	gaps := float64(s.ticks - 1)
	if opts.Rate != 0 {
		s.speed = opts.Rate * (float64(s.spanNS) / 1e9) / gaps
	}
	lap := (float64(s.spanNS) + float64(s.spanNS)/gaps) / s.speed
	if !(lap < longestReplay) {
		return fmt.Errorf("a replay at speed %v takes over 70 years; want a larger speed or rate", s.speed)
	}
	if opts.Loop && lap < 1e3 {
		return fmt.Errorf("a loop at speed %v takes less than a microsecond; want a smaller speed or rate", s.speed)
	}
	s.lapNS = max(int64(lap), s.scaled(s.spanNS))
	return nil
}

// scaled gives a recorded time span as it is replayed.
func (s *Source) scaled(ns int64) int64 {
	if s.speed == 1 {
		return ns
	}
	return int64(float64(ns) / s.speed)
}

// Close closes the file; Next then returns an error.
func (s *Source) Close() error {
	s.err = errors.New("replay: the source is closed")
	return s.pass.in.close()
}

// Symbols returns the symbols that have ticks.
func (s *Source) Symbols() []feed.Symbol { return slices.Clone(s.symbols) }

// Opening returns nil: a capture starts with its first tick.
func (s *Source) Opening() []feed.Update { return nil }

// Next fills u with the next tick. The first is at 0 ns; none is earlier than
// the one before, even where the recording clock went back. ExchangeTSNS is the
// receive time as recorded. It returns io.EOF after the last tick, and with Loop
// goes on with the first, one mean gap later. Other errors mean that the file
// has changed or cannot be read any more.
func (s *Source) Next(u *feed.Update) error {
	if s.err != nil {
		return s.err
	}
	var e event
	err := s.pass.next(&e)
	if errors.Is(err, io.EOF) {
		err = s.lap(&e)
	}
	if err != nil {
		s.err = err
		return err
	}
	*u = e.update
	u.AtNS = s.startNS + s.scaled(s.pass.lastNS-s.pass.firstNS)
	return nil
}

// lap starts the capture again at its end, where that is wanted.
func (s *Source) lap(e *event) error {
	changed := fmt.Errorf("replay %s: %w", s.pass.in.path, errChanged)
	switch {
	case s.pass.ticks != s.ticks:
		return changed
	case !s.loop:
		return io.EOF
	}
	s.startNS += s.lapNS
	if err := s.pass.restart(); err != nil {
		return err
	}
	err := s.pass.next(e)
	if errors.Is(err, io.EOF) {
		return changed
	}
	return err
}

// Format returns the format of the capture.
func (s *Source) Format() string { return s.format }

// Ticks returns how many ticks one replay has.
func (s *Source) Ticks() int64 { return s.ticks }

// Duration returns the time from the first tick to the last, as replayed.
func (s *Source) Duration() time.Duration { return time.Duration(s.scaled(s.spanNS)) }

// Speed returns how many times faster than recorded the replay is.
func (s *Source) Speed() float64 { return s.speed }

// Counts returns how many lines the capture has of each kind, ticks or not: the
// venue's messages under the venue's names (those of many kinds past 64 as
// "other"), "blank", "bad", and for cryptofeed "connection" and "sent". Beside
// them "clock_backwards" counts ticks received before one ahead of them, and
// "level_out_of_range" asks too high for feed.Price, which the books leave out.
func (s *Source) Counts() map[string]int64 { return maps.Clone(s.counts) }
