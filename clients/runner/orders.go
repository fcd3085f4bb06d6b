package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// OrderOptions are what all cells of orders of a comparison share.
type OrderOptions struct {
	Symbol   string // reserved on the exchange: no measured stream holds it
	Warmup   time.Duration
	Duration time.Duration                 // of each window
	Starting func(i int, c plan.OrderCell) // called before each cell; may be nil
	Done     func(o *measure.Orders)       // called with each run
}

// orderOverhead is what a trader takes beside warm-up and window: to start, to
// open, and to wait for its last answers.
const orderOverhead = 1200 * time.Millisecond

// orderBudget bounds a trader that does not end.
const orderBudget = time.Minute

// Orders runs cells of orders one after the other on an exchange that publishes
// nothing. When interrupt is closed the cell under way ends its window early and
// the others are not begun. The error is the first that a cell had; the cells that
// ran have been told to Done.
func (r *Runner) Orders(ctx context.Context, cells []plan.OrderCell, o OrderOptions, interrupt <-chan struct{}) error {
	budget := ordersTake(len(cells), o) + openBudget
	exchange, ready, err := startExchange(ctx, r.opts.Binary, append(r.exchangeArgs(plan.Cell{Source: "synth", Symbols: 1, Arrivals: "steady"}, budget, ""), "--reserve="+o.Symbol))
	if err != nil {
		return err
	}
	defer exchange.stop(stopTimeout)
	return r.trade(ctx, exchange, ready, cells, o, interrupt, nil, func() bool { return true })
}

