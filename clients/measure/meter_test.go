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
// grows by 1000 bytes and counts 5 and 50.
func handMade(n int) *Meter {
	m := &Meter{names: []string{"few", "many"}, baseline: 77}
	m.read = func(dst []int64) []int64 { return append(dst, 1_000_000, 2_000_000) } // what Window's own sample reads
	for i := range int64(n) {
		m.add(sample{atNS: 100 * (i + 1), userNS: 10 * i * i, sysNS: 20 * i, rss: 1000 * i, counters: []int64{5 * i, 50 * i}})
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

func TestMeterForgetsWhatIsOld(t *testing.T) {
	const extra = 1000
	m := handMade(meterSamples + extra)
	if len(m.samples) != meterSamples {
		t.Fatalf("%d samples are kept, want %d", len(m.samples), meterSamples)
	}
	oldest, newest := int64(100*(extra+1)), int64(100*(meterSamples+extra))
	if a, b := m.nth(0).atNS, m.nth(meterSamples-1).atNS; a != oldest || b != newest {
		t.Fatalf("kept from %d to %d, want %d to %d", a, b, oldest, newest)
	}
	for _, c := range []struct {
		name     string
		from, to int64
		system   int64
	}{
		{"around the place where the ring is joined", int64(100 * (meterSamples - 2)), int64(100 * (meterSamples + 3)), 100},
		{"the newest", newest - 1000, newest, 200},
		{"older than the oldest is cut off", 0, oldest + 2000, 400 - 20}, // Window's own sample took the oldest's place
	} {
		if p, _, _ := m.Window(c.from, c.to); p.CPUSystemNS != c.system {
			t.Errorf("%s: %d ns system, want %d", c.name, p.CPUSystemNS, c.system)
		}
		m = handMade(meterSamples + extra)
	}
}

func TestMeterSamplesThisProcess(t *testing.T) {
	m := NewMeter(nil, nil)
	from := feed.Now()
	for sum := 0; m.samples[0].userNS+m.samples[0].sysNS+1e6 > m.now().userNS+m.now().sysNS; sum++ { // burn a millisecond
		_ = sum * sum
	}
	to := feed.Now()
	p, _, _ := m.Window(from, to)
	if used := p.CPUUserNS + p.CPUSystemNS; used <= 0 || p.RSSBytes <= 0 || p.RSSBaselineBytes <= 0 {
		t.Errorf("used %+v, want time and memory", p)
	}
}

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
