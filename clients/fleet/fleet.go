package fleet

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
	Connections      int           // 0: one per stream
	SymbolsPerStream int           // 0: 1
	Policy           feed.Policy   // none: the exchange's choice
	Ramp             float64       // streams opened per second; 0: as fast as they open
	OpenTimeout      time.Duration // of one stream; 0: 30 s
	Warmup           time.Duration // before the window
	Duration         time.Duration // of the window; 0: 10 s
	Control          *Control      // nil: the exchange's columns stay empty
	Stamp            string        // where the receive stamp is taken
	Version          string        // of this program: that of the exchange must be the same; empty: any
	Measuring        func()        // called when the window has begun; may be nil
	Report           func(Status)  // called now and then while the fleet runs; may be nil
	ReportEvery      time.Duration // 0: 1 s
}

const (
	defaultDuration    = 10 * time.Second
	defaultOpenTimeout = 30 * time.Second
	// opening at once: enough to keep two cores busy, few enough for any backlog
	openers = 64
	// startDelay lets the exchange get ready between the order to start and the start.
	startDelay = 300 * time.Millisecond
	// lateGrace is how long the account waits for what is late.
	lateGrace = 5 * time.Second
)

// Status is what a running fleet is doing.
type Status struct {
	measure.Phase     // opening, warming up, measuring, waiting for late ticks, closing
	Streams       int // wanted
	Open          int
	Progress      measure.Progress
}

// Fleet is N subscribers of one exchange. It is used once.
type Fleet struct {
	dialer  clients.Dialer
	symbols []string
	streams int
	opts    Options
	place   Placement
	rec     *measure.Recorder
	conns   []connection
	opened  atomic.Int64
	phases  measure.Phases
}

// New returns a fleet of streams that subscribe to symbols. It opens nothing yet.
func New(dialer clients.Dialer, symbols []string, streams int, opts Options) (*Fleet, error) {
	switch {
	case streams <= 0:
		return nil, fmt.Errorf("fleet of %d streams, want 1 or more", streams)
	case opts.Connections < 0 || opts.Connections > streams:
		return nil, fmt.Errorf("%d connections for %d streams, want 1 to %d", opts.Connections, streams, streams)
	case len(symbols) == 0:
		return nil, errors.New("no symbols to subscribe to; the exchange lists none")
	case opts.SymbolsPerStream < 0 || opts.SymbolsPerStream > len(symbols):
		return nil, fmt.Errorf("%d symbols per stream, but the exchange lists %d", opts.SymbolsPerStream, len(symbols))
	case !(opts.Ramp >= 0) || opts.Warmup < 0 || opts.Duration < 0:
		return nil, errors.New("ramp, warm-up and duration must not be negative")
	}
	if opts.Connections == 0 {
		opts.Connections = streams
	}
	if opts.Duration == 0 {
		opts.Duration = defaultDuration
	}
	if opts.OpenTimeout == 0 {
		opts.OpenTimeout = defaultOpenTimeout
	}
	if opts.ReportEvery == 0 {
		opts.ReportEvery = time.Second
	}
	return &Fleet{
		dialer: dialer, symbols: symbols, streams: streams, opts: opts,
		place: Placement{Connections: opts.Connections, Symbols: len(symbols), SymbolsPerStream: opts.SymbolsPerStream},
		rec:   measure.NewRecorder(streams),
		conns: make([]connection, opts.Connections),
	}, nil
}

