package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tickgauge/tickgauge/clients/fleet"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/proto/wire"
)

type fleetCmd struct {
	Transport        string `default:"grpc" enum:"grpc,websocket,sse" help:"One of ${enum}."`
	HTTPVersion      string `name:"http-version" default:"" enum:",1.1,2" placeholder:"1.1|2" help:"For sse: 1.1 (unless given) has a connection for each stream, 2 (h2c) shares them."`
	Encoding         string `default:"protobuf" enum:"protobuf,json" help:"One of ${enum}."`
	Target           string `placeholder:"HOST:PORT" help:"The exchange: its gRPC address for grpc (127.0.0.1:50051 unless given), else its HTTP address (127.0.0.1:8080)."`
	trustFlags       `embed:""`
	compressionFlag  `embed:""`
	DebugTarget      string        `placeholder:"HOST:PORT" help:"The exchange's debug address: starts a held source, and gives the exchange's side of the account."`
	Streams          int           `default:"100" help:"Streams to open."`
	Connections      int           `placeholder:"N" help:"Connections that share the streams; one for each stream unless given, 1 for each 100 streams over HTTP/2."`
	SymbolsPerStream int           `default:"1" help:"Symbols that each stream takes."`
	Symbol           []string      `sep:"none" placeholder:"NAME" help:"Take these symbols only; may be repeated. All that the exchange lists unless given."`
	Except           []string      `sep:"none" placeholder:"NAME" help:"Leave this symbol out of those that the exchange lists; may be repeated."`
	Policy           string        `default:"conflate" enum:"conflate,drop-oldest,disconnect" help:"What the exchange does when a stream's queue is full: conflate keeps the newest tick of each symbol, drop-oldest drops the oldest, disconnect ends the stream."`
	Ramp             float64       `placeholder:"STREAMS/S" help:"Streams opened per second; as fast as they open unless given."`
	Warmup           time.Duration `default:"3s" help:"Time before the measured window."`
	Duration         time.Duration `default:"10s" help:"The measured window."`
	JSON             string        `name:"json" placeholder:"FILE" help:"Write the results there (docs/results.md)."`
	NoTable          bool          `help:"Print no table."`
	calibrateFlag    `embed:""`
	Announce         bool   `hidden:"" help:"Print a line when the window begins."`
	Label            string `hidden:"" help:"Name in the progress lines."`
}

// Help is the long text of --help.
func (fleetCmd) Help() string {
	return `Opens the streams, measures every delivery in the window, and prints a table.
Ctrl-C in the window ends it early and prints what was measured; a second one gives up.
The exit status is 0 where the fleet ran to its end (a run that is not valid is a finding
and no failure), 1 where it failed, lost streams or was interrupted, 2 for a wrong flag.

Examples:
  tickgauge exchange --debug-addr 127.0.0.1:6060
  tickgauge fleet --debug-target 127.0.0.1:6060 --streams 1000 --connections 10
  tickgauge fleet --transport sse --http-version 2 --streams 1000 --connections 10
  tickgauge fleet --transport websocket --encoding json --symbol SYM001 --json run.json`
}

