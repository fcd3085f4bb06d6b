package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// Wait is what a short wait takes here.
type Wait struct {
	// Mode is a service mode of the exchange, virtual or realtime, or sleep:
	// time.Sleep, by which many a mock waits.
	Mode     string             `json:"mode"`
	AskedNS  int64              `json:"asked_ns"`
	Took     *measure.Quantiles `json:"took_ns"`
	Reported *measure.Quantiles `json:"reported_ns"` // as service time; null for sleep
}

// Waiter waits as one service mode does. Open starts what it takes to wait for d;
// wait waits once and returns what was reported as waited in ns, 0 where nothing is.
// Close ends it and is called once.
type Waiter struct {
	Mode string
	Open func(ctx context.Context, d time.Duration) (wait func() (reportedNS int64, err error), closeWaiter func(), err error)
}

// The waits of the published handler: risk check and matching, and both.
var waitTimes = []time.Duration{40 * time.Microsecond, 100 * time.Microsecond}

const (
	waitTurns = 100
	waitWarm  = 5
)

func (c *Calibration) waits(ctx context.Context, opts *Options) error {
	sleep := Waiter{Mode: "sleep", Open: func(_ context.Context, d time.Duration) (func() (int64, error), func(), error) {
		return func() (int64, error) { time.Sleep(d); return 0, nil }, func() {}, nil
	}}
	for _, w := range append(opts.Waiters[:len(opts.Waiters):len(opts.Waiters)], sleep) {
		for _, d := range waitTimes {
			measured, err := waitOut(ctx, w, d)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", w.Mode, d, err)
			}
			c.Waits = append(c.Waits, measured)
		}
	}
	return nil
}

func waitOut(ctx context.Context, w Waiter, d time.Duration) (Wait, error) {
	m := Wait{Mode: w.Mode, AskedNS: int64(d)}
	wait, closeWaiter, err := w.Open(ctx, d)
	if err != nil {
		return m, err
	}
	defer closeWaiter()
	took, reported := measure.NewHistogram(), measure.NewHistogram()
	for i := range waitWarm + waitTurns {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		began := feed.Now()
		told, err := wait()
		if err != nil {
			return m, err
		}
		if i < waitWarm {
			continue
		}
		took.Record(feed.Now() - began)
		if told > 0 {
			reported.Record(told)
		}
	}
	m.Took, m.Reported = took.Quantiles(), reported.Quantiles()
	return m, nil
}
