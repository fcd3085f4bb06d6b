package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tickgauge/tickgauge/clients/fleet"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/trader"
	"github.com/tickgauge/tickgauge/feed"
)

type ordersCmd struct {
	Path            string `default:"grpc-unary" enum:"grpc-unary,rest-unary,grpc-stream,websocket,rest+sse" help:"How orders go in and their answers come back, one of ${enum}."`
	HTTP            string `name:"http" default:"" enum:",1.1,2" placeholder:"1.1|2" help:"For rest-unary and rest+sse: 1.1 (unless given), or 2 (h2c)."`
	Encoding        string `default:"protobuf" enum:"protobuf,json" help:"One of ${enum}."`
	Target          string `placeholder:"HOST:PORT" help:"The exchange: its gRPC address for the gRPC paths (127.0.0.1:50051 unless given), else its HTTP address (127.0.0.1:8080)."`
	trustFlags      `embed:""`
	compressionFlag `embed:""`
	DebugTarget     string         `placeholder:"HOST:PORT" help:"The exchange's debug address: gives its CPU for each order, where it does nothing else (exchange --hold)."`
	Symbol          string         `placeholder:"NAME" help:"What to trade; the first symbol that the exchange lists unless given."`
	Account         string         `default:"acct-1" help:"Who trades."`
	Workers         *int           `placeholder:"N" help:"Workers, each with one order under way at most; 64 unless given."`
	Rate            float64        `placeholder:"ORDERS/S" help:"Open loop: send so many orders a second, and count latency from when each was due. Closed loop unless given: each worker sends its next order when it has the answer to the last."`
	Connections     int            `placeholder:"N" help:"Connections that the workers share, kept open; 8 unless given over HTTP/2, one for each worker where an order takes a connection."`
	Warmup          time.Duration  `default:"1s" help:"Time before the measured window."`
	Duration        *time.Duration `placeholder:"DURATION" help:"The measured window; 10s unless given."`
	Runs            *int           `placeholder:"N" help:"Repeat the run, and print medians too; 1 unless given."`
	PayloadBytes    *int           `placeholder:"BYTES" help:"Pad each order to about so many bytes; not padded unless given."`
	OrderTimeout    time.Duration  `default:"10s" help:"An order that has no answer by then has failed."`
	Preset          string         `enum:",hft" default:"" placeholder:"hft" help:"hft is the published run: 1,000 workers, orders of 1 KB, 3 runs of 30 s, medians. Other flags override it."`
	JSON            string         `name:"json" placeholder:"FILE" help:"Write the results there (docs/results.md)."`
	NoTable         bool           `help:"Print no table."`
	calibrateFlag   `embed:""`
	Label           string `hidden:"" help:"Name in the progress lines."`

	StreamsBeside    int    `hidden:"" help:"Streams that a fleet has on the exchange meanwhile."`
	StreamsTransport string `hidden:""`
}

// Help is the long text of --help.
func (ordersCmd) Help() string {
	return `Each order buys or sells 1 in turn at the touch, immediate or cancel (--symbol
of an exchange's --reserve has a touch that is never used up). Latency ends at the
first execution with the order's id, wherever the path brings it: in the unary answer, on
the stream, or for rest+sse on one SSE stream of the account. Ctrl-C in the window ends it
early and prints what was measured.

The exit status is 0 where the runs ended by themselves (one that is not valid is a finding
and no failure), 1 where one failed, had no order acked or was interrupted, 2 for a wrong
flag.

Examples (in another terminal: tickgauge exchange --hold --reserve ORDERS --debug-addr
127.0.0.1:6060; what an exchange publishes beside would be in its CPU, which is then not
shown):
  tickgauge orders --symbol ORDERS --workers 64 --debug-target 127.0.0.1:6060
  tickgauge orders --path rest-unary --http 2 --encoding json --rate 1000
  tickgauge orders --path rest+sse --rate 500 --json orders.json
  tickgauge orders --preset hft`
}