// instrumentGC trades the memory of a fleet or a trader for a quarter of its
// collections, unless GOGC says otherwise: what the instrument's own collector takes
// is no transport's.
func instrumentGC() {
	const percent = 400
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// Run runs the fleet. A run with broken streams is printed and fails.
func (c *fleetCmd) Run() error {
	t, enc, err := c.check()
	if err != nil {
		return err
	}
	security, err := c.trust()
	if err != nil {
		return err
	}
	compress, err := c.compresses(t.name, t.compression, transportCompressions())
	if err != nil {
		return err
	}
	instrumentGC()
	ctx, interrupt, stop := interruptible()
	defer stop()
	symbols := c.Symbol
	if len(symbols) == 0 {
		if symbols, err = c.listSymbols(ctx, t, security); err != nil {
			return err
		}
	}
	dialer, err := t.dialer(c.Target, dialOptions{encoding: enc, tls: security, compress: compress})
	if err != nil {
		return usageError{err}
	}
	policy, err := wire.ParsePolicy(c.Policy)
	if err != nil {
		return usageError{err}
	}
	progress := newProgress(os.Stderr, cmp.Or(c.Label, t.name))
	opts := fleet.Options{
		Connections: c.Connections, SymbolsPerStream: c.SymbolsPerStream, Policy: policy, Ramp: c.Ramp,
		Warmup: c.Warmup, Duration: c.Duration, Stamp: t.stamp, Version: version, Report: progress.show, ReportEvery: progress.every,
	}
	if c.Announce {
		opts.Measuring = func() { fmt.Println(`{"measuring":true}`) }
	}
	if c.DebugTarget != "" {
		if opts.Control, err = fleet.NewControl(c.DebugTarget); err != nil {
			return usageError{err}
		}
	}
	results := newResults()
	if results.Calibration, err = c.calibrate(ctx, interrupt); err != nil {
		return err
	}
	f, err := fleet.New(dialer, symbols, c.Streams, opts)
	if err != nil {
		return usageError{err}
	}
	run, err := f.Run(ctx, interrupt)
	progress.end()
	if err != nil {
		if wrong := explainTLS(ctx, c.Target, security, err); wrong != nil {
			return wrong
		}
		return err
	}
	return c.show(results, t, security, len(symbols), run)
}

func (c *fleetCmd) check() (*transport, wire.Encoding, error) {
	t, err := findTransport(c.Transport, c.HTTPVersion)
	if err != nil {
		return nil, 0, usageError{err}
	}
	enc, err := wire.ParseEncoding(c.Encoding)
	if err != nil {
		return nil, 0, usageError{err}
	}
	if c.Connections == 0 && t.shares {
		c.Connections = max(1, c.Streams/plan.SharedConnections)
	}
	if !t.shares && c.Connections != 0 && c.Connections != c.Streams {
		return nil, 0, usageError{fmt.Errorf("--connections %d: over %s with HTTP/%s every stream has a connection of its own; leave it out", c.Connections, t.name, t.httpVersion)}
	}
	c.Target = cmp.Or(c.Target, sideOf(t.overGRPC).target)
	if err := positive(map[string]bounded{
		"--streams": {value: float64(c.Streams), most: mostStreams}, "--symbols-per-stream": {value: float64(c.SymbolsPerStream), most: mostPlaces}, "--duration": seconds(c.Duration),
	}); err != nil {
		return nil, 0, usageError{err}
	}
	switch {
	case len(c.Except) > 0 && len(c.Symbol) > 0:
		return nil, 0, usageError{errors.New("--except takes from all that the exchange lists; with --symbol it does nothing, so leave one of them out")}
	case c.JSON != "":
		if err := mayWrite(c.JSON); err != nil {
			return nil, 0, usageError{err}
		}
	case c.NoTable:
		return nil, 0, usageError{errors.New("--no-table without --json FILE would show nothing")}
	}
	connections := c.Connections
	if connections == 0 {
		connections = c.Streams
	}
	if err := enoughFiles(connections, "the fleet", "use fewer streams, share connections with --connections where the transport can, or split the fleet over several processes"); err != nil {
		return nil, 0, err
	}
	return t, enc, nil
}

func (c *fleetCmd) listSymbols(ctx context.Context, t *transport, security *tls.Config) ([]string, error) {
	names, err := symbolsOf(ctx, c.Target, sideOf(t.overGRPC), security, t.listSymbols)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Except {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, usageError{fmt.Errorf("--except %s: the exchange does not list it", name)}
		}
		names = slices.Delete(names, i, i+1)
	}
	return names, nil
}

func (c *fleetCmd) show(results *report.Results, t *transport, security *tls.Config, symbols int, run *measure.Run) error {
	connections := c.Connections
	if connections == 0 {
		connections = c.Streams
	}
	results.Cells = []report.Cell{{
		Cell: plan.Cell{
			Transport: t.name, HTTPVersion: t.httpVersion, Encoding: c.Encoding,
			Streams: c.Streams, Connections: connections, Symbols: symbols, SymbolsPerStream: c.SymbolsPerStream, Policy: c.Policy,
			TLS: security != nil, Compression: c.compressionName(),
		},
		Runs: []*measure.Run{run},
	}}
	results.WarmupNS, results.DurationNS = int64(c.Warmup), int64(c.Duration)
	if s := run.Schedule; s != nil {
		results.Seed, results.Source, results.Zipf = s.Seed, s.Source, s.Zipf
		results.Cells[0].Rate, results.Cells[0].Arrivals, results.Cells[0].PayloadBytes = s.Rate, s.Arrivals, s.PayloadBytes
	}
	if !c.NoTable {
		if err := report.WriteText(os.Stdout, report.Named{Results: results}); err != nil {
			return err
		}
	}
	if c.JSON != "" {
		if err := results.WriteFile(c.JSON); err != nil {
			return err
		}
	}
	if run.Interrupted {
		return errShown
	}
	if run.StreamsBroken > 0 {
		return fmt.Errorf("%d of %d streams broke; what was measured until then stands above", run.StreamsBroken, c.Streams)
	}
	return nil
}

func newResults() *report.Results {
	return &report.Results{
		Schema: report.Schema, Version: version, Created: time.Now().UTC().Format(time.RFC3339), Host: measure.ThisHost(),
	}
}
