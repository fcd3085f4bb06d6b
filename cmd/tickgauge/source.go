package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/feed/replay"
	"github.com/tickgauge/tickgauge/feed/synth"
)

// synthSource is the name of the source that is no capture.
const synthSource = "synth"

// sourceFlags say what an exchange publishes.
type sourceFlags struct {
	Source   string   `default:"synth" placeholder:"synth|FILE" help:"What to publish: synth, or a recorded capture (binance, coinbase or kraken; plain or gzip)."`
	Symbols  string   `placeholder:"N|A,B,C" help:"Synthetic symbols: how many, or their names; 100 unless given."`
	Symbol   []string `sep:"none" placeholder:"NAME" help:"A synthetic symbol's name, any text; may be repeated. Takes the place of --symbols."`
	Rate     *float64 `placeholder:"TICKS/S" help:"Mean ticks per second over all symbols; synth takes 200, a capture its own."`
	Arrivals string   `default:"" placeholder:"NAME" enum:",steady,poisson,bursty" help:"How synthetic ticks are spaced: steady (unless given), poisson, or bursty as a real spot feed is."`
	Zipf     *float64 `placeholder:"EXPONENT" help:"Skew of synthetic ticks over symbols; 0 is uniform."`
	Seed     *uint64  `placeholder:"N" help:"Seed of the synthetic source: same seed, same ticks; 1 unless given."`
	Format   string   `enum:",binance,coinbase,kraken" default:"" placeholder:"NAME" help:"Format of the capture, binance, coinbase or kraken; found from its content unless named."`
	Speed    *float64 `placeholder:"X" help:"Replay X times as fast as recorded."`
	Loop     bool     `help:"Start the capture again at its end."`
	SkipBad  bool     `help:"Count lines of the capture that cannot be read, instead of stopping."`
	TickSize string   `placeholder:"PRICE" help:"Price grid of every symbol of the capture; found per symbol unless given."`
}

// open returns the source, and a function that lets go of it.
func (f *sourceFlags) open(log *slog.Logger) (feed.Source, func(), error) {
	if f.Source == synthSource {
		s, err := f.openSynth()
		return s, func() {}, err
	}
	if err := f.misplaced("is for the synthetic source; leave it out with a capture", map[string]bool{
		"--symbols": f.Symbols != "", "--symbol": f.Symbol != nil, "--arrivals": f.Arrivals != "", "--zipf": f.Zipf != nil, "--seed": f.Seed != nil,
	}); err != nil {
		return nil, nil, err
	}
	if f.Rate != nil && f.Speed != nil {
		return nil, nil, usageError{errors.New("--rate and --speed: a rate sets the speed, so give one of them")}
	}
	opts := replay.Options{Format: f.Format, Loop: f.Loop, SkipBad: f.SkipBad}
	for flag, v := range map[string]struct{ given, option *float64 }{"--rate": {f.Rate, &opts.Rate}, "--speed": {f.Speed, &opts.Speed}} {
		if v.given == nil {
			continue
		}
		if !(*v.given > 0) { // NaN too
			return nil, nil, usageError{fmt.Errorf("%s %v: want a positive number", flag, *v.given)}
		}
		*v.option = *v.given
	}
	if f.TickSize != "" {
		p, err := feed.ParsePrice(f.TickSize)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--tick-size: %w", err)}
		}
		opts.TickSize = p
	}
	r, err := replay.Open(f.Source, opts)
	if err != nil {
		return nil, nil, err
	}
	log.Info("capture", "file", f.Source, "format", r.Format(), "ticks", r.Ticks(), "symbols", len(r.Symbols()), "duration", r.Duration(), "lines", fmt.Sprint(r.Counts()))
	return r, func() { _ = r.Close() }, nil
}

// misplaced returns an error that names a flag which was given in vain.
func (f *sourceFlags) misplaced(why string, given map[string]bool) error {
	for _, flag := range slices.Sorted(maps.Keys(given)) {
		if given[flag] {
			return usageError{fmt.Errorf("%s %s", flag, why)}
		}
	}
	return nil
}

func (f *sourceFlags) openSynth() (feed.Source, error) {
	if err := f.misplaced("is for captures; name one with --source FILE", map[string]bool{
		"--format": f.Format != "", "--speed": f.Speed != nil, "--loop": f.Loop, "--skip-bad": f.SkipBad, "--tick-size": f.TickSize != "",
	}); err != nil {
		return nil, err
	}
	arrivals := synth.Steady
	if f.Arrivals != "" {
		var err error
		if arrivals, err = synth.ParseArrivals(f.Arrivals); err != nil {
			return nil, usageError{err}
		}
	}
	opts := synth.Options{Arrivals: arrivals, Seed: f.seed(), Names: f.Symbol}
	if f.Zipf != nil {
		opts.Zipf = *f.Zipf
	}
	if f.Rate != nil {
		if *f.Rate == 0 { // the zero of the options means their default
			return nil, usageError{errors.New("--rate 0: want a positive number; --hold publishes nothing until told")}
		}
		opts.Rate = *f.Rate
	}
	if f.Symbol == nil && f.Symbols != "" {
		n, err := strconv.Atoi(f.Symbols)
		switch {
		case err != nil:
			opts.Names = strings.Split(f.Symbols, ",")
		case n <= 0:
			return nil, usageError{fmt.Errorf("--symbols %d: want 1 or more", n)}
		default:
			opts.Symbols = n
		}
	}
	s, err := synth.New(opts)
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

const defaultSeed = 1

func (f *sourceFlags) seed() uint64 {
	if f.Seed == nil {
		return defaultSeed
	}
	return *f.Seed
}

// schedule says what is published, for the ledger.
func (f *sourceFlags) schedule() measure.Schedule {
	s := measure.Schedule{Source: filepath.Base(f.Source), Arrivals: "capture"}
	if f.Source == synthSource {
		s = measure.Schedule{Source: f.Source, Arrivals: cmp.Or(f.Arrivals, synth.Steady.String()), Seed: f.seed(), Rate: synth.DefaultRate}
		if f.Zipf != nil {
			s.Zipf = *f.Zipf
		}
	}
	if f.Rate != nil {
		s.Rate = *f.Rate
	}
	return s
}

// The largest numbers that flags may have: beyond them lies a slip of the hand,
// which would take all memory.
const (
	mostStreams = 1_000_000
	mostPlaces  = 1 << 20            // of queues and rings
	longestTime = 7 * 24 * time.Hour // of windows and timeouts
)

// bounded is a flag's number and the most that it may be.
type bounded struct {
	value, most float64
	unit        string
}

func seconds(d time.Duration) bounded { return bounded{d.Seconds(), longestTime.Seconds(), " s"} }

// positive returns an error that names the first flag, by name, which is not above
// 0 and within its bound.
func positive(flags map[string]bounded) error {
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		if b := flags[flag]; !(b.value > 0 && b.value <= b.most) {
			return fmt.Errorf("%s %v%s: want more than 0 and at most %v%s", flag, b.value, b.unit, b.most, b.unit)
		}
	}
	return nil
}

// quiet is a log that keeps nothing.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
