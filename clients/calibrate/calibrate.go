// Package calibrate measures the machine that measures: what its clock, its wakers
// and its loopback take, what else it is busy with, and how much it carries. No
// figure of a transport can be finer than these.
package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// Calibration is what a machine can tell apart, as results.json has it. Times are in
// ns, shares from 0 to 1. A nil figure was not measured.
type Calibration struct {
	Started string `json:"started"` // RFC 3339
	TookNS  int64  `json:"took_ns"`

	Clock    Clock              `json:"clock"`
	Wakeup   Wakeup             `json:"wakeup"`
	Loopback *measure.Quantiles `json:"loopback_ns"` // round trips of one byte over TCP, one after the other
	Waits    []Wait             `json:"waits"`
	Noise    Noise              `json:"noise"`
	// Rates are in the long form alone.
	Rates []Rate `json:"rates"`
}

// Wakeup is how late the process gets to run when it wants to, as the lag of a fleet
// is measured. A run in which that is half of the latency p99 is not valid.
type Wakeup struct {
	Idle *measure.Quantiles `json:"idle_ns"`
	// Busy is with a spinning thread for each CPU beside.
	Busy *measure.Quantiles `json:"busy_ns"`
}

// Options are the choices of Measure; the zero value works, and takes 3 s.
type Options struct {
	// Idle, Busy and Spin are how long the idle machine is watched, wakers are with
	// all CPUs busy, and one thread spins; 0 takes 1 s, 500 ms and 500 ms.
	Idle, Busy, Spin time.Duration
	// Waiters wait as the service modes of an exchange do, time.Sleep aside, which
	// Measure adds.
	Waiters []Waiter
}

// Measure calibrates this machine. What else runs meanwhile is found as noise. It
// returns ctx's error when that is done, or what could not be measured. One call at
// a time.
func Measure(ctx context.Context, opts Options) (*Calibration, error) {
	for _, d := range []struct {
		of   *time.Duration
		zero time.Duration
	}{{&opts.Idle, time.Second}, {&opts.Busy, 500 * time.Millisecond}, {&opts.Spin, 500 * time.Millisecond}} {
		if *d.of < 0 {
			return nil, fmt.Errorf("calibrate: a phase of %s: want more than nothing", *d.of)
		}
		if *d.of == 0 {
			*d.of = d.zero
		}
	}
	c := &Calibration{Started: time.Now().UTC().Format(time.RFC3339)}
	began, before := feed.Now(), readStat()
	for _, part := range []struct {
		name    string
		measure func(context.Context, *Options) error
	}{
		{"the clock", c.clock}, {"an idle second", c.idle}, {"wake-ups beside busy CPUs", c.busy},
		{"a spinning thread", c.spin}, {"the loopback", c.loopback}, {"waits", c.waits},
	} {
		if err := part.measure(ctx, &opts); err != nil {
			return nil, fmt.Errorf("calibrate: %s: %w", part.name, err)
		}
	}
	c.Noise.StealShare = stealShare(before, readStat())
	c.TookNS = feed.Now() - began
	return c, nil
}

// Floor returns the least latency p99 in ns that a run on this machine can have and
// be valid: twice what its wakers are late when it is idle. It is 0 where that was
// not measured.
func (c *Calibration) Floor() int64 {
	if c.Wakeup.Idle == nil {
		return 0
	}
	return 2 * c.Wakeup.Idle.P99
}

// What more than these makes a machine noisy: it was not idle, or its host gave its
// processors to others.
const (
	mostOthers = 0.05
	mostSteal  = 0.01
)

// Noisy returns why figures of this machine, at this time, deserve doubt; empty where
// nothing was found.
func (c *Calibration) Noisy() string {
	switch {
	case c.Noise.OthersShare != nil && *c.Noise.OthersShare > mostOthers:
		return fmt.Sprintf("other processes used %.0f%% of the CPUs in a second that should have been idle", 100**c.Noise.OthersShare)
	case c.Noise.StealShare != nil && *c.Noise.StealShare > mostSteal:
		return fmt.Sprintf("%.1f%% of the CPU time was stolen by the host", 100**c.Noise.StealShare)
	}
	return ""
}
