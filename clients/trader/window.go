package trader

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// openAll opens an entry for every worker, or returns the first error.
func (t *Trader) openAll(ctx context.Context, interrupt <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-interrupt:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	})
	defer func() { cancel(nil); watch.Wait() }()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(openers)
	for _, w := range t.workers {
		g.Go(func() error {
			octx, cancel := context.WithTimeout(gctx, t.opts.OrderTimeout)
			defer cancel()
			began := feed.Now()
			e, err := w.conn.open(octx)
			if err != nil {
				return err
			}
			t.rec.Connected(w.number, feed.Now()-began)
			w.entry = e
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx) // what was given up says less
		}
		return err
	}
	return nil
}

func (t *Trader) closeAll() {
	var g errgroup.Group
	g.SetLimit(openers)
	for _, w := range t.workers {
		w.close()
	}
	for _, c := range t.conns {
		g.Go(func() error { c.close(); return nil })
	}
	_ = g.Wait()
}

// window is the measured part of the run as it was in the end.
type window struct {
	from, to    int64
	due         int64 // orders of the open loop
	lag         *measure.Lag
	interrupted bool
}

// endMargin is what an early end is put off by: orders later than the end must not
// have been counted already.
const endMargin = 50 * time.Millisecond

// measureWindow sends orders until the end of the window, which the interrupt
// brings about early, and returns when all have their outcome.
func (t *Trader) measureWindow(ctx context.Context, interrupt <-chan struct{}) (window, error) {
	start := feed.Now() + int64(startDelay)
	w := window{from: start + int64(t.opts.Warmup)}
	w.to = w.from + int64(t.opts.Duration)
	t.rec.SetWindow(w.from, w.to)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	probe := measure.NewProbe(w.from, w.to)
	pacing, stopPacing := context.WithCancel(ctx)
	defer stopPacing()
	probed := make(chan error, 1)
	go func() { probed <- probe.Run(pacing) }()
	var running, watching sync.WaitGroup
	paced := make(chan struct{})
	running.Go(func() {
		defer close(paced)
		if t.opts.Rate > 0 {
			t.pace(pacing, start, w.to)
		}
	})
	for _, worker := range t.workers {
		running.Go(func() { worker.run(ctx) })
	}
	watching.Go(func() { t.watchdog(ctx) })

	t.phases.Begin("warming up", time.Duration(w.from-feed.Now()))
	timer := time.NewTimer(time.Duration(w.from - feed.Now()))
	defer timer.Stop()
	var err error
	for measuring := false; ; {
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-interrupt:
			w.interrupted = true
			if now := feed.Now(); now < w.from {
				err = ErrInterrupted
			} else {
				w.to = min(w.to, now+int64(endMargin))
				t.rec.SetWindow(w.from, w.to)
			}
		case <-timer.C:
			if !measuring {
				measuring = true
				t.phases.Begin("measuring", t.opts.Duration)
				timer.Reset(time.Duration(w.to - feed.Now()))
				continue
			}
		}
		break
	}
	if wait := time.Duration(w.to - feed.Now()); err == nil && wait > 0 { // after an interrupt
		<-time.After(wait)
	}
	if err == nil && !w.interrupted {
		t.awaitPaced(ctx, paced)
	}
	close(t.stopped)
	stopPacing()
	t.phases.Begin("waiting for answers", drainGrace)
	drained := time.AfterFunc(drainGrace, func() { cancel(errDrained) })
	if err != nil {
		cancel(err)
	}
	running.Wait()
	drained.Stop()
	cancel(nil)
	watching.Wait()
	if e := <-probed; err == nil && e != nil && !errors.Is(e, context.Canceled) {
		err = e
	}
	w.lag, w.due = probe.Lag(), t.dueBefore(start, w.from, w.to)
	t.phases.Begin("closing", 0)
	return w, err
}

// lateGrace is how long after the window orders that were due in it are still sent.
const lateGrace = time.Second

func (t *Trader) awaitPaced(ctx context.Context, paced <-chan struct{}) {
	timer := time.NewTimer(lateGrace)
	defer timer.Stop()
	select {
	case <-paced:
	case <-timer.C:
	case <-ctx.Done():
	}
}

var errDrained = errors.New("no answer within 5 s of the end of the window")

// dueBefore is how many orders of the open loop are due in the window.
func (t *Trader) dueBefore(start, from, to int64) (n int64) {
	if t.opts.Rate == 0 {
		return 0
	}
	// The first index at or after a time is the number of those before it.
	first := func(ns int64) int64 {
		i := int64(float64(ns-start) / 1e9 * t.opts.Rate)
		for i = max(0, i-1); t.dueAt(start, i) < ns; i++ {
			continue
		}
		return i
	}
	return first(to) - first(from)
}

// dueAt is when order i of the open loop is due.
func (t *Trader) dueAt(start, i int64) int64 {
	return start + int64(float64(i)*1e9/t.opts.Rate)
}

// pace hands each order to a free worker when it is due. Where none is free it
// waits, and what is due meanwhile goes out late: latency counts from the due time.
func (t *Trader) pace(ctx context.Context, start, to int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var blockedUntil int64
	for i := int64(0); ; i++ {
		o := measure.Sent{AtNS: t.dueAt(start, i)}
		o.Waited = o.AtNS < blockedUntil // behind one that waited
		if o.AtNS >= to || feed.SleepUntil(ctx, o.AtNS) != nil {
			return
		}
		select {
		case t.jobs <- o:
			continue
		default:
		}
		o.Waited = true
		select {
		case t.jobs <- o:
			blockedUntil = feed.Now()
		case <-ctx.Done():
			return
		}
	}
}

// watchdog ends orders that take too long.
func (t *Trader) watchdog(ctx context.Context) {
	ticker := time.NewTicker(max(min(100*time.Millisecond, t.opts.OrderTimeout/2), time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		before := feed.Now() - int64(t.opts.OrderTimeout)
		for _, w := range t.workers {
			w.expire(before, t.opts.OrderTimeout)
		}
	}
}

func (t *Trader) report(ctx context.Context) error {
	if t.opts.Report == nil {
		return nil
	}
	return t.phases.Report(ctx, t.opts.ReportEvery, func(p measure.Phase) {
		t.opts.Report(Status{Phase: p, Progress: t.rec.Progress()})
	})
}
