package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/calibrate"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

type calibrateCmd struct {
	Short      bool     `help:"Leave out the rates, and watch for 3 s instead of 11. This form stands in every result."`
	Streams    int      `default:"1000" help:"Streams of the fleets that rates are tried with."`
	Transports []string `default:"grpc" placeholder:"CELL" help:"Cells that rates are tried with: grpc, grpc-own, websocket, sse, sse-h2c; ${default} unless given."`
	JSON       string   `name:"json" placeholder:"FILE" help:"Write the results there (docs/results.md)."`
}

// Help is the long text of --help.
func (calibrateCmd) Help() string {
	return `Measures what this machine can tell apart, and how much it carries, before you
believe a figure that was measured on it: the clock, how late a process wakes up with the
machine idle and with all CPUs busy, a round trip over the loopback, what waits of 40 µs
and 100 µs take in each service mode of the exchange, and what else the machine does.

Then it doubles the rate of an exchange until its publisher no longer keeps the schedule,
and that of an exchange and a fleet until one of them does not. docs/calibrate.md explains
each figure.

Leave the machine alone meanwhile, or be shown what you did.

Examples:
  tickgauge calibrate
  tickgauge calibrate --short --json machine.json
  tickgauge calibrate --transports grpc,websocket,sse-h2c --streams 5000`
}

// Run calibrates and prints.
func (c *calibrateCmd) Run() error {
	if c.JSON != "" {
		if err := mayWrite(c.JSON); err != nil {
			return usageError{err}
		}
	}
	cells, err := c.cells()
	if err != nil {
		return usageError{err}
	}
	instrumentGC()
	ctx, interrupt, stop := interruptible()
	defer stop()
	results := newResults()
	opts := calibrate.Options{Idle: 5 * time.Second, Busy: 3 * time.Second, Spin: 2 * time.Second}
	if c.Short {
		opts = calibrate.Options{}
	}
	if results.Calibration, err = calibration(ctx, interrupt, opts); err != nil {
		return err
	}
	if !c.Short {
		results.Calibration.Rates, err = climb(ctx, interrupt, cells)
	}
	if err := report.WriteText(os.Stdout, report.Named{Results: results}); err != nil {
		return err
	}
	if c.JSON != "" {
		if err := results.WriteFile(c.JSON); err != nil {
			return err
		}
	}
	return err
}

func (c *calibrateCmd) cells() ([]plan.Cell, error) {
	if err := positive(map[string]bounded{"--streams": {value: float64(c.Streams), most: mostStreams}}); err != nil {
		return nil, err
	}
	if c.Streams < 2 {
		return nil, errors.New("--streams 1: want 2 or more, since the cells share connections")
	}
	base := plan.DefaultBase()
	base.Streams, base.Connections = c.Streams, 0
	cells, err := plan.Default(c.Transports, base)
	if err != nil {
		return nil, err
	}
	for _, cell := range cells {
		if err := checkFiles(cell); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// calibration measures without the rates.
func calibration(ctx context.Context, interrupt <-chan struct{}, opts calibrate.Options) (*calibrate.Calibration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-interrupt:
			cancel(runner.ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	fmt.Fprintln(os.Stderr, "calibrating this machine")
	opts.Waiters = []calibrate.Waiter{serviceWaiter("virtual"), serviceWaiter("realtime")}
	c, err := calibrate.Measure(ctx, opts)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return c, err
}

// calibrateFlag lets a run be without its calibration.
type calibrateFlag struct {
	Calibrate bool `default:"true" negatable:"" help:"Measure the machine first, for 3 s (tickgauge calibrate)."`
}

// calibrate returns nil where it is not wanted.
func (f calibrateFlag) calibrate(ctx context.Context, interrupt <-chan struct{}) (*calibrate.Calibration, error) {
	if !f.Calibrate {
		return nil, nil
	}
	return calibration(ctx, interrupt, calibrate.Options{})
}

// serviceWaiter waits as orders at a desk do.
func serviceWaiter(mode string) calibrate.Waiter {
	return calibrate.Waiter{Mode: mode, Open: func(ctx context.Context, d time.Duration) (func() (int64, error), func(), error) {
		const symbol = "CALIBRATION"
		flags := deskFlags{Accounts: 1, ServiceTime: d.String(), Service: mode, Reserve: []string{symbol}}
		symbols, err := flags.listed(nil)
		if err != nil {
			return nil, nil, err
		}
		hub, err := feed.NewHub(symbols, feed.HubOptions{})
		if err != nil {
			return nil, nil, err
		}
		desk, err := flags.openDesk(hub)
		if err != nil {
			return nil, nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = desk.Run(ctx) // nil, once ctx is done
		}()
		n := 0
		wait := func() (int64, error) {
			n++
			e, err := desk.Submit(ctx, order.Request{
				Action: order.ActionExecute, Account: desk.Accounts()[0], ClOrdID: "c-" + strconv.Itoa(n), Symbol: symbol,
				Side: feed.SideBuy, Type: order.Market, TimeInForce: order.IOC, OrderQty: 1,
			})
			if err == nil && e.OrdStatus != order.Filled {
				err = fmt.Errorf("the order to wait for was not filled: %s", e.Text)
			}
			return e.ServiceNS, err
		}
		return wait, func() { cancel(); <-ended }, nil
	}}
}

// Windows and bounds of the rates that are tried, ticks/s.
const (
	climbWarmup = 500 * time.Millisecond
	climbWindow = 2 * time.Second
	climbSteps  = 2
)

// climb looks for the highest rates: of the publisher, then of exchange and fleet in
// each cell.
func climb(ctx context.Context, interrupt <-chan struct{}, cells []plan.Cell) ([]calibrate.Rate, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the tickgauge program: %w", err)
	}
	r, err := runner.New(runner.Options{Binary: binary, Seed: 1, Warmup: climbWarmup, Duration: climbWindow})
	if err != nil {
		return nil, err
	}
	alone := plan.DefaultBase()
	alone.Streams, alone.Connections = 1, 1
	type target struct {
		of          string
		cell        plan.Cell
		start, most float64
	}
	targets := []target{{"publisher", alone, 10_000, 640_000}}
	for _, cell := range cells {
		targets = append(targets, target{cell.Name(), cell, 500, 512_000})
	}
	var rates []calibrate.Rate
	for _, t := range targets {
		rate, err := calibrate.Climb(ctx, t.of, t.start, t.most, climbSteps, func(ctx context.Context, rate float64) (calibrate.Outcome, error) {
			fmt.Fprintf(os.Stderr, "%s at %.0f ticks/s\n", t.of, rate)
			cell := t.cell
			cell.Rate = rate
			run, err := r.Run(ctx, cell, interrupt)
			if err != nil {
				return calibrate.Outcome{}, err
			}
			return calibrate.Kept(run)
		})
		if err != nil {
			return rates, err
		}
		rates = append(rates, *rate)
	}
	return rates, nil
}
