package calibrate

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// limit is a machine that holds rates up to one.
func limit(most float64) func(context.Context, float64) (Outcome, error) {
	return func(_ context.Context, rate float64) (Outcome, error) {
		if rate <= most {
			return Outcome{Held: true, Deliveries: 10 * rate}, nil
		}
		return Outcome{Reason: "too much"}, nil
	}
}

func TestClimb(t *testing.T) {
	for _, c := range []struct {
		name                     string
		most                     float64 // what the machine holds
		steps                    int
		lowest, highest          float64 // of Held
		failsAbove, failsAtMost  float64
		deliveries, reasonWanted bool
	}{
		{"between two rungs", 5000, 0, 4000, 4000, 5000, 8000, true, true},
		{"halved twice", 5000, 2, 4000, 5000, 5000, 8000 / 1.18 / 1.18, true, true},
		{"nothing holds", 500, 2, 0, 0, 500, 1000, false, true},
		{"all holds", 1e9, 2, 16000, 16000, 0, 0, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Climb(t.Context(), "it", 1000, 16000, c.steps, limit(c.most))
			if err != nil {
				t.Fatal(err)
			}
			if r.Held < c.lowest || r.Held > c.highest || r.FailedAt < c.failsAbove || r.FailedAt > c.failsAtMost {
				t.Errorf("%+v", r)
			}
			if (r.Deliveries == 10*r.Held && r.Held > 0) != c.deliveries || (r.Reason == "too much") != c.reasonWanted || r.Of != "it" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What failed once and held the next time held.
func TestClimbPassesOverAHiccup(t *testing.T) {
	tries := map[float64]int{}
	r, err := Climb(t.Context(), "it", 1000, 8000, 0, func(ctx context.Context, rate float64) (Outcome, error) {
		if tries[rate]++; rate == 2000 && tries[rate] == 1 {
			return Outcome{Reason: "hiccup"}, nil
		}
		return limit(4000)(ctx, rate)
	})
	if err != nil || r.Held != 4000 || r.FailedAt != 8000 || r.Tries != 1+2+1+2 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestClimbEnds(t *testing.T) {
	broken := errors.New("no exchange")
	_, err := Climb(t.Context(), "it", 1, 2, 0, func(context.Context, float64) (Outcome, error) { return Outcome{}, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "it at 1 ticks/s") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Climb(ctx, "it", 1, math.MaxFloat64, 0, func(context.Context, float64) (Outcome, error) { cancel(); return Outcome{Held: true}, nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, c := range [][2]float64{{0, 1}, {-1, 1}, {math.NaN(), 1}, {2, 1}, {1, math.Inf(1)}, {1, math.NaN()}} {
		if _, err := Climb(t.Context(), "it", c[0], c[1], 0, limit(1)); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}

func TestKept(t *testing.T) {
	good := func() *measure.Run {
		return &measure.Run{
			Valid: true, Due: 1000, Received: 1000, DurationNS: 2e9,
			PublishLag: &measure.Quantiles{P99: 1e5}, FleetLag: &measure.Quantiles{P99: 1e5},
		}
	}
	for _, c := range []struct {
		name   string
		change func(r *measure.Run)
		reason string // empty: kept
	}{
		{"good", func(*measure.Run) {}, ""},
		{"a hiccup of short latencies", func(r *measure.Run) { r.Valid, r.Reasons = false, []string{"the fleet was late"} }, ""},
		{"lags not known", func(r *measure.Run) { r.PublishLag, r.FleetLag = nil, nil }, ""},
		{"late publisher", func(r *measure.Run) { r.PublishLag.P99 = 6e6 }, "the publisher's lag p99 was 6ms"},
		{"late fleet", func(r *measure.Run) { r.FleetLag.P99 = 6e6 }, "the fleet's lag p99 was 6ms"},
		{"few came", func(r *measure.Run) { r.Received = 990 }, "only 990 of 1000"},
		{"nothing due", func(r *measure.Run) { r.Due, r.Received = 0, 0 }, "nothing was due"},
		{"saturated", func(r *measure.Run) { r.Saturated, r.Reasons = true, []string{"late", "saturated: 1% was dropped"} }, "saturated: 1% was dropped"},
		{"saturated without a word", func(r *measure.Run) { r.Saturated = true }, "saturated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			c.change(r)
			o, err := Kept(r)
			if err != nil || o.Held != (c.reason == "") || !strings.Contains(o.Reason, c.reason) || o.Deliveries != float64(r.Received)/2 {
				t.Errorf("%+v %v", o, err)
			}
		})
	}
	cut := good()
	cut.Interrupted = true
	if _, err := Kept(cut); err == nil {
		t.Error("an interrupted run has no outcome")
	}
}
