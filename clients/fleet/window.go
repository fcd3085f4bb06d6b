package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// window is the measured part of the run as it was in the end.
type window struct {
	from, to    int64
	lag         *measure.Lag
	interrupted bool
}

// measureWindow starts a held source, sets the recorder's window after the
// warm-up, and returns at its end, which the interrupt brings about early, and so
// does the last stream when it breaks.
func (f *Fleet) measureWindow(ctx context.Context, interrupt <-chan struct{}, meter *measure.Meter) (window, error) {
	start := feed.Now() + int64(startDelay)
	w := window{from: start + int64(f.opts.Warmup)}
	w.to = w.from + int64(f.opts.Duration)
	f.rec.SetWindow(w.from, w.to)
	if f.opts.Control != nil {
		held, err := f.opts.Control.Run(ctx, f.rec.Epoch(), start, w.to)
		if err != nil {
			return w, err
		}
		if held {
			meter.MarkIdle()
		}
	}
	probe := measure.NewProbe(w.from, w.to)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	probed := make(chan error, 1)
	go func() { probed <- probe.Run(stop) }()

	f.phases.Begin("warming up", time.Duration(w.from-feed.Now()))
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	measuring := false
	var cut, over bool // before its end, or at it
	for !cut && !over {
		select {
		case <-ctx.Done():
			cut = true
		case <-interrupt:
			w.interrupted, cut = true, true
		case err := <-probed:
			if err != nil && ctx.Err() == nil {
				return w, err
			}
			over = true
		case <-ticker.C:
			if now := feed.Now(); !measuring && now >= w.from {
				measuring = true
				f.phases.Begin("measuring", f.opts.Duration)
				if f.opts.Measuring != nil {
					f.opts.Measuring()
				}
			}
			// Nothing is left to measure once every stream is gone.
			cut = f.rec.Broken() == f.streams
		}
	}
	cancel()
	if !over {
		if err := <-probed; err != nil && !errors.Is(err, context.Canceled) {
			return w, err
		}
	}
	if ctx.Err() != nil {
		return w, context.Cause(ctx)
	}
	w.lag = probe.Lag()
	if cut {
		if err := f.endEarly(&w); err != nil {
			return w, err
		}
	}
	return w, sleepUntil(ctx, w.to) // what both processes used is asked for next
}

// endMargin is what an early end is put off by: ticks that are due later than
// the end must not have been counted already.
const endMargin = 50 * time.Millisecond

// endEarly moves the end of the window to about now. It is an error that there is
// no window yet.
func (f *Fleet) endEarly(w *window) error {
	now := feed.Now()
	if now < w.from {
		if _, broken, first := f.rec.Streams(); broken == f.streams {
			return fmt.Errorf("all %d streams broke before the window: %w", broken, first)
		}
		return ErrInterrupted
	}
	w.to = min(w.to, now+int64(endMargin))
	f.rec.SetWindow(w.from, w.to)
	return nil
}

func (f *Fleet) report(ctx context.Context) error {
	if f.opts.Report == nil {
		return nil
	}
	return f.phases.Report(ctx, f.opts.ReportEvery, func(p measure.Phase) {
		f.opts.Report(Status{Phase: p, Streams: f.streams, Open: int(f.opened.Load()), Progress: f.rec.Progress()})
	})
}