// Run opens the streams, measures the window, waits for what is late, closes the
// streams and returns the run. When interrupt is closed it ends the window early
// and returns what it has; when ctx is done it gives up. An error means that
// there is no run to show; a run with broken streams is a run, and not valid.
func (f *Fleet) Run(ctx context.Context, interrupt <-chan struct{}) (*measure.Run, error) {
	meter := measure.NewMeter(nil, nil)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background errgroup.Group
	background.Go(func() error { return meter.Run(ctx) })
	background.Go(func() error { return f.report(ctx) })
	defer func() { cancel(); _ = background.Wait() }() // neither returns an error
	defer f.closeAll()

	opened := feed.Now()
	f.phases.Begin("opening", 0)
	if err := f.openAll(ctx, interrupt); err != nil {
		return nil, fmt.Errorf("%d of %d streams open: %w", f.opened.Load(), f.streams, err)
	}
	openAll := feed.Now() - opened

	w, err := f.measureWindow(ctx, interrupt, meter)
	if err != nil {
		return nil, err
	}
	run := &measure.Run{Started: measure.Started(w.from), DurationNS: w.to - w.from, OpenAllNS: openAll, Stamp: f.opts.Stamp, Interrupted: w.interrupted}
	evidence := measure.Evidence{
		FleetLag: w.lag, Interrupted: w.interrupted, Streams: f.streams,
		Version: f.opts.Version, ExchangeVersion: f.rec.ExchangeVersion(),
	}
	process, _, _ := meter.Window(w.from, w.to)

	f.phases.Begin("waiting for late ticks", lateGrace)
	var due map[string]measure.SymbolDue
	if f.opts.Control != nil {
		ledger, err := f.opts.Control.Ledger(ctx, w.from, w.to)
		if err == nil && ledger.Epoch != "" && ledger.Epoch != f.rec.Epoch() {
			err = fmt.Errorf("the ledger is of another exchange: epoch %s, the streams' is %s", ledger.Epoch, f.rec.Epoch())
		}
		if err != nil {
			run.Reasons = append(run.Reasons, err.Error())
		} else {
			evidence.Ledger, due = ledger, ledger.BySymbol()
			run.Schedule = &ledger.Schedule
			if ledger.Injected == nil {
				f.awaitLate(ctx, due, w.to)
			} else if err := f.awaitFaults(ctx, ledger); err != nil {
				run.Reasons = append(run.Reasons, err.Error())
			}
			run.Injected = ledger.Injected
		}
	}
	if due == nil {
		evidence.Unproven = f.awaitProof(ctx, w.to)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	_, evidence.StreamsBroken, evidence.FirstBreak = f.rec.Streams()
	run.StreamsBroken = evidence.StreamsBroken
	f.phases.Begin("closing", 0)
	f.closeAll()
	evidence.Deliveries = f.rec.Finish(due)
	run.Fill(evidence.Deliveries)
	run.FillCosts(process, evidence.Ledger, f.streams)
	if w.lag != nil {
		run.FleetLag = &w.lag.Quantiles
	}
	lost := run.Reasons // the ledger could not be read
	run.Judge(evidence)
	if len(lost) > 0 {
		run.Valid = false
		run.Reasons = append(run.Reasons, lost...)
	}
	return run, nil
}

// awaitLate waits until every stream has its final sequences, for at most
// lateGrace after the window.
func (f *Fleet) awaitLate(ctx context.Context, due map[string]measure.SymbolDue, windowEnd int64) {
	final := make(map[string]uint64, len(due))
	for name, s := range due {
		final[name] = s.LastSeq
	}
	f.await(ctx, windowEnd, func() bool { return f.rec.Reached(final) })
}

// awaitFaults waits for all of lateGrace, since nobody knows which injected fault is the
// last, and puts those of late ticks into the ledger too.
func (f *Fleet) awaitFaults(ctx context.Context, l *measure.Ledger) error {
	f.await(ctx, l.ToNS, func() bool { return false })
	again, err := f.opts.Control.Ledger(ctx, l.FromNS, l.ToNS)
	if err != nil {
		return fmt.Errorf("ask again for injected faults: %w", err)
	}
	l.Injected = again.Injected
	return nil
}

// awaitProof waits, where no ledger tells the final sequences, until a later tick
// has come to every stream, for at most lateGrace, and returns to how many
// symbols of streams none did.
func (f *Fleet) awaitProof(ctx context.Context, windowEnd int64) int {
	f.await(ctx, windowEnd, func() bool { return f.rec.Unproven(windowEnd) == 0 })
	return f.rec.Unproven(windowEnd)
}

func (f *Fleet) await(ctx context.Context, windowEnd int64, done func() bool) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !done() && feed.Now() < windowEnd+int64(lateGrace) {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