// OrdersBeside runs cells of orders one after the other beside a fleet, whose
// window spans them all, and returns the fleet's run.
func (r *Runner) OrdersBeside(ctx context.Context, c plan.Cell, cells []plan.OrderCell, o OrderOptions, interrupt <-chan struct{}) (*measure.Run, error) {
	window := ordersTake(len(cells), o)
	beside := *r
	beside.opts.Duration = window
	budget := window + openBudget
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("the cell did not end within %s", budget))
	defer cancel()
	dir, err := os.MkdirTemp("", "tickgauge-")
	if err != nil {
		return nil, fmt.Errorf("run cell: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	exchange, ready, err := startExchange(ctx, r.opts.Binary, append(r.exchangeArgs(c, budget, dir), "--reserve="+o.Symbol))
	if err != nil {
		return nil, err
	}
	defer exchange.stop(stopTimeout)
	out := filepath.Join(dir, "run.json")
	fleet, measuring, err := r.startFleet(append(beside.fleetArgs(c, ready, out), "--except="+o.Symbol, "--announce"))
	if err != nil {
		return nil, err
	}
	defer fleet.stop(stopTimeout)
	select {
	case begun := <-measuring:
		if !begun {
			return r.await(ctx, exchange, fleet, out, c.Streams, interrupt) // it says why
		}
	case <-interrupt:
		return nil, ErrInterrupted
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	began := time.Now()
	transport := c
	transport.OrdersBeside = 0
	args := []string{"--streams-beside=" + strconv.Itoa(c.Streams), "--streams-transport=" + transport.Name()}
	failed := r.trade(ctx, exchange, ready, cells, o, interrupt, args, func() bool {
		select {
		case <-fleet.done:
			return false
		default:
			return time.Since(began) < window
		}
	})
	run, err := r.await(ctx, exchange, fleet, out, c.Streams, interrupt)
	if run != nil {
		// What both together cost is not the deliveries' cost.
		run.DropSharedCosts()
	}
	return run, errors.Join(failed, err)
}

func ordersTake(cells int, o OrderOptions) time.Duration {
	return time.Duration(cells)*(o.Warmup+o.Duration+orderOverhead) + time.Second
}

// startFleet starts a fleet that announces its window; the channel gets true when
// that begins, false where the fleet ended before.
func (r *Runner) startFleet(args []string) (*process, <-chan bool, error) {
	rd, wr, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("start fleet: %w", err)
	}
	p, err := start(r.opts.Binary, args, wr, r.opts.Stderr)
	_ = wr.Close() // the child has it
	if err != nil {
		_ = rd.Close()
		return nil, nil, err
	}
	measuring := make(chan bool, 1)
	go func() {
		_, err := bufio.NewReader(rd).ReadBytes('\n')
		_ = rd.Close()
		measuring <- err == nil
	}()
	return p, measuring, nil
}

// trade runs a trader for each cell. Beside are further arguments, and inTime says,
// after each, whether what it traded beside was still there.
func (r *Runner) trade(ctx context.Context, exchange *process, ready Ready, cells []plan.OrderCell, o OrderOptions, interrupt <-chan struct{},
	beside []string, inTime func() bool) error {
	var failed error
	for i, c := range cells {
		if o.Starting != nil {
			o.Starting(i, c)
		}
		run, err := r.trader(ctx, exchange, ready, c, o, interrupt, beside)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", c.Name(), err)
		}
		if run != nil {
			if !inTime() {
				run.Valid = false
				run.Reasons = append(run.Reasons, "the streams' window ended before that of the orders")
			}
			o.Done(run)
		}
		if closed(interrupt) || ctx.Err() != nil {
			break
		}
	}
	return failed
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// trader runs one cell of orders.
func (r *Runner) trader(ctx context.Context, exchange *process, ready Ready, c plan.OrderCell, o OrderOptions, interrupt <-chan struct{}, beside []string) (*measure.Orders, error) {
	budget := o.Warmup + o.Duration + orderBudget
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("the trader did not end within %s", budget))
	defer cancel()
	dir, err := os.MkdirTemp("", "tickgauge-")
	if err != nil {
		return nil, fmt.Errorf("run orders: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "orders.json")
	p, err := start(r.opts.Binary, append(orderArgs(c, o, ready, out), beside...), nil, r.opts.Stderr)
	if err != nil {
		return nil, err
	}
	defer p.stop(stopTimeout)
	if err := wait(ctx, p, interrupt); err != nil {
		return nil, err
	}
	results, err := readResults(out)
	switch {
	case err != nil && closed(interrupt):
		return nil, ErrInterrupted
	case err != nil && exchange.died():
		return nil, fmt.Errorf("the exchange ended with status %d%s", exitCode(exchange.err), exchange.errors.said())
	case err != nil:
		return nil, fmt.Errorf("the trader ended with status %d and no result", exitCode(p.err))
	case len(results.Orders) != 1:
		return nil, fmt.Errorf("the trader's result has %d runs, want one", len(results.Orders))
	}
	return results.Orders[0], nil
}

// wait waits for a child's end, and hands it the interrupt.
func wait(ctx context.Context, p *process, interrupt <-chan struct{}) error {
	select {
	case <-p.done:
		return nil
	case <-interrupt:
		p.signal(syscall.SIGINT)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func orderArgs(c plan.OrderCell, o OrderOptions, ready Ready, out string) []string {
	target := ready.HTTP
	if c.Path == "grpc-unary" || c.Path == "grpc-stream" {
		target = ready.GRPC
	}
	args := []string{
		"orders", "--path=" + c.Path, "--http=" + c.HTTPVersion, "--encoding=" + c.Encoding,
		"--workers=" + strconv.Itoa(c.Workers), "--rate=" + strconv.FormatFloat(c.Rate, 'g', -1, 64), "--payload-bytes=" + strconv.Itoa(c.PayloadBytes),
		"--symbol=" + o.Symbol, "--warmup=" + o.Warmup.String(), "--duration=" + o.Duration.String(),
		"--target=" + target, "--debug-target=" + ready.Debug, "--json=" + out, "--no-table", "--no-calibrate", "--label=" + c.Name(),
	}
	return append(args, trustArgs(ready)...)
}
