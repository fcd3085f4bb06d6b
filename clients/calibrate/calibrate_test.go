package calibrate

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var short = Options{Idle: 100 * time.Millisecond, Busy: 100 * time.Millisecond, Spin: 50 * time.Millisecond}

// spinner waits twice as long as it is asked to, and says so.
func spinner(opened, closed *int) Waiter {
	return Waiter{Mode: "double", Open: func(_ context.Context, d time.Duration) (func() (int64, error), func(), error) {
		*opened++
		return func() (int64, error) {
			began := feed.Now()
			for feed.Now() < began+2*int64(d) {
				continue
			}
			return 2 * int64(d), nil
		}, func() { *closed++ }, nil
	}}
}

func TestMeasure(t *testing.T) {
	opts := short
	var opened, closed int
	opts.Waiters = []Waiter{spinner(&opened, &closed)}
	c, err := Measure(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if c.Clock.StepNS < 1 || c.Clock.ReadNS <= 0 || float64(c.Clock.StepNS) > 1000*c.Clock.ReadNS {
		t.Errorf("clock %+v", c.Clock)
	}
	if c.Wakeup.Idle == nil || c.Wakeup.Busy == nil || c.Floor() != 2*c.Wakeup.Idle.P99 {
		t.Errorf("wake-ups %+v", c.Wakeup)
	}
	if c.Loopback == nil || c.Loopback.P50 < int64(c.Clock.ReadNS) {
		t.Errorf("loopback %+v", c.Loopback)
	}
	if len(c.Waits) != 4 || opened != 2 || closed != 2 {
		t.Fatalf("%d waits, %d opened, %d closed", len(c.Waits), opened, closed)
	}
	for _, w := range c.Waits {
		asked := w.AskedNS
		if w.Mode == "double" {
			asked *= 2
		}
		// The histogram keeps three digits.
		if float64(w.Took.P50) < 0.999*float64(asked) || (w.Reported != nil) != (w.Mode == "double") {
			t.Errorf("%+v took %+v", w, w.Took)
		}
		if w.Reported != nil && float64(w.Reported.P50) > 1.001*float64(asked) {
			t.Errorf("%+v reported %+v", w, w.Reported)
		}
	}
	n := c.Noise
	if n.SpunNS < int64(opts.Spin) || n.GapShare < 0 || n.GapShare > 1 || n.LongGaps > n.Gaps || n.Gaps > 0 && n.LongestGap < n.GapsAtLeast {
		t.Errorf("noise %+v", n)
	}
	if runtime.GOOS == "linux" && (n.OthersShare == nil || n.StealShare == nil) {
		t.Error("no shares on Linux")
	}
	if c.TookNS < int64(opts.Idle+opts.Busy+opts.Spin) || c.Rates != nil {
		t.Errorf("%+v", c)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

// A machine that is busy with something else is found to be.
func TestMeasureFindsNoise(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc/stat")
	}
	for range runtime.NumCPU() {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Skip("no shell to be busy with:", err)
		}
		defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	}
	opts := short
	opts.Idle = 500 * time.Millisecond
	c, err := Measure(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if *c.Noise.OthersShare < 0.3 || !strings.Contains(c.Noisy(), "other processes") || c.Noise.Gaps == 0 {
		t.Errorf("%+v: %q", c.Noise, c.Noisy())
	}
}

func TestMeasureEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, short); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	opts := short
	opts.Idle = -1
	if _, err := Measure(t.Context(), opts); err == nil {
		t.Error("a negative time")
	}
	broken := errors.New("no desk")
	opts = short
	opts.Waiters = []Waiter{{Mode: "virtual", Open: func(context.Context, time.Duration) (func() (int64, error), func(), error) {
		return nil, nil, broken
	}}}
	if _, err := Measure(t.Context(), opts); !errors.Is(err, broken) || !strings.Contains(err.Error(), "waits: virtual, 40µs") {
		t.Error(err)
	}
}

func TestStat(t *testing.T) {
	before := parseStat("cpu  100 10 50 800 20 5 5 10 7 0\ncpu0 1 2 3\n")
	if before != (stat{total: 1000, idle: 820, steal: 10}) {
		t.Fatalf("%+v", before)
	}
	// A second of two CPUs: 40 ticks used, 10 stolen, the rest idle.
	after := parseStat("cpu  130 10 60 940 30 5 5 20 7 0")
	cpus := float64(runtime.NumCPU())
	if got := othersShare(before, after, int64(100*time.Millisecond), int64(time.Second)); *got*cpus < 0.299 || *got*cpus > 0.301 {
		t.Errorf("others used %v CPUs", *got*cpus)
	}
	if got := othersShare(before, after, int64(time.Second), int64(time.Second)); *got != 0 {
		t.Errorf("less than nothing: %v", *got)
	}
	if got := stealShare(before, after); *got != 0.05 {
		t.Errorf("stolen %v", *got)
	}
	for _, text := range []string{"", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8 9", "cpu a b c d e f g h"} {
		s := parseStat(text)
		if s != (stat{}) || othersShare(s, after, 0, 1) != nil || stealShare(s, after) != nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestNoisy(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		n    Noise
		want string
	}{
		{Noise{}, ""},
		{Noise{OthersShare: share(0.04), StealShare: share(0.009)}, ""},
		{Noise{OthersShare: share(0.2)}, "used 20% of the CPUs"},
		{Noise{OthersShare: share(0), StealShare: share(0.02)}, "2.0% of the CPU time was stolen"},
	} {
		got := (&Calibration{Noise: c.n}).Noisy()
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c.n, got)
		}
	}
}
