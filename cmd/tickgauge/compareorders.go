package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
)

// reservedSymbol is what a comparison's orders trade.
const reservedSymbol = "ORDERS"

// orderWarmup is short: what is to warm up are connections and caches.
const orderWarmup = 500 * time.Millisecond

// orders runs the phases of orders that are not there yet: alone in a closed loop
// and at a rate, and at that rate beside streams.
func (m *comparison) orders(ctx context.Context, interrupt <-chan struct{}) error {
	o := m.plan.Orders
	load := plan.OrderCell{Encoding: o.Encoding, Workers: o.Workers, PayloadBytes: o.PayloadBytes}
	closed, err := plan.DefaultOrders(o.Paths, load)
	if err != nil {
		return err
	}
	load.Rate = o.Rate
	open, err := plan.DefaultOrders(o.Paths, load)
	if err != nil {
		return err
	}
	alone := append(closed, open...)
	failed := m.phase(report.OrdersAlone, "orders alone", len(alone), interrupt, func(opts runner.OrderOptions) (*measure.Run, error) {
		return nil, m.runner.Orders(ctx, alone, opts, interrupt)
	})
	if failed != nil && !errors.Is(failed, errGoOn) {
		return shown(failed)
	}
	if o.Beside == plan.NoStreams {
		return shown(failed)
	}
	streams, err := m.besideCell()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("orders beside %d streams", streams.Streams)
	again := m.phase(report.OrdersBeside, what, len(open), interrupt, func(opts runner.OrderOptions) (*measure.Run, error) {
		return m.runner.OrdersBeside(ctx, streams, open, opts, interrupt)
	}, streams)
	if again != nil {
		return shown(again)
	}
	return shown(failed)
}

// besideCell is the cell whose streams the orders go beside, like the plan's base in
// all else.
func (m *comparison) besideCell() (plan.Cell, error) {
	base := m.plan.Base
	if base.Connections == base.Streams {
		base.Connections = 0
	}
	base.OrderPath, base.Compression = "", ""
	cells, err := plan.Default([]string{m.plan.Orders.Beside}, base)
	if err != nil {
		return plan.Cell{}, err
	}
	cells[0].OrdersBeside = m.plan.Orders.Rate
	return cells[0], nil
}

// phase runs one phase and writes its runs down when it has ended by itself.
func (m *comparison) phase(name, what string, of int, interrupt <-chan struct{}, run func(runner.OrderOptions) (*measure.Run, error), beside ...plan.Cell) error {
	if m.dir.HasOrders(name) {
		return nil
	}
	select {
	case <-interrupt:
		fmt.Fprintln(os.Stderr, "interrupted before the", what)
		return errShown
	default:
	}
	var done []*measure.Orders
	streams, err := run(runner.OrderOptions{
		Symbol: reservedSymbol, Warmup: orderWarmup, Duration: m.plan.Orders.Window,
		Done: func(o *measure.Orders) { done = append(done, o) },
		Starting: func(i int, c plan.OrderCell) {
			fmt.Fprintf(os.Stderr, "%s, %d of %d: %s\n", what, i+1, of, c.Name())
		},
	})
	var cells []report.Cell
	if streams != nil {
		cells = []report.Cell{{Cell: beside[0], Runs: []*measure.Run{streams}}}
	}
	interrupted := errors.Is(err, runner.ErrInterrupted)
	select {
	case <-interrupt:
		interrupted = true
	default:
	}
	if interrupted {
		m.cutOrders, m.cutBeside = done, cells
		fmt.Fprintf(os.Stderr, "interrupted in the %s; go on with --resume %s\n", what, m.dir.Path())
		return errShown
	}
	if len(done) > 0 {
		if e := m.dir.SaveOrders(name, done, cells); e != nil {
			return fmt.Errorf("%w; make room and go on with --resume %s", e, m.dir.Path())
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tickgauge: %s: %v\n", what, err)
		return errGoOn
	}
	return nil
}
