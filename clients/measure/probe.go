package measure

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// probeInterval is how often a Probe wants to run; in windows of over ten minutes
// less often.
const probeInterval = 10 * time.Millisecond

const maxProbes = int64(10 * time.Minute / probeInterval)

// Probe measures how late this process gets to run: whether its system gave it a
// processor, and its runtime did not stop the world. It wants to wake once in
// each interval, at a time that nothing else is in step with. Two wakers share
// each time and the first one counts: a thread in clock_nanosleep, which a busy
// Go scheduler makes wait behind other goroutines, and a timer, which an idle
// one rounds to the millisecond. What both are late, no reader could be earlier;
// what readers wait for each other is in the latencies, where it belongs.
type Probe struct {
	deadlines []int64
	woken     []atomic.Int64 // the first time awake; 0: not yet
}

// NewProbe returns a probe of the window [fromNS, toNS), CLOCK_MONOTONIC.
func NewProbe(fromNS, toNS int64) *Probe {
	p := &Probe{}
	interval := max(int64(probeInterval), (toNS-fromNS)/maxProbes)
	for at := fromNS; at < toNS; at += interval {
		p.deadlines = append(p.deadlines, at+rand.Int64N(min(interval, toNS-at)))
	}
	p.woken = make([]atomic.Int64, len(p.deadlines))
	return p
}

// Run probes until the window ends or ctx is done, whose error it returns.
func (p *Probe) Run(ctx context.Context) error {
	timer := make(chan error, 1)
	go func() { timer <- p.wake(ctx, timerUntil) }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return errors.Join(p.wake(ctx, feed.SleepUntil), <-timer)
}

func (p *Probe) wake(ctx context.Context, until func(context.Context, int64) error) error {
	for i, at := range p.deadlines {
		if err := until(ctx, at); err != nil {
			return err
		}
		p.woken[i].CompareAndSwap(0, feed.Now())
	}
	return nil
}

func timerUntil(ctx context.Context, deadline int64) error {
	for wait := deadline - feed.Now(); wait > 0; wait = deadline - feed.Now() {
		timer := time.NewTimer(time.Duration(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
	return ctx.Err()
}

// Lag returns what was measured, after Run has returned; nil where it ended
// before the first time to wake.
func (p *Probe) Lag() *Lag {
	var lags []int64
	for i, at := range p.deadlines {
		if woken := p.woken[i].Load(); woken != 0 {
			lags = append(lags, woken-at)
		}
	}
	return LagOf(lags)
}
