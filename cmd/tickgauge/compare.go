package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
)

type compareCmd struct {
	Streams     int           `default:"10000" help:"Streams of each cell."`
	Connections int           `placeholder:"N" help:"Connections of the cells that share them; 100 unless given, or half of the streams where that is fewer."`
	Transports  []string      `placeholder:"CELL" help:"Cells to run, in this order: grpc, grpc-own, websocket, sse, sse-h2c; all unless given."`
	Encoding    string        `default:"protobuf" enum:"protobuf,json" help:"Encoding on every transport: one of ${enum}."`
	Policy      string        `default:"conflate" enum:"conflate,drop-oldest,disconnect" help:"What the exchange does when a stream's queue is full: one of ${enum}."`
	Source      string        `default:"synth" placeholder:"synth|FILE" help:"What the exchange publishes: synth, or a recorded capture, which is looped."`
	Symbols     *int          `placeholder:"N" help:"Synthetic symbols; 100 unless given."`
	Rate        *float64      `placeholder:"TICKS/S" help:"Mean ticks per second over all symbols; synth takes 200, a capture its own."`
	Arrivals    string        `default:"" placeholder:"NAME" enum:",steady,poisson,bursty" help:"How synthetic ticks are spaced: steady (unless given), poisson, or bursty."`
	Zipf        *float64      `placeholder:"EXPONENT" help:"Skew of synthetic ticks over symbols; uniform unless given."`
	Seed        *uint64       `placeholder:"N" help:"Seed of the synthetic source; 1 unless given."`
	Warmup      time.Duration `default:"3s" help:"Time before the measured window."`
	Duration    time.Duration `default:"10s" help:"The measured window of each cell."`

	SkipStreams   bool          `help:"Measure no transports of streams."`
	SkipOrders    bool          `help:"Measure no paths of orders."`
	Paths         []string      `placeholder:"PATH" help:"Paths of orders, in this order: grpc-unary, rest-unary, rest-unary-h2c, grpc-stream, websocket, rest+sse, rest+sse-h2c; all unless given."`
	OrderWorkers  int           `default:"64" help:"Workers of each path."`
	OrderRate     float64       `default:"1000" help:"Orders per second of the open loop, alone and beside the streams."`
	OrderDuration time.Duration `default:"4s" help:"The measured window of each run of orders."`
	PayloadBytes  int           `placeholder:"BYTES" help:"Pad each order to about so many bytes; not padded unless given."`
	Beside        string        `default:"grpc" enum:"grpc,grpc-own,websocket,sse,sse-h2c" help:"Cell whose streams the orders go beside: one of ${enum}."`

	JSON string `name:"json" placeholder:"FILE" help:"Write the results there (docs/results.md)."`
}

// defaultRate is the synthetic ticks/s of a comparison: with 10,000 streams on
// 100 symbols 20,000 deliveries/s.
const defaultRate = 200

// Help is the long text of --help.
func (compareCmd) Help() string {
	return `Runs the same schedule over each transport, one after the other, and prints a table:
gRPC on shared connections, gRPC with a connection for each stream, WebSocket, SSE over
HTTP/1.1, SSE over h2c on shared connections. Then orders on each path: alone in a closed
loop, alone at a rate, and at that rate beside the streams. Ctrl-C in a window ends it early and prints
what was measured. What exchange and fleet can beside this is for those commands.

The exit status is 0 where all cells ran (one that is not valid is a finding and no
failure), 1 where one failed, lost streams or was interrupted, 2 for a wrong flag.

Examples:
  tickgauge compare
  tickgauge compare --streams 1000 --transports grpc,websocket --json results.json
  tickgauge compare --skip-streams --paths grpc-unary,rest-unary --encoding json
  tickgauge compare --source capture.jsonl.gz --streams 200`
}

