package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/streams"
	"github.com/tickgauge/tickgauge/streams/fault"
)

// faultFlags say what an exchange does wrong on purpose.
type faultFlags struct {
	Inject     []string `sep:"none" placeholder:"FAULT" help:"Do this wrong on every stream, and count it in the ledger: ${faults} (a stall of 1 s, once, 10 s after the source has started). May be repeated."`
	InjectSeed *uint64  `placeholder:"N" help:"Seed of the choice of ticks; that of the source unless given."`
}

func (f *faultFlags) checkFaults() error {
	if len(f.Inject) == 0 && f.InjectSeed != nil {
		return errors.New("--inject-seed chooses nothing without --inject")
	}
	_, err := f.parse()
	return err
}

func (f *faultFlags) parse() (fault.Options, error) {
	opts, err := fault.Parse(f.Inject)
	if err != nil {
		return opts, fmt.Errorf("--inject: %w", err)
	}
	return opts, nil
}

// openFaults returns nil where nothing is injected.
func (f *faultFlags) openFaults(seed uint64) (*faults, error) {
	if len(f.Inject) == 0 {
		return nil, nil
	}
	opts, err := f.parse()
	if err != nil {
		return nil, err
	}
	opts.Seed = seed
	if f.InjectSeed != nil {
		opts.Seed = *f.InjectSeed
	}
	injector, err := fault.New(opts)
	if err != nil {
		return nil, err
	}
	return &faults{injector, f.Inject, opts.Seed}, nil
}

// faults are those of an exchange; nil does nothing wrong.
type faults struct {
	injector *fault.Injector
	given    []string
	seed     uint64
}

func (f *faults) queue() func(*feed.Subscription, <-chan struct{}) streams.Queue {
	if f == nil {
		return nil
	}
	return f.injector.Queue
}

func (f *faults) run(ctx context.Context) error {
	if f == nil {
		return nil
	}
	return f.injector.Run(ctx)
}

func (f *faults) start(startNS int64) {
	if f != nil {
		f.injector.Start(startNS)
	}
}

func (f *faults) cpu() int64 {
	if f == nil {
		return 0
	}
	return f.injector.PacerCPU()
}

// injected is the ledger's account of them.
func (f *faults) injected(fromNS, toNS int64) (*measure.Injected, []measure.InjectedSymbol, error) {
	if f == nil {
		return nil, nil, nil
	}
	w, err := f.injector.Window(fromNS, toNS)
	if err != nil {
		return nil, nil, err
	}
	in := &measure.Injected{
		Faults: f.given, Seed: f.seed, Lost: w.Lost, Duplicated: w.Duplicated, Reordered: w.Reordered, Delayed: w.Delayed,
		Stalls: []measure.Stall{},
	}
	h := measure.NewHistogram()
	for _, ns := range w.DelaysNS {
		h.Record(ns)
	}
	in.Delay = h.Quantiles()
	for _, s := range w.Stalls {
		in.Stalls = append(in.Stalls, measure.Stall(s))
	}
	var symbols []measure.InjectedSymbol
	for _, name := range slices.Sorted(maps.Keys(w.Symbols)) {
		c := w.Symbols[name]
		symbols = append(symbols, measure.InjectedSymbol{Symbol: name, Lost: c.Lost, Duplicated: c.Duplicated, Reordered: c.Reordered, Delayed: c.Delayed})
	}
	return in, symbols, nil
}
