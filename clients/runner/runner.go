package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// Options are what all cells of a comparison share.
type Options struct {
	Binary   string // the tickgauge program
	Seed     uint64 // of synthetic sources
	Warmup   time.Duration
	Duration time.Duration
	Stderr   *os.File // takes the progress of the fleets
}

// Runner runs cells one after the other. One goroutine may use it.
type Runner struct{ opts Options }

// New returns a runner. The binary must exist.
func New(opts Options) (*Runner, error) {
	if _, err := os.Stat(opts.Binary); err != nil {
		return nil, fmt.Errorf("runner: the tickgauge program: %w", err)
	}
	return &Runner{opts: opts}, nil
}

// ErrInterrupted is returned by Run when it was interrupted before the fleet had
// anything to show.
var ErrInterrupted = errors.New("interrupted before anything was measured")

// cause is why a child ended, in words.
func cause(err error) error {
	if err == nil {
		return errors.New("by itself")
	}
	return err
}

// openBudget bounds what a cell takes beside warm-up and window: opening,
// waiting for late ticks, closing.
const openBudget = 3 * time.Minute

// Run runs one cell: an exchange with a held source, a fleet beside it. When
// interrupt is closed the fleet ends its window early; when ctx is done both
// processes are ended. A run may come with an error: that its streams broke.
func (r *Runner) Run(ctx context.Context, c plan.Cell, interrupt <-chan struct{}) (*measure.Run, error) {
	budget := r.opts.Warmup + r.opts.Duration + openBudget
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("the cell did not end within %s", budget))
	defer cancel()
	dir, err := os.MkdirTemp("", "tickgauge-")
	if err != nil {
		return nil, fmt.Errorf("run cell: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	exchange, ready, err := startExchange(ctx, r.opts.Binary, r.exchangeArgs(c, budget, dir))
	if err != nil {
		return nil, err
	}
	defer exchange.stop(stopTimeout)
	out := filepath.Join(dir, "run.json")
	fleet, err := start(r.opts.Binary, r.fleetArgs(c, ready, out), nil, r.opts.Stderr)
	if err != nil {
		return nil, err
	}
	defer fleet.stop(stopTimeout)
	return r.await(ctx, exchange, fleet, out, c.Streams, interrupt)
}

// await waits for a fleet's end and reads what it wrote.
func (r *Runner) await(ctx context.Context, exchange, fleet *process, out string, streams int, interrupt <-chan struct{}) (*measure.Run, error) {
	if err := wait(ctx, fleet, interrupt); err != nil {
		return nil, err
	}
	results, err := readResults(out)
	var syntax *resultError
	switch {
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("the fleet's result: %w", err)
	case err != nil && closed(interrupt):
		return nil, ErrInterrupted
	case err != nil && exchange.died():
		return nil, fmt.Errorf("the exchange ended with status %d%s", exitCode(exchange.err), exchange.errors.said())
	case err != nil:
		return nil, fmt.Errorf("the fleet ended with status %d and no result", exitCode(fleet.err))
	case len(results.Cells) != 1 || len(results.Cells[0].Runs) != 1:
		return nil, fmt.Errorf("the fleet's result has %d cells, want one with one run", len(results.Cells))
	}
	run := results.Cells[0].Runs[0]
	if run.StreamsBroken > 0 {
		if exchange.died() {
			return run, fmt.Errorf("the exchange ended: %w%s", cause(exchange.err), exchange.errors.said())
		}
		return run, fmt.Errorf("%d of %d streams broke", run.StreamsBroken, streams)
	}
	return run, nil
}

// results is what of results.json the children's runs are read from.
type results struct {
	Cells []struct {
		Runs []*measure.Run `json:"runs"`
	} `json:"cells"`
	Orders []*measure.Orders `json:"orders"`
}

// resultError is a file that is there and is no result.
type resultError struct{ error }

func (e *resultError) Unwrap() error { return e.error }

func readResults(path string) (*results, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r results
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, &resultError{err}
	}
	return &r, nil
}

// exchangeArgs are those of an exchange that may write to dir.
func (r *Runner) exchangeArgs(c plan.Cell, budget time.Duration, dir string) []string {
	args := []string{
		"--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--debug-addr=127.0.0.1:0", "--hold",
		"--source=" + c.Source,
		"--max-duration=" + budget.String(), // should this process die, the exchange ends by itself
	}
	if c.Rate > 0 {
		args = append(args, "--rate="+strconv.FormatFloat(c.Rate, 'g', -1, 64))
	}
	if c.TLS {
		args = append(args, "--tls=self", "--tls-ca-out="+filepath.Join(dir, "ca.pem"))
	}
	if c.Compression != "" {
		args = append(args, "--compression")
	}
	if c.PayloadBytes > 0 {
		args = append(args, "--pad-ticks="+strconv.Itoa(c.PayloadBytes))
	}
	if c.Source == "synth" {
		return append(args, "--symbols="+strconv.Itoa(c.Symbols), "--arrivals="+c.Arrivals,
			"--seed="+strconv.FormatUint(r.opts.Seed, 10), "--zipf="+strconv.FormatFloat(c.Zipf, 'g', -1, 64))
	}
	return append(args, "--loop")
}

func (r *Runner) fleetArgs(c plan.Cell, ready Ready, out string) []string {
	target := ready.HTTP
	if c.Transport == "grpc" {
		target = ready.GRPC
	}
	args := []string{
		"fleet", "--transport=" + c.Transport, "--http-version=" + c.HTTPVersion, "--encoding=" + c.Encoding,
		"--streams=" + strconv.Itoa(c.Streams), "--connections=" + strconv.Itoa(c.Connections), "--symbols-per-stream=" + strconv.Itoa(max(1, c.SymbolsPerStream)),
		"--warmup=" + r.opts.Warmup.String(), "--duration=" + r.opts.Duration.String(),
		"--target=" + target, "--debug-target=" + ready.Debug, "--json=" + out, "--no-table", "--no-calibrate", "--label=" + c.Name(),
	}
	if c.Policy != "" {
		args = append(args, "--policy="+c.Policy)
	}
	if c.Compression != "" {
		args = append(args, "--compression="+c.Compression)
	}
	return append(args, trustArgs(ready)...)
}

// trustArgs has a client trust the certificate of an exchange that has one.
func trustArgs(ready Ready) []string {
	if ready.TLSCA == "" {
		return nil
	}
	return []string{"--ca=" + ready.TLSCA}
}
