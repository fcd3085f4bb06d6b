package fault

import (
	"context"
	"sync/atomic"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/streams"
)

// maxPaced bounds the wake-ups that delays wait for at once.
const maxPaced = 1 << 16

// Injector injects the faults of one exchange. Its methods may be called from any
// goroutine.
type Injector struct {
	opts    Options
	pacer   *feed.Pacer
	ledger  *ledger
	startNS atomic.Int64 // of the schedule; 0: not started
}

// New returns an injector. Options out of range are an error.
func New(opts Options) (*Injector, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	return &Injector{opts: opts, pacer: feed.NewPacer(maxPaced), ledger: newLedger(maxEntries)}, nil
}

// Run waits the delays out, on a thread of its own, until ctx is done. It returns nil,
// at once where nothing is delayed. Until it runs, and once it has returned, delayed
// ticks stay where they are.
func (in *Injector) Run(ctx context.Context) error {
	if in.opts.Delay == 0 {
		return nil
	}
	return in.pacer.Run(ctx)
}

// Start says when the schedule starts, CLOCK_MONOTONIC: stalls count from there.
func (in *Injector) Start(startNS int64) { in.startNS.Store(startNS) }

// PacerCPU returns the CPU time in ns that waiting out the delays has taken.
func (in *Injector) PacerCPU() int64 { return in.pacer.CPU() }

// Queue stands before the subscription of a new stream; it is streams.Options.Faults.
func (in *Injector) Queue(sub *feed.Subscription, closing <-chan struct{}) streams.Queue {
	return &line{in: in, sub: sub, closing: closing, wake: sub.Wake, symbols: make(map[string]*symbol, 1)}
}

// Window returns what was injected into ticks due in [fromNS, toNS), CLOCK_MONOTONIC,
// so far: ticks that wait to be written may still get their faults. A window that is
// too old or too full to be known whole is an error.
func (in *Injector) Window(fromNS, toNS int64) (Window, error) {
	w, err := in.ledger.window(fromNS, toNS)
	if err != nil {
		return w, err
	}
	for _, p := range in.opts.Stalls {
		if s, ok := in.stall(p); ok && s.StartNS < toNS && s.StartNS+s.LengthNS > fromNS {
			w.Stalls = append(w.Stalls, s)
		}
	}
	return w, nil
}

func (in *Injector) stall(p Planned) (Stall, bool) {
	start := in.startNS.Load()
	return Stall{start + int64(p.At), int64(p.Length)}, start != 0
}

// stalledUntil returns the end of a stall that now lies in, 0 where there is none.
func (in *Injector) stalledUntil(now int64) int64 {
	for _, p := range in.opts.Stalls {
		if s, ok := in.stall(p); ok && now >= s.StartNS && now < s.StartNS+s.LengthNS {
			return s.StartNS + s.LengthNS
		}
	}
	return 0
}
