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
	"github.com/tickgauge/tickgauge/feed"
)

// orderPart is what a comparison measures of orders.
type orderPart struct {
	closed, open []plan.OrderCell // alone
	streams      plan.Cell        // beside which the open ones go again
	opts         runner.OrderOptions
}

// reservedSymbol is what a comparison's orders trade.
const reservedSymbol = "ORDERS"

// orderWarmup is short: what is to warm up are connections and caches.
const orderWarmup = 500 * time.Millisecond

func (c *compareCmd) checkOrders() error {
	if err := positive(map[string]bounded{
		"--order-workers": {float64(c.OrderWorkers), mostWorkers}, "--order-rate": {c.OrderRate, 1e7}, "--order-duration": seconds(c.OrderDuration),
	}); err != nil {
		return err
	}
	if c.PayloadBytes < 0 || c.PayloadBytes > mostPayload {
		return fmt.Errorf("--payload-bytes %d: want 0 to %d", c.PayloadBytes, mostPayload)
	}
	return nil
}

// orderPart returns nil where orders are skipped. Base has what all cells have in
// common.
func (c *compareCmd) orderPart(base plan.Cell, symbols []feed.Symbol) (*orderPart, error) {
	load := plan.OrderCell{Encoding: c.Encoding, Workers: c.OrderWorkers, PayloadBytes: c.PayloadBytes}
	closed, err := plan.DefaultOrders(c.Paths, load)
	if err != nil || c.SkipOrders {
		return nil, err
	}
	load.Rate = c.OrderRate
	open, err := plan.DefaultOrders(c.Paths, load)
	if err != nil {
		return nil, err
	}
	base.Connections = c.Connections
	streams, err := plan.Default([]string{c.Beside}, base)
	if err != nil {
		return nil, err
	}
	streams[0].OrdersBeside = c.OrderRate
	for _, s := range symbols {
		if s.Name == reservedSymbol {
			return nil, fmt.Errorf("the source has a symbol %s, which a comparison keeps for orders; --skip-orders leaves them out", reservedSymbol)
		}
	}
	return &orderPart{closed: closed, open: open, streams: streams[0], opts: runner.OrderOptions{
		Symbol: reservedSymbol, Warmup: orderWarmup, Duration: c.OrderDuration,
	}}, nil
}

// run runs the phases: orders alone in a closed loop and at a rate, and at that
// rate beside streams.
func (p *orderPart) run(ctx context.Context, r *runner.Runner, interrupt <-chan struct{}, results *report.Results) error {
	var failed error
	tell := func(what string, err error) {
		if err != nil {
			fmt.Fprintf(os.Stderr, "tickgauge: %s: %v\n", what, err)
			failed = errShown
		}
	}
	p.opts.Done = func(o *measure.Orders) { results.Orders = append(results.Orders, o) }
	for _, phase := range []struct {
		what string
		run  func() error
	}{
		{"orders alone", func() error {
			return r.Orders(ctx, append(p.closed, p.open...), p.starting("orders alone", len(p.closed)+len(p.open)), interrupt)
		}},
		{"orders beside streams", func() error {
			run, err := r.OrdersBeside(ctx, p.streams, p.open, p.starting(fmt.Sprintf("orders beside %d streams", p.streams.Streams), len(p.open)), interrupt)
			if run != nil {
				results.Cells = append(results.Cells, report.Cell{Cell: p.streams, Runs: []*measure.Run{run}})
			}
			return err
		}},
	} {
		select {
		case <-interrupt:
			fmt.Fprintln(os.Stderr, "interrupted before the", phase.what)
			return errShown
		default:
		}
		if err := phase.run(); errors.Is(err, runner.ErrInterrupted) {
			fmt.Fprintln(os.Stderr, "interrupted in the", phase.what)
			return errShown
		} else {
			tell(phase.what, err)
		}
	}
	return failed
}

func (p *orderPart) starting(what string, of int) runner.OrderOptions {
	opts := p.opts
	opts.Starting = func(i int, c plan.OrderCell) {
		fmt.Fprintf(os.Stderr, "%s, %d of %d: %s\n", what, i+1, of, c.Name())
	}
	return opts
}
