package calibrate

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// idle watches wakers and the work of others while this process does nothing else.
func (c *Calibration) idle(ctx context.Context, opts *Options) error {
	before, own, began := readStat(), processCPU(), feed.Now()
	lag, err := wakeups(ctx, opts.Idle)
	if err != nil {
		return err
	}
	c.Wakeup.Idle = lag
	c.Noise.OthersShare = othersShare(before, readStat(), processCPU()-own, feed.Now()-began)
	return nil
}

// busy has wakers compete with a spinning thread for each CPU.
func (c *Calibration) busy(ctx context.Context, opts *Options) error {
	cpus := runtime.NumCPU()
	// The runtime gets processors for the wakers too, so that they wait for the
	// system's scheduler and not for Go's, which shares a processor by 10 ms.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2*cpus + 1))
	var over atomic.Bool
	var spinning sync.WaitGroup
	for range cpus {
		spinning.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for !over.Load() {
				continue // the load
			}
		})
	}
	lag, err := wakeups(ctx, opts.Busy)
	over.Store(true)
	spinning.Wait()
	c.Wakeup.Busy = lag
	return err
}

func wakeups(ctx context.Context, during time.Duration) (*measure.Quantiles, error) {
	from := feed.Now()
	p := measure.NewProbe(from, from+int64(during))
	if err := p.Run(ctx); err != nil {
		return nil, err
	}
	lag := p.Lag()
	if lag == nil {
		return nil, nil
	}
	return &lag.Quantiles, nil
}
