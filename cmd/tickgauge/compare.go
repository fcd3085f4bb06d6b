package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
)

type compareCmd struct {
	Plan   string `placeholder:"NAME|FILE" help:"Measure this plan: quick, default or full, or a file (tickgauge plan). The default plan, with what other flags change of it, unless given."`
	Out    string `placeholder:"DIR" help:"Write each finished run there at once; results/PLAN-TIME unless given."`
	Resume string `placeholder:"DIR" help:"Go on with the comparison in this directory: run what is not there yet."`

	Rounds      *int           `placeholder:"N" help:"Run every cell so often, interleaved: 1 for a look, 6 or more for a verdict; 6 unless given."`
	Streams     int            `default:"10000" help:"Streams of each cell."`
	Connections int            `placeholder:"N" help:"Connections of the cells that share them; 100 unless given, or half of the streams where that is fewer."`
	Transports  []string       `placeholder:"CELL" help:"Cells to run, in this order: grpc, grpc-own, websocket, sse, sse-h2c; all unless given."`
	Encoding    string         `default:"protobuf" enum:"protobuf,json" help:"Encoding on every transport: one of ${enum}."`
	Policy      string         `default:"conflate" enum:"conflate,drop-oldest,disconnect" help:"What the exchange does when a stream's queue is full: one of ${enum}."`
	Source      string         `default:"synth" placeholder:"synth|FILE" help:"What the exchange publishes: synth, or a recorded capture, which is looped."`
	Symbols     *int           `placeholder:"N" help:"Synthetic symbols; 100 unless given."`
	Rate        *float64       `placeholder:"TICKS/S" help:"Mean ticks per second over all symbols; synth takes 200, a capture its own."`
	Arrivals    string         `default:"" placeholder:"NAME" enum:",steady,poisson,bursty" help:"How synthetic ticks are spaced: steady (unless given), poisson, or bursty."`
	Zipf        *float64       `placeholder:"EXPONENT" help:"Skew of synthetic ticks over symbols; uniform unless given."`
	Seed        *uint64        `placeholder:"N" help:"Seed of the synthetic source; 1 unless given."`
	Warmup      *time.Duration `placeholder:"TIME" help:"Time before the measured window; 1s unless given."`
	Duration    *time.Duration `placeholder:"TIME" help:"The measured window of each run; 2s unless given."`

	SkipStreams   bool           `help:"Measure no transports of streams."`
	SkipOrders    bool           `help:"Measure no paths of orders."`
	Paths         []string       `placeholder:"PATH" help:"Paths of orders, in this order: grpc-unary, rest-unary, rest-unary-h2c, grpc-stream, websocket, rest+sse, rest+sse-h2c; all unless given."`
	OrderWorkers  int            `default:"64" help:"Workers of each path."`
	OrderRate     float64        `default:"1000" help:"Orders per second of the open loop, alone and beside the streams."`
	OrderDuration *time.Duration `placeholder:"TIME" help:"The measured window of each run of orders; 1.5s unless given."`
	PayloadBytes  int            `placeholder:"BYTES" help:"Pad each order to about so many bytes; not padded unless given."`
	Beside        string         `default:"grpc" enum:"grpc,grpc-own,websocket,sse,sse-h2c,none" help:"Cell whose streams the orders go beside: one of ${enum}."`

	Threshold []string `sep:"none" placeholder:"CELL.FIGURE<VALUE" help:"What is expected of the median, such as 'grpc.latency.p99 < 5ms'; may be repeated."`
	AllPairs  bool     `help:"Compare every cell with every other, instead of with the first."`
	Welch     bool     `help:"Give Welch's t-test of all usable runs beside the test of paired rounds, in results.json."`
	JSON      string   `name:"json" placeholder:"FILE" help:"Write all results there too (docs/results.md)."`

	calibrateFlag `embed:""`
}

// Help is the long text of --help.
func (compareCmd) Help() string {
	return `Runs the same schedule over each transport, and prints a table: gRPC on shared
connections, gRPC with a connection for each stream, WebSocket, SSE over HTTP/1.1, SSE
over h2c on shared connections. Every cell is run once a round, every other round in
reverse, with an exchange and a fleet of its own each time; the table has the medians.
Then orders on each path: alone in a closed loop, alone at a rate, and at that rate
beside the streams.

Each finished run is written to a directory at once. Ctrl-C ends the run under way
early, and prints what was measured; --resume goes on later.

The exit status is 0 where all cells ran (one that is not valid is a finding and no
failure), 1 where one failed, lost streams or was interrupted, 2 for a wrong flag or
plan, 3 where a threshold does not hold.

Examples:
  tickgauge compare
  tickgauge compare --plan quick
  tickgauge compare --plan mine.yaml --threshold 'grpc.latency.p99 < 20ms'
  tickgauge compare --rounds 1 --streams 1000 --transports grpc,websocket --json results.json
  tickgauge compare --skip-streams --paths grpc-unary,rest-unary --encoding json
  tickgauge compare --resume results/full-20260101T120000Z`
}

