// Package fault makes an exchange misbehave as told, and counts what it did, so that
// the account of whoever measures it can be compared with a known answer.
package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Forms are the faults that Parse reads, one of each.
const Forms = "delay=200us, loss=1e-4, duplicate=1e-4, reorder=1e-4 or stall=1s@10s"

// The bounds of what may be injected: fleets wait 5 s for late ticks.
const (
	MaxDelay = time.Second
	MaxStall = time.Minute
)

// Options say what goes wrong; the zero value injects nothing. The rates are the
// share of the scheduled live ticks of each stream, and one tick has one of the three.
type Options struct {
	Seed      uint64        // same seed, same ticks, same number of streams: same faults
	Delay     time.Duration // each tick leaves so much after it would have
	Loss      float64       // not written, and nothing is said of it
	Duplicate float64       // written twice, one after the other
	Reorder   float64       // written after the next tick of its symbol
	Stalls    []Planned     // no tick leaves on any stream
}

// Planned is a stall: after At from the start of the schedule, for Length, once.
type Planned struct{ At, Length time.Duration }

// Parse reads faults in the words of Forms. All but stalls may be given once; the
// error names the forms.
func Parse(faults []string) (Options, error) {
	var o Options
	given := make(map[string]bool)
	for _, text := range faults {
		kind, value, _ := strings.Cut(text, "=")
		if given[kind] && kind != "stall" {
			return Options{}, fmt.Errorf("fault %q: %s is given twice; give it once", text, kind)
		}
		given[kind] = true
		var err error
		switch kind {
		case "delay":
			o.Delay, err = duration(value, 1, MaxDelay)
		case "loss":
			o.Loss, err = rate(value)
		case "duplicate":
			o.Duplicate, err = rate(value)
		case "reorder":
			o.Reorder, err = rate(value)
		case "stall":
			err = o.stall(value)
		default:
			err = fmt.Errorf("no fault has that name")
		}
		if err != nil {
			return Options{}, fmt.Errorf("fault %q: %w; want %s", text, err, Forms)
		}
	}
	return o, o.check()
}

func (o *Options) stall(value string) error {
	length, at, found := strings.Cut(value, "@")
	if !found {
		return fmt.Errorf("%q has no @", value)
	}
	var p Planned
	var err error
	if p.Length, err = duration(length, 1, MaxStall); err != nil {
		return err
	}
	if p.At, err = duration(at, 0, 7*24*time.Hour); err != nil {
		return err
	}
	o.Stalls = append(o.Stalls, p)
	return nil
}

func (o *Options) check() error {
	for name, v := range map[string]float64{"loss": o.Loss, "duplicate": o.Duplicate, "reorder": o.Reorder} {
		if !(v >= 0 && v <= 1) { // NaN too
			return fmt.Errorf("faults: %s is %v, want a rate of 0 to 1", name, v)
		}
	}
	if sum := o.Loss + o.Duplicate + o.Reorder; sum > 1 {
		return fmt.Errorf("faults: loss, duplicate and reorder come to %v of all ticks, want at most 1 together", sum)
	}
	if o.Delay < 0 || o.Delay > MaxDelay {
		return fmt.Errorf("faults: delay is %s, want 0 to %s", o.Delay, MaxDelay)
	}
	if slices.ContainsFunc(o.Stalls, func(p Planned) bool { return p.At < 0 || p.Length <= 0 || p.Length > MaxStall }) {
		return fmt.Errorf("faults: stalls are %v, want lengths of up to %s, not before the start", o.Stalls, MaxStall)
	}
	return nil
}

func duration(text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%q is no duration of %s to %s", text, least, most)
	}
	return d, nil
}

func rate(text string) (float64, error) {
	r, err := strconv.ParseFloat(text, 64)
	if err != nil || !(r > 0 && r <= 1) {
		return 0, fmt.Errorf("%q is no share of the ticks, more than 0 and at most 1", text)
	}
	return r, nil
}
