package measure

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// handMade returns a meter of n samples at 100, 200, … ns. In each interval it
// uses 20 ns system time and ever more user time (0, 10, 40, 90, … ns in all),
// grows by 1000 bytes, half of them heap, and counts 5 and 50. A collection ends, and takes
// a quarter of the CPU.
func handMade(n int) *Meter {
	m := &Meter{names: []string{"few", "many"}, baseline: sample{level: [levels]int64{77, 7, 1}}}
	m.read = func(dst []int64) []int64 { return append(dst, 1_000_000, 2_000_000) } // what Window's own sample reads
	for i := range int64(n) {
		m.add(sample{
			atNS: 100 * (i + 1), counters: []int64{5 * i, 50 * i},
			used:  [usedFigures]int64{10 * i * i, 20 * i, 3 * i, 4 * i, 10 * i, 40 * i, i},
			level: [levels]int64{1000 * i, 500 * i, i + 1},
		})
	}
	return m
}

func TestMeterWindow(t *testing.T) {
	for _, c := range []struct {
		name           string
		from, to       int64
		user, sys, rss int64
		few, many      int64
	}{
		{"on samples", 200, 400, 80, 40, 3000, 10, 100},
		{"between samples", 250, 480, 121, 46, 4000, 11, 115},
		{"within one interval", 220, 230, 3, 2, 1000, 1, 5},
		{"empty", 300, 300, 0, 0, 2000, 0, 0},
		{"begins before the first sample", 0, 200, 10, 20, 1000, 5, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, window, totals := handMade(10).Window(c.from, c.to)
			if p.CPUUserNS != c.user || p.CPUSystemNS != c.sys || p.RSSBytes != c.rss || p.RSSBaselineBytes != 77 || p.Goroutines < 1 {
				t.Errorf("used %+v, want user %d, system %d, rss %d, baseline 77", p, c.user, c.sys, c.rss)
			}
			// Counters are whole numbers: an edge between samples may be one off.
			if d := window["few"] - c.few; d < -1 || d > 1 || window["many"] < c.many-1 || window["many"] > c.many+1 || len(window) != 2 {
				t.Errorf("counted %v, want %d and %d", window, c.few, c.many)
			}
			if totals["few"] != 1_000_000 || totals["many"] != 2_000_000 || len(totals) != 2 {
				t.Errorf("totals %v, want those of now", totals)
			}
		})
	}
}

func TestMeterWindowOfTheRuntime(t *testing.T) {
	p, _, _ := handMade(10).Window(200, 600)
	if p.VoluntarySwitches != 12 || p.InvoluntarySwitches != 16 || p.HeapBytes != 2500 || p.HeapBaselineBytes != 7 || p.Goroutines != 6 || p.Idle != nil {
		t.Errorf("used %+v", p)
	}
	if p.GC == nil || p.GC.Cycles != 4 || p.GC.CPUShare != 0.25 || p.GC.Pauses == nil || p.GC.Pauses.Count != 0 {
		t.Errorf("collections %+v, want 4 that took a quarter", p.GC)
	}
	// Where no collection ended the runtime has brought nothing up to date.
	if p, _, _ := handMade(10).Window(300, 300); p.GC.CPUShare != 0 || p.GC.Cycles != 0 {
		t.Errorf("collections %+v of no time", p.GC)
	}
}

// A process that lives longer than the samples that are kept is sampled less
// often, and still accounted for from its start.
func TestMeterThinsOutWhatIsOld(t *testing.T) {
	const lives = 3 * meterSamples
	m := handMade(lives)
	if len(m.samples) > meterSamples || len(m.samples) < meterSamples/2 {
		t.Fatalf("%d samples are kept, want at most %d and at least half", len(m.samples), meterSamples)
	}
	for i := 1; i < len(m.samples); i++ {
		if step := m.samples[i].atNS - m.samples[i-1].atNS; step != 100*int64(m.stride) {
			t.Fatalf("sample %d is %d ns after the one before, want %d", i, step, 100*m.stride)
		}
	}
	for _, c := range []struct {
		name             string
		from, to, system int64
	}{
		{"from the start", 100, 100 * int64(meterSamples+1), 20 * int64(meterSamples)},
		{"across what was thinned twice", 100 * int64(meterSamples/2), 100 * 2 * int64(meterSamples), 20 * int64(meterSamples) * 3 / 2},
		{"between samples", 1000, 1300, 60},
	} {
		if p, _, _ := m.Window(c.from, c.to); p.CPUSystemNS < c.system-1 || p.CPUSystemNS > c.system+1 {
			t.Errorf("%s: %d ns system, want %d", c.name, p.CPUSystemNS, c.system)
		}
	}
}

func TestMeterSamplesThisProcess(t *testing.T) {
	m := NewMeter(nil, nil)
	from := feed.Now()
	for sum := 0; cpuNS(m.samples[0])+1e6 > cpuNS(m.now()); sum++ { // burn a millisecond
		_ = sum * sum
	}
	to := feed.Now()
	p, _, _ := m.Window(from, to)
	if used := p.CPUUserNS + p.CPUSystemNS; used <= 0 || p.RSSBytes <= 0 || p.RSSBaselineBytes <= 0 {
		t.Errorf("used %+v, want time and memory", p)
	}
}

func cpuNS(s sample) int64 { return s.used[usedUser] + s.used[usedSystem] }

func TestMeterRunSamplesUntilDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter([]string{"calls"}, func(dst []int64) []int64 { return append(dst, 1) })
		ctx, cancel := context.WithTimeout(t.Context(), 20*meterInterval+time.Millisecond)
		defer cancel()
		if err := m.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if n := len(m.samples); n != 21 {
			t.Errorf("%d samples, want one at the start and 20 in Run", n)
		}
	})
}