// Run runs the cells. It fails where a cell has no result, not where one is
// invalid or saturated: that is a finding.
func (c *compareCmd) Run() error {
	if err := c.check(); err != nil {
		return usageError{err}
	}
	source := sourceFlags{Source: c.Source, Rate: c.Rate, Arrivals: c.Arrivals, Zipf: c.Zipf, Seed: c.Seed, Loop: c.Source != synthSource}
	if c.Symbols != nil {
		source.Symbols = strconv.Itoa(*c.Symbols)
	}
	if c.Source == synthSource && c.Rate == nil {
		rate := float64(defaultRate)
		source.Rate = &rate
	}
	// Opened once here, so that a fault shows before the first cell.
	opened, closeSource, err := source.open(quiet())
	if err != nil {
		return err
	}
	symbols := opened.Symbols()
	closeSource()
	schedule := source.schedule()
	cells, err := plan.Default(c.Transports, plan.Cell{
		Encoding: c.Encoding, Streams: c.Streams, Connections: c.Connections, Symbols: len(symbols), SymbolsPerStream: 1,
		Rate: schedule.Rate, Arrivals: schedule.Arrivals, Policy: c.Policy,
	})
	if err != nil {
		return usageError{err}
	}
	orders, err := c.orderPart(cells[0], symbols)
	if err != nil {
		return usageError{err}
	}
	if c.SkipStreams {
		cells = nil
	}
	need := cells
	if orders != nil {
		need = append(need, orders.streams)
	}
	results := newResults()
	results.Seed, results.Source, results.Zipf = schedule.Seed, schedule.Source, schedule.Zipf
	results.WarmupNS, results.DurationNS = int64(c.Warmup), int64(c.Duration)
	for _, cell := range need {
		if err := enoughFiles(cell.Connections, "the cell "+cell.Name(), "use fewer --streams, or leave the cell out with --transports"); err != nil {
			return err
		}
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the tickgauge program: %w", err)
	}
	r, err := runner.New(runner.Options{
		Binary: binary, Source: c.Source, Seed: schedule.Seed, Zipf: schedule.Zipf, Warmup: c.Warmup, Duration: c.Duration, Stderr: os.Stderr,
	})
	if err != nil {
		return err
	}
	failed := c.runAll(r, cells, orders, results)
	if len(results.Cells) == 0 && len(results.Orders) == 0 {
		return failed // an earlier results file stays as it was
	}
	if len(results.Cells) > 0 {
		if err := report.WriteTable(os.Stdout, results); err != nil {
			return err
		}
	}
	if len(results.Orders) > 0 {
		if len(results.Cells) > 0 {
			fmt.Println()
		}
		if err := report.WriteOrders(os.Stdout, results.Orders); err != nil {
			return err
		}
	}
	if c.JSON != "" {
		if err := results.WriteFile(c.JSON); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "wrote", c.JSON)
	}
	return failed
}

// runAll runs the cells of streams and of orders until all are done or a signal
// came.
func (c *compareCmd) runAll(r *runner.Runner, cells []plan.Cell, orders *orderPart, results *report.Results) error {
	ctx, interrupt, stop := interruptible()
	defer stop()
	var failed error
	for i, cell := range cells {
		fmt.Fprintf(os.Stderr, "cell %d of %d: %s, %d streams on %d connections\n", i+1, len(cells), cell.Name(), cell.Streams, cell.Connections)
		run, err := r.Run(ctx, cell, interrupt)
		if err != nil {
			fmt.Fprintf(os.Stderr, "tickgauge: cell %s: %v\n", cell.Name(), err)
			failed = errShown
		}
		if run != nil {
			results.Cells = append(results.Cells, report.Cell{Cell: cell, Runs: []*measure.Run{run}})
		}
		select {
		case <-interrupt:
			fmt.Fprintf(os.Stderr, "interrupted with %d of %d cells measured\n", len(results.Cells), len(cells))
			return errShown
		default:
		}
	}
	if orders == nil {
		return failed
	}
	return errors.Join(failed, orders.run(ctx, r, interrupt, results))
}

func (c *compareCmd) check() error {
	if err := positive(map[string]bounded{"--streams": {float64(c.Streams), mostStreams}, "--duration": seconds(c.Duration)}); err != nil {
		return err
	}
	if c.Connections < 0 || c.Warmup < 0 {
		return errors.New("--connections and --warmup must not be negative")
	}
	if c.SkipStreams && c.SkipOrders {
		return errors.New("--skip-streams and --skip-orders together measure nothing")
	}
	if err := c.checkOrders(); err != nil {
		return err
	}
	if c.JSON != "" {
		return mayWrite(c.JSON)
	}
	return nil
}

// mayWrite returns an error where results could not be written to path, before
// they are measured.
func mayWrite(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("--json %s: is a directory; name a file", path)
	}
	dir := filepath.Dir(path)
	probe, err := os.CreateTemp(dir, ".results-*")
	if err != nil {
		return fmt.Errorf("--json %s: nothing can be written in %s: %w", path, dir, errors.Unwrap(err))
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}
