package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// Rate is the highest rate at which a schedule was still kept here.
type Rate struct {
	// Of is publisher (an exchange with next to no subscribers) or the cell whose
	// exchange and fleet were tried.
	Of string `json:"of"`
	// Held is the highest rate that held, 0 where none did; FailedAt the lowest that
	// did not, 0 where none was reached. Ticks/s over all symbols.
	Held     float64 `json:"held"`
	FailedAt float64 `json:"failed_at"`
	// Deliveries is what the fleet received at Held, deliveries/s.
	Deliveries float64 `json:"deliveries"`
	Reason     string  `json:"reason"` // why FailedAt did not hold
	Tries      int     `json:"tries"`
}

// Outcome is what one try of a rate showed.
type Outcome struct {
	Held       bool
	Deliveries float64 // per second
	Reason     string  // where it did not hold
}

// Climb looks for the highest rate that holds: it doubles from start on until one
// fails twice in a row or most is passed, and then halves the gap between them, on
// the scale of logarithms, so often as steps says. Try runs a rate; its error ends
// the search.
func Climb(ctx context.Context, of string, start, most float64, steps int, try func(ctx context.Context, rate float64) (Outcome, error)) (*Rate, error) {
	if !(start > 0) || !(most >= start) || math.IsInf(most, 1) {
		return nil, fmt.Errorf("calibrate: rates from %g to %g: want a positive one and one not below", start, most)
	}
	r := &Rate{Of: of}
	attempt := func(rate float64) (bool, error) {
		var o Outcome
		for range 2 { // what a hiccup of the machine did once is no limit of it
			if err := ctx.Err(); err != nil {
				return false, err
			}
			var err error
			if o, err = try(ctx, rate); err != nil {
				return false, fmt.Errorf("calibrate: %s at %g ticks/s: %w", of, rate, err)
			}
			if r.Tries++; o.Held {
				r.Held, r.Deliveries = rate, o.Deliveries
				return true, nil
			}
		}
		r.FailedAt, r.Reason = rate, o.Reason
		return false, nil
	}
	for rate := start; rate <= most; rate *= 2 {
		held, err := attempt(rate)
		if err != nil {
			return nil, err
		}
		if !held {
			break
		}
	}
	if r.Held == 0 || r.FailedAt == 0 {
		return r, nil
	}
	for range steps {
		if _, err := attempt(math.Round(math.Sqrt(r.Held * r.FailedAt))); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// mostLag is how late publisher and fleet may be at the 99th percentile and be said to
// keep their schedule. It is absolute: whether a run is valid depends on how short its
// latencies are too, and at low rates they are short enough for a hiccup to spoil one.
const mostLag = int64(5 * time.Millisecond)

// Kept says whether a run's schedule was kept: at least 99.5% of what was due came,
// the run was not saturated, and publisher and fleet were at most 5 ms late at the 99th
// percentile.
func Kept(r *measure.Run) (Outcome, error) {
	var o Outcome
	if r.Interrupted {
		return o, errors.New("interrupted")
	}
	if r.DurationNS > 0 {
		o.Deliveries = float64(r.Received) / time.Duration(r.DurationNS).Seconds()
	}
	switch {
	case r.Due == 0:
		o.Reason = "nothing was due"
	case float64(r.Received) < 0.995*float64(r.Due):
		o.Reason = fmt.Sprintf("only %d of %d deliveries came", r.Received, r.Due)
	case r.Saturated:
		o.Reason = saturation(r.Reasons)
	case r.PublishLag != nil && r.PublishLag.P99 > mostLag:
		o.Reason = fmt.Sprintf("the publisher's lag p99 was %s", time.Duration(r.PublishLag.P99).Round(10*time.Microsecond))
	case r.FleetLag != nil && r.FleetLag.P99 > mostLag:
		o.Reason = fmt.Sprintf("the fleet's lag p99 was %s", time.Duration(r.FleetLag.P99).Round(10*time.Microsecond))
	default:
		o.Held = true
	}
	return o, nil
}

// saturation is the reason that says so.
func saturation(reasons []string) string {
	for _, why := range reasons {
		if strings.HasPrefix(why, "saturated") {
			return why
		}
	}
	return "saturated"
}