// Run runs the trader as often as asked.
func (c *ordersCmd) Run() error {
	path, enc, err := c.check()
	if err != nil {
		return err
	}
	security, err := c.trust()
	if err != nil {
		return err
	}
	compress, err := c.compresses(path.name, path.compression, pathCompressions())
	if err != nil {
		return err
	}
	instrumentGC()
	ctx, interrupt, stop := interruptible()
	defer stop()
	if c.Symbol == "" {
		names, err := symbolsOf(ctx, c.Target, sideOf(path.overGRPC), security, path.listSymbols)
		if err != nil {
			return err
		}
		c.Symbol = names[0] // an exchange lists one at least
	}
	results := newResults()
	results.WarmupNS, results.DurationNS = int64(c.Warmup), int64(*c.Duration)
	if results.Calibration, err = c.calibrate(ctx, interrupt); err != nil {
		return err
	}
	var failed error
	for i := range *c.Runs {
		run, err := c.run(ctx, interrupt, path, pathOptions{encoding: enc, payloadBytes: *c.PayloadBytes, account: c.Account, tls: security, compress: compress}, i)
		if err != nil {
			if len(results.Orders) == 0 {
				return err
			}
			fmt.Fprintln(os.Stderr, "tickgauge:", err)
			failed = errShown
			break
		}
		results.Orders = append(results.Orders, run)
		if run.Interrupted {
			failed = errShown
			break
		}
		if run.Acked == 0 {
			failed = errShown // the run's reasons say why
			if run.Sent > 0 {
				failed = fmt.Errorf("none of %d orders was acked: %s", run.Sent, cmp.Or(run.FirstRejection, run.FirstFailure))
			}
			break
		}
	}
	if err := c.show(results); err != nil {
		return err
	}
	return failed
}

func (c *ordersCmd) run(ctx context.Context, interrupt <-chan struct{}, path *orderPath, dial pathOptions, i int) (*measure.Orders, error) {
	dialer, err := path.dialer(c.Target, dial)
	if err != nil {
		return nil, usageError{err}
	}
	quote, closeQuote, err := path.quoter(c.Target, dial.tls, c.Symbol)
	if err != nil {
		return nil, usageError{err}
	}
	defer closeQuote()
	name := cmp.Or(c.Label, path.name)
	if *c.Runs > 1 {
		name = fmt.Sprintf("%s, run %d of %d", name, i+1, *c.Runs)
	}
	progress := newProgress(os.Stderr, name)
	opts := trader.Options{
		Connections: c.Connections, Rate: c.Rate, Warmup: c.Warmup, Duration: *c.Duration, OrderTimeout: c.OrderTimeout,
		Account: c.Account, Report: progress.showOrders, ReportEvery: progress.every,
	}
	if c.DebugTarget != "" {
		control, err := fleet.NewControl(c.DebugTarget)
		if err != nil {
			return nil, usageError{err}
		}
		// Asked now, so that a wrong address costs no run.
		if _, err := control.Ledger(ctx, feed.Now()-2, feed.Now()-1); err != nil {
			return nil, fmt.Errorf("--debug-target %s: %w", c.DebugTarget, err)
		}
		opts.Ledger = control.Ledger
	}
	t, err := trader.New(dialer, c.Symbol, quote, *c.Workers, opts)
	if err != nil {
		return nil, usageError{err}
	}
	run, err := t.Run(ctx, interrupt)
	progress.end()
	if err != nil {
		var said *feed.Problem
		if errors.As(err, &said) || errors.Is(err, trader.ErrInterrupted) || ctx.Err() != nil {
			return nil, err
		}
		if wrong := explainTLS(ctx, c.Target, dial.tls, err); wrong != nil {
			return nil, wrong
		}
		return nil, fmt.Errorf("%w; is an exchange running, and is %s its %s address?", err, c.Target, sideOf(path.overGRPC).name)
	}
	run.Symbol, run.Account = c.Symbol, c.Account
	run.Path, run.HTTPVersion, run.Encoding, run.PayloadBytes = path.name, path.httpVersion, c.Encoding, *c.PayloadBytes
	run.TLS, run.Compression = dial.tls != nil, c.compressionName()
	run.StreamsBeside, run.StreamsTransport, run.Stamp = c.StreamsBeside, c.StreamsTransport, path.stamp
	return run, nil
}

func (c *ordersCmd) show(results *report.Results) error {
	if !c.NoTable {
		if err := report.WriteOrders(os.Stdout, results.Orders); err != nil {
			return err
		}
		if len(results.Orders) > 1 {
			fmt.Printf("\nmedians of %d runs\n", len(results.Orders))
			if err := report.WriteOrders(os.Stdout, []*measure.Orders{measure.MedianOrders(results.Orders)}); err != nil {
				return err
			}
		}
		if results.Calibration != nil {
			fmt.Println()
			if err := report.WriteMachine(os.Stdout, results.Calibration); err != nil {
				return err
			}
		}
	}
	if c.JSON == "" {
		return nil
	}
	return results.WriteFile(c.JSON)
}
