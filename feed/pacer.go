package feed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// spinTail is what is spun of a wait, since a sleeping thread wakes late.
const spinTail = int64(200 * time.Microsecond)

// Pacer wakes waiters at absolute deadlines, on one thread: it sleeps to within
// 200 µs of the next deadline and spins the rest. First come is first served, so
// its waiters should all wait equally long. Any goroutine may call its methods.
type Pacer struct {
	waiting chan waiter
	cpuNS   atomic.Int64
	stopped chan struct{}
	stop    sync.Once
}

type waiter struct {
	deadline int64
	wake     func()
}

// NewPacer returns a pacer for at most limit waiters at once.
func NewPacer(limit int) *Pacer {
	return &Pacer{waiting: make(chan waiter, limit), stopped: make(chan struct{})}
}

// Wake has the pacer call wake, which must not block, once Now has reached
// deadline. It waits while the pacer has its limit of waiters. It reports false
// where the pacer has stopped; wake may then never be called, as where it stops later.
func (p *Pacer) Wake(deadline int64, wake func()) bool {
	select {
	case p.waiting <- waiter{deadline, wake}:
		return true
	case <-p.stopped:
		return false
	}
}

// Stopped is closed when Run has returned, after which nobody is woken.
func (p *Pacer) Stopped() <-chan struct{} { return p.stopped }

// Waiting returns how many wait behind the one that is being waited out.
func (p *Pacer) Waiting() int { return len(p.waiting) }

// CPU returns the CPU time in ns that the waiting has taken.
func (p *Pacer) CPU() int64 { return p.cpuNS.Load() }

// Run wakes the waiters and keeps one OS thread to itself. It returns nil when ctx
// is done.
func (p *Pacer) Run(ctx context.Context) error {
	defer p.stop.Do(func() { close(p.stopped) })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		var w waiter
		select {
		case <-ctx.Done():
			return nil
		case w = <-p.waiting:
		}
		if SleepUntil(ctx, w.deadline-spinTail) != nil {
			return nil
		}
		for Now() < w.deadline {
			continue // spinning is the point
		}
		w.wake()
		p.cpuNS.Store(ThreadCPU())
	}
}
