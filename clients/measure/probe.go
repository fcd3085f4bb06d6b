package measure

import (
	"context"
	"runtime"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// probeInterval is how often a Probe wants to run.
const probeInterval = 10 * time.Millisecond

// Probe measures how late this process gets to run: it wakes at fixed times on
// its own schedule, as the readers of the streams do when bytes arrive. What it
// is late, they are too.
type Probe struct {
	fromNS, toNS int64
	lags         []int64
}

// NewProbe returns a probe of the window [fromNS, toNS), CLOCK_MONOTONIC.
func NewProbe(fromNS, toNS int64) *Probe {
	return &Probe{fromNS: fromNS, toNS: toNS, lags: make([]int64, 0, (toNS-fromNS)/int64(probeInterval)+1)}
}

// Run probes until the window ends or ctx is done, whose error it returns.
func (p *Probe) Run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for at := p.fromNS; at < p.toNS; at += int64(probeInterval) {
		if err := feed.SleepUntil(ctx, at); err != nil {
			return err
		}
		p.lags = append(p.lags, feed.Now()-at)
	}
	return nil
}

// Lag returns what was measured, after Run has returned.
func (p *Probe) Lag() *Lag { return LagOf(p.lags) }
