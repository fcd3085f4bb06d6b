// Package trader executes orders on one exchange over one path, in a closed or an
// open loop, and has every order's outcome measured.
package trader

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// Options are the choices of New; zero fields take what their comment says.
type Options struct {
	Connections  int           // that the workers share; 0: one per worker
	Rate         float64       // orders per second of an open loop; 0: a closed loop
	Warmup       time.Duration // before the window
	Duration     time.Duration // of the window; 0: 10 s
	OrderTimeout time.Duration // of one order; 0: 10 s
	Account      string        // empty: the exchange's first
	Qty          feed.Size     // of each order; 0: 1

	// Ledger asks the exchange what it used and counted in a window,
	// CLOCK_MONOTONIC; nil: it is not asked, and its CPU stays unknown.
	Ledger      func(ctx context.Context, fromNS, toNS int64) (*measure.Ledger, error)
	Report      func(Status)  // called now and then while the trader runs; may be nil
	ReportEvery time.Duration // 0: 1 s
}

const (
	defaultDuration     = 10 * time.Second
	defaultOrderTimeout = 10 * time.Second
	defaultQty          = feed.Size(100_000_000)
	// openers at once: enough to keep two cores busy, few enough for any backlog.
	openers = 64
	// startDelay lets the workers get ready.
	startDelay = 100 * time.Millisecond
	// drainGrace is how long the answers to the window's last orders are waited for.
	drainGrace = 5 * time.Second
	// quoteEvery is how old the touch that orders are sent at may be.
	quoteEvery = time.Second
)

// Status is what a running trader is doing.
type Status struct {
	measure.Phase // opening, warming up, measuring, waiting for answers, closing
	Progress      measure.OrderProgress
}

// Quote returns the newest tick of the symbol that is traded.
type Quote func(ctx context.Context) (feed.Tick, error)

// Trader is a number of workers that execute orders of one symbol: IOC at the
// touch, sides in turn. It is used once.
type Trader struct {
	dialer clients.OrderDialer
	symbol string
	quote  Quote
	opts   Options

	rec     *measure.OrderRecorder
	conns   []*connection
	workers []*worker
	ids     ids
	touch   atomic.Pointer[touch]
	jobs    chan measure.Sent // of the open loop
	stopped chan struct{}     // closed when no order is sent any more

	reopened, down atomic.Int64 // entries that broke and were opened again, or were not
	phases         measure.Phases
}

// touch is the best bid and ask.
type touch struct{ bid, ask feed.Price }

// New returns a trader of so many workers. It opens nothing yet. quote is asked at
// the start and once a second.
func New(dialer clients.OrderDialer, symbol string, quote Quote, workers int, opts Options) (*Trader, error) {
	switch {
	case workers <= 0:
		return nil, fmt.Errorf("trader of %d workers, want 1 or more", workers)
	case opts.Connections < 0 || opts.Connections > workers:
		return nil, fmt.Errorf("%d connections for %d workers, want 1 to %d", opts.Connections, workers, workers)
	case symbol == "":
		return nil, errors.New("no symbol to trade")
	case !(opts.Rate >= 0) || opts.Rate > 1e9 || opts.Warmup < 0 || opts.Duration < 0 || opts.OrderTimeout < 0 || opts.Qty < 0:
		return nil, errors.New("rate, warm-up, duration, timeout and quantity must not be negative, and the rate at most 1e9")
	}
	if opts.Connections == 0 {
		opts.Connections = workers
	}
	if opts.Duration == 0 {
		opts.Duration = defaultDuration
	}
	if opts.OrderTimeout == 0 {
		opts.OrderTimeout = defaultOrderTimeout
	}
	if opts.Qty == 0 {
		opts.Qty = defaultQty
	}
	if opts.ReportEvery == 0 {
		opts.ReportEvery = time.Second
	}
	t := &Trader{
		dialer: dialer, symbol: symbol, quote: quote, opts: opts,
		rec: measure.NewOrderRecorder(workers), ids: newIDs(),
		jobs: make(chan measure.Sent), stopped: make(chan struct{}),
	}
	for i := range opts.Connections {
		t.conns = append(t.conns, &connection{dialer: dialer, number: i})
	}
	for i := range workers {
		t.workers = append(t.workers, &worker{trader: t, number: i, conn: t.conns[i%opts.Connections]})
	}
	return t, nil
}

// ErrInterrupted is returned by Run when it was interrupted before its window
// began, so that there is nothing to show.
var ErrInterrupted = errors.New("interrupted before the window")

// Run opens the connections, sends orders through warm-up and window, waits for
// the last answers, closes all and returns the run. When interrupt is closed it
// ends the window early and returns what it has; when ctx is done it gives up. An
// error means that there is no run to show.
func (t *Trader) Run(ctx context.Context, interrupt <-chan struct{}) (*measure.Orders, error) {
	meter := measure.NewMeter(nil, nil)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background errgroup.Group
	background.Go(func() error { return meter.Run(ctx) })
	background.Go(func() error { return t.report(ctx) })
	defer func() { cancel(); _ = background.Wait() }() // none returns an error
	defer t.closeAll()

	t.phases.Begin("opening", 0)
	if err := t.refreshTouch(ctx); err != nil {
		return nil, err
	}
	if err := t.openAll(ctx, interrupt); err != nil {
		return nil, err
	}
	background.Go(func() error { return t.followTouch(ctx) })
	w, err := t.measureWindow(ctx, interrupt)
	if err != nil {
		return nil, err
	}
	process, _, _ := meter.Window(w.from, w.to)
	evidence := measure.OrderEvidence{Down: t.down.Load(), Due: w.due, TraderLag: w.lag, Interrupted: w.interrupted}
	if t.opts.Ledger != nil {
		if evidence.Ledger, err = t.opts.Ledger(ctx, w.from, w.to); err != nil {
			evidence.NoLedger = err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	run := &measure.Orders{Workers: len(t.workers), Rate: t.opts.Rate, Connections: len(t.conns), Reopened: t.reopened.Load()}
	run.Finish(t.rec, process, evidence)
	return run, nil
}

func (t *Trader) refreshTouch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.opts.OrderTimeout)
	defer cancel()
	tick, err := t.quote(ctx)
	if err != nil {
		return fmt.Errorf("quote of %s: %w", t.symbol, err)
	}
	if tick.BidPx <= 0 || tick.AskPx <= 0 {
		return fmt.Errorf("quote of %s: bid %s, ask %s: it wants both to be traded at the touch; choose another symbol", t.symbol, tick.BidPx, tick.AskPx)
	}
	t.touch.Store(&touch{bid: tick.BidPx, ask: tick.AskPx})
	return nil
}

// followTouch keeps the touch fresh; one that cannot be had leaves the last.
func (t *Trader) followTouch(ctx context.Context) error {
	ticker := time.NewTicker(quoteEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			_ = t.refreshTouch(ctx)
		}
	}
}