// Run measures the plan. It fails where a run has no result, not where one is
// invalid or saturated: that is a finding.
func (c *compareCmd) Run(ctx *kong.Context) error {
	if c.JSON != "" {
		if err := mayWrite(c.JSON); err != nil {
			return usageError{err}
		}
	}
	head := newResults()
	dir, err := c.open(given(ctx), head)
	if err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the tickgauge program: %w", err)
	}
	if !dir.Whole() {
		if err := c.measureMachine(head); err != nil {
			return err
		}
	}
	p := dir.Plan()
	r, err := runner.New(runner.Options{Binary: binary, Seed: p.Seed, Warmup: p.Warmup, Duration: p.Window, Stderr: os.Stderr})
	if err != nil {
		return err
	}
	m := &comparison{dir: dir, plan: p, runner: r, repeats: make(map[int]int)}
	m.once = m.runCell
	failed := m.run()
	results, err := dir.Results()
	if err != nil {
		return errors.Join(failed, err)
	}
	if inputs := results.Inputs(); results.Rounds() > 1 {
		results.Comparison = compare.New(inputs, compare.Options{Seed: p.Seed, Welch: c.Welch, AllPairs: c.AllPairs})
	}
	results.Thresholds = compare.Check(p.Thresholds, results.Inputs())
	if err := dir.Finish(results); err != nil { // what was measured is shown all the same
		failed = errors.Join(failed, fmt.Errorf("%w; all runs are kept, and --resume %s writes it", err, dir.Path()))
	}
	m.addCut(results)
	if len(results.Cells) == 0 && len(results.Orders) == 0 {
		return failed // an earlier results file stays as it was
	}
	if err := report.WriteText(os.Stdout, report.Named{Results: results}); err != nil {
		return err
	}
	if c.JSON != "" {
		if err := results.WriteFile(c.JSON); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "wrote", c.JSON)
	}
	fmt.Fprintln(os.Stderr, "all runs are in", dir.Path())
	if failed == nil && !results.Holds() {
		return errThreshold
	}
	return failed
}

// measureMachine measures what all runs have in common: the machine, and what the
// codec takes on it.
func (c *compareCmd) measureMachine(head *report.Results) (err error) {
	ctx, interrupt, stop := interruptible()
	defer stop()
	if head.Codec, err = measureCodec(); err != nil {
		return err
	}
	head.Calibration, err = c.calibrate(ctx, interrupt)
	return err
}

// open makes the directory of the comparison, or opens the one to go on with.
func (c *compareCmd) open(given map[string]bool, head *report.Results) (*report.Directory, error) {
	if c.Resume != "" {
		if err := only(given, "--resume: the directory has the plan", "resume", "json", "welch", "all-pairs", "calibrate"); err != nil {
			return nil, err
		}
		dir, err := report.OpenDirectory(c.Resume, head)
		if err != nil {
			return nil, err
		}
		return dir, c.ready(dir.Plan(), head)
	}
	p, err := c.plan(given)
	if err != nil {
		return nil, err
	}
	if err := c.ready(p, head); err != nil {
		return nil, err
	}
	path := c.Out
	if path == "" {
		path = filepath.Join("results", p.Name+"-"+time.Now().UTC().Format("20060102T150405Z"))
	}
	return report.CreateDirectory(path, p, head)
}

// ready checks that this machine can run the plan, and fills in what the captures
// bring and what the results have of the plan.
func (c *compareCmd) ready(p *plan.Plan, head *report.Results) error {
	if err := fillCaptures(p); err != nil {
		return err
	}
	if err := p.CheckCells(checkFiles); err != nil {
		return err
	}
	head.WarmupNS, head.DurationNS, head.Seed, head.Plan = int64(p.Warmup), int64(p.Window), p.Seed, p.Name
	if len(p.Cells) > 0 {
		head.Source, head.Zipf = filepath.Base(p.Cells[0].Source), p.Cells[0].Zipf
	}
	return nil
}

func checkFiles(cell plan.Cell) error {
	return enoughFiles(cell.Connections, "the cell "+cell.Name(), "use fewer streams, or leave the cell out")
}

// mayWrite returns an error where results could not be written to path, before
// they are measured.
func mayWrite(path string) error {
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("--json %s: is a directory; name a file", path)
		}
		if !info.Mode().IsRegular() {
			return nil // a pipe or a device is written to as it is
		}
	}
	dir := filepath.Dir(path)
	probe, err := os.CreateTemp(dir, ".results-*")
	if err != nil {
		return fmt.Errorf("--json %s: nothing can be written in %s: %w", path, dir, errors.Unwrap(err))
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}
