package calibrate

import (
	"context"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
)

// Clock is the clock that all stamps are read from, CLOCK_MONOTONIC.
type Clock struct {
	// StepNS is the smallest step between two readings that differ: the clock's
	// resolution, or what a reading takes where that is more.
	StepNS int64 `json:"step_ns"`
	// ReadNS is what one reading takes, the median of batches.
	ReadNS float64 `json:"read_ns"`
}

const (
	clockBatches = 101
	clockReads   = 1000 // of a batch
)

func (c *Calibration) clock(ctx context.Context, _ *Options) error {
	costs := make([]float64, 0, clockBatches)
	step := int64(0)
	for range clockBatches {
		began := feed.Now()
		last := began
		for range clockReads {
			now := feed.Now()
			if d := now - last; d > 0 && (step == 0 || d < step) {
				step = d
			}
			last = now
		}
		costs = append(costs, float64(last-began)/clockReads)
	}
	slices.Sort(costs)
	c.Clock = Clock{StepNS: step, ReadNS: costs[clockBatches/2]}
	return ctx.Err()
}
