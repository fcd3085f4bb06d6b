package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
)

type compareCmd struct {
	Streams     int           `default:"10000" help:"Streams of each cell."`
	Connections int           `default:"100" help:"Connections of the cells that share them."`
	Transports  []string      `placeholder:"CELL" help:"Cells to run, in this order: grpc, grpc-own, websocket, sse, sse-h2c; all unless given."`
	Encoding    string        `default:"protobuf" enum:"protobuf,json" help:"Encoding on every transport: ${enum}."`
	Policy      string        `default:"conflate" enum:"conflate,drop-oldest,disconnect" help:"What the exchange does when a stream's queue is full: ${enum}."`
	Source      string        `default:"synth" placeholder:"synth|FILE" help:"What the exchange publishes: synth, or a recorded capture, which is looped."`
	Symbols     int           `default:"100" help:"Synthetic symbols."`
	Rate        float64       `placeholder:"TICKS/S" help:"Mean ticks per second over all symbols; synth takes 200, a capture its own."`
	Arrivals    string        `default:"steady" enum:"steady,poisson,bursty" help:"How synthetic ticks are spaced: ${enum}."`
	Zipf        float64       `placeholder:"EXPONENT" help:"Skew of synthetic ticks over symbols; 0 is uniform."`
	Seed        uint64        `default:"1" help:"Seed of the synthetic source."`
	Warmup      time.Duration `default:"3s" help:"Time before the measured window."`
	Duration    time.Duration `default:"10s" help:"The measured window of each cell."`
	JSON        string        `name:"json" placeholder:"FILE" help:"Write the results there (docs/results.md)."`
}

// defaultRate is the synthetic ticks/s of a comparison: with 10,000 streams on
// 100 symbols 20,000 deliveries/s.
const defaultRate = 200

// Help is the long text of --help.
func (compareCmd) Help() string {
	return `Runs the same schedule over each transport, one after the other, and prints a table:
gRPC on shared connections, gRPC with a connection for each stream, WebSocket, SSE over
HTTP/1.1, SSE over h2c on shared connections. Ctrl-C ends the running cell early and
prints what was measured.

Examples:
  tickgauge compare
  tickgauge compare --streams 1000 --transports grpc,websocket --json results.json
  tickgauge compare --source capture.jsonl.gz --streams 200`
}

// Run runs the cells. It fails where a cell has no result, not where one is
// invalid or saturated: that is a finding.
func (c *compareCmd) Run() error {
	if c.Source == synthSource && c.Rate == 0 {
		c.Rate = defaultRate
	}
	if c.Streams <= 0 || c.Connections <= 0 || c.Symbols <= 0 || c.Rate < 0 || c.Duration <= 0 || c.Warmup < 0 {
		return usageError{errors.New("--streams, --connections, --symbols and --duration want positive numbers, --rate and --warmup none that is negative")}
	}
	cells, err := plan.Default(c.Transports, plan.Cell{
		Encoding: c.Encoding, Streams: c.Streams, Connections: c.Connections, Symbols: c.Symbols,
		Rate: c.Rate, Arrivals: c.Arrivals, Policy: c.Policy,
	})
	if err != nil {
		return usageError{err}
	}
	results := newResults()
	results.Seed, results.Source = c.Seed, c.Source
	if c.Source != synthSource {
		results.Source = filepath.Base(c.Source)
		if err := c.describeCapture(cells); err != nil {
			return err
		}
	}
	for _, cell := range cells {
		if err := enoughFiles(cell.Connections, "the cell "+cell.Name(), "use fewer --streams, or leave the cell out with --transports"); err != nil {
			return err
		}
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the tickgauge program: %w", err)
	}
	r, err := runner.New(runner.Options{
		Binary: binary, Source: c.Source, Seed: c.Seed, Zipf: c.Zipf, Warmup: c.Warmup, Duration: c.Duration, Stderr: os.Stderr,
	})
	if err != nil {
		return err
	}
	failed := c.runAll(r, cells, results)
	if err := report.WriteTable(os.Stdout, results); err != nil {
		return err
	}
	if c.JSON != "" {
		if err := results.WriteFile(c.JSON); err != nil {
			return err
		}
	}
	return failed
}

// runAll runs the cells until all are done or a signal came.
func (c *compareCmd) runAll(r *runner.Runner, cells []plan.Cell, results *report.Results) error {
	interrupt, kill, stop := signals()
	defer stop()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case <-kill:
			cancel(errors.New("interrupted twice"))
		case <-ctx.Done():
		}
	}()
	var failed error
	for i, cell := range cells {
		fmt.Fprintf(os.Stderr, "cell %d of %d: %s, %d streams on %d connections\n", i+1, len(cells), cell.Name(), cell.Streams, cell.Connections)
		run, err := r.Run(ctx, cell, interrupt)
		if err != nil {
			failed = fmt.Errorf("cell %s: %w", cell.Name(), err)
			fmt.Fprintln(os.Stderr, "tickgauge:", failed)
			failed = errShown
		} else {
			results.Cells = append(results.Cells, report.Cell{Cell: cell, Runs: []*measure.Run{run}})
		}
		select {
		case <-interrupt:
			fmt.Fprintf(os.Stderr, "interrupted after %d of %d cells\n", i+1, len(cells))
			return errShown
		default:
		}
	}
	return failed
}

// describeCapture reads the capture once, so that a fault shows before the first
// cell, and puts what it has into the cells.
func (c *compareCmd) describeCapture(cells []plan.Cell) error {
	flags := sourceFlags{Source: c.Source, Loop: true}
	if c.Rate != 0 {
		flags.Rate = &c.Rate
	}
	source, closeSource, err := flags.open(quiet())
	if err != nil {
		return err
	}
	defer closeSource()
	for i := range cells {
		cells[i].Symbols, cells[i].Arrivals = len(source.Symbols()), "capture"
	}
	return nil
}
