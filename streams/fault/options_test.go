package fault

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		faults string
		want   Options
	}{
		{"", Options{}},
		{"delay=200us", Options{Delay: 200 * time.Microsecond}},
		{"loss=1e-4 duplicate=0.5 reorder=.25", Options{Loss: 1e-4, Duplicate: 0.5, Reorder: 0.25}},
		{"stall=1s@10s stall=5ms@0s", Options{Stalls: []Planned{{At: 10 * time.Second, Length: time.Second}, {Length: 5 * time.Millisecond}}}},
		{"loss=1 delay=1s stall=1m@168h", Options{Loss: 1, Delay: MaxDelay, Stalls: []Planned{{At: 168 * time.Hour, Length: MaxStall}}}},
	} {
		if got, err := Parse(strings.Fields(c.faults)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v; want %+v", c.faults, got, err, c.want)
		}
	}
	for _, faults := range []string{
		"", "delay", "delay=", "delay=5", "delay=-1us", "delay=0s", "delay=1.1s", "loss=0", "loss=-1", "loss=1.1", "loss=NaN", "loss=1%", "loss=1e-4=2",
		"duplicate=x", "reorder=+Inf", "stall=1s", "stall=1s@", "stall=@1s", "stall=0s@1s", "stall=61s@1s", "stall=1s@-1s", "stall=1s@1s@1s", "latency=1s", "Loss=1",
	} {
		if got, err := Parse([]string{faults}); err == nil || !strings.Contains(err.Error(), Forms) {
			t.Errorf("%q: %+v, %v; want the forms", faults, got, err)
		}
	}
	for faults, say := range map[string]string{"loss=0.1 loss=0.2": "given twice", "loss=0.5 duplicate=0.6": "at most 1 together"} {
		if _, err := Parse(strings.Fields(faults)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %q", faults, err, say)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{
		{Delay: -1}, {Delay: MaxDelay + 1}, {Loss: -0.1}, {Loss: math.NaN()}, {Duplicate: 2}, {Reorder: -1}, {Loss: 0.6, Reorder: 0.6},
		{Stalls: []Planned{{}}}, {Stalls: []Planned{{At: -1, Length: 1}}}, {Stalls: []Planned{{Length: MaxStall + 1}}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestChooseKeepsItsRates within six standard deviations, whatever the keys.
func TestChooseKeepsItsRates(t *testing.T) {
	const n = 1 << 20
	o := Options{Loss: 1e-3, Duplicate: 1e-2, Reorder: 0.2}
	for _, k := range []uint64{0, 1, key(1, 0, "SYM001"), key(1, 1, "SYM001"), key(2, 0, "SYM001")} {
		var got [5]int
		for seq := range uint64(n) {
			got[o.choose(k, seq)]++
		}
		for kind, rate := range map[kind]float64{lost: o.Loss, duplicated: o.Duplicate, reordered: o.Reorder} {
			want, sigma := rate*n, math.Sqrt(n*rate*(1-rate))
			if math.Abs(float64(got[kind])-want) > 6*sigma {
				t.Errorf("key %d, kind %d: %d of %d, want %.0f", k, kind, got[kind], n, want)
			}
		}
	}
	for seq := range uint64(1000) {
		if (&Options{}).choose(5, seq) != none || (&Options{Loss: 1}).choose(5, seq) != lost {
			t.Fatal("a rate of 0 or 1 is not kept")
		}
	}
}

// TestKeysDiffer: another seed, symbol or subscription has other choices.
func TestKeysDiffer(t *testing.T) {
	seen := make(map[uint64]bool)
	for seed := range uint64(10) {
		for n := range uint64(10) {
			for _, symbol := range []string{"A", "B", ""} {
				seen[key(seed, n, symbol)] = true
			}
		}
	}
	if len(seen) != 300 || !seen[key(3, 4, "A")] {
		t.Errorf("%d keys of 300", len(seen))
	}
}
