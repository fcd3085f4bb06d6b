package desk

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// Service is what an order waits in simulated service (a risk check, say) before
// it matches. Each order waits by itself; they do not queue for it.
type Service struct {
	Time time.Duration
	// Realtime waits it out and reports what was really waited; otherwise an order
	// goes on at once and reports Time.
	Realtime bool
}

// MaxServiceTime bounds Service.Time, so that a desk closes in time.
const MaxServiceTime = time.Second

// spinTail is what is spun of a wait, since a sleeping thread wakes late.
const spinTail = int64(200 * time.Microsecond)

// maxWaiting bounds the orders that wait at once.
const maxWaiting = 1 << 16

// pacer wakes orders at absolute deadlines. As all wait equally long, first come
// is first served.
type pacer struct {
	service Service
	waiting chan waiter
	cpuNS   atomic.Int64
	stopped chan struct{}
	once    sync.Once
}

type waiter struct {
	deadline int64
	wake     chan struct{}
}

func newPacer(s Service) (*pacer, error) {
	if s.Time < 0 || s.Time > MaxServiceTime {
		return nil, fmt.Errorf("service time %s: want 0 to %s", s.Time, MaxServiceTime)
	}
	return &pacer{service: s, waiting: make(chan waiter, maxWaiting), stopped: make(chan struct{})}, nil
}

// serve waits, where the service is real, and returns what to report in ns.
func (p *pacer) serve() int64 {
	if !p.service.Realtime || p.service.Time == 0 {
		return int64(p.service.Time)
	}
	began := feed.Now()
	w := waiter{deadline: began + int64(p.service.Time), wake: make(chan struct{})}
	select {
	case p.waiting <- w:
	case <-p.stopped:
		return feed.Now() - began
	}
	select {
	case <-w.wake:
	case <-p.stopped:
	}
	return feed.Now() - began
}

// run keeps one thread: it sleeps to within spinTail of the next deadline and
// spins the rest.
func (p *pacer) run(ctx context.Context) error {
	defer p.once.Do(func() { close(p.stopped) })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		var w waiter
		select {
		case <-ctx.Done():
			return nil
		case w = <-p.waiting:
		}
		if feed.SleepUntil(ctx, w.deadline-spinTail) != nil {
			return nil
		}
		for feed.Now() < w.deadline {
			continue // spinning is the point
		}
		close(w.wake)
		p.cpuNS.Store(feed.ThreadCPU())
	}
}

// PacerCPU returns the CPU time in ns that waiting out the service times took, to
// be kept apart from that of orders.
func (d *Desk) PacerCPU() int64 { return d.pacer.cpuNS.Load() }
