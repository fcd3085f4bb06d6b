package fleet

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
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
// warm-up, and waits for its end, the interrupt, or the last stream to break.
func (f *Fleet) measureWindow(ctx context.Context, interrupt <-chan struct{}) (window, error) {
	start := feed.Now() + int64(startDelay)
	w := window{from: start + int64(f.opts.Warmup)}
	w.to = w.from + int64(f.opts.Duration)
	f.rec.SetWindow(w.from, w.to)
	if f.opts.Control != nil {
		if _, err := f.opts.Control.Run(ctx, start, w.to); err != nil {
			return w, err
		}
	}
	probe := measure.NewProbe(w.from, w.to)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	probed := make(chan error, 1)
	go func() { probed <- probe.Run(stop) }()

	f.status.phase("warming up", time.Duration(w.from-feed.Now()))
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	measuring := false
	for end := false; !end; {
		select {
		case <-ctx.Done():
			cancel()
			<-probed
			return w, context.Cause(ctx)
		case <-interrupt:
			w.interrupted, end = true, true
		case err := <-probed: // the window is over
			if err != nil {
				return w, err
			}
			probed <- nil
			end = true
		case <-ticker.C:
			if now := feed.Now(); !measuring && now >= w.from {
				measuring = true
				f.status.phase("measuring", f.opts.Duration)
			}
			// Nothing is left to measure once every stream is gone.
			if f.rec.Broken() == f.streams {
				w.interrupted, end = true, true
			}
		}
	}
	cancel()
	if err := <-probed; err != nil && !errors.Is(err, context.Canceled) {
		return w, err
	}
	w.lag = probe.Lag()
	if now := feed.Now(); w.interrupted && now < w.to {
		w.to = max(now, w.from+1)
		f.rec.SetWindow(w.from, w.to)
	}
	return w, nil
}

// status is what the reporter reads.
type status struct {
	opened atomic.Int64

	mu     sync.Mutex
	name   string
	began  int64
	length time.Duration
}

func (s *status) phase(name string, length time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name, s.began, s.length = name, feed.Now(), length
}

func (f *Fleet) report(ctx context.Context) error {
	if f.opts.Report == nil {
		return nil
	}
	ticker := time.NewTicker(f.opts.ReportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		f.status.mu.Lock()
		st := Status{
			Phase: f.status.name, Streams: f.streams, Open: int(f.status.opened.Load()),
			Elapsed: time.Duration(feed.Now() - f.status.began), Length: f.status.length,
			Progress: f.rec.Progress(),
		}
		f.status.mu.Unlock()
		f.opts.Report(st)
	}
}
