package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

const (
	someTime = 150 * time.Millisecond // a window that is waited out
	forever  = 10 * time.Minute       // one that something else must end
)

func newFleet(t *testing.T, v *venue, streams int, opts Options) *Fleet {
	t.Helper()
	f, err := New(v, v.symbols, streams, opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// during returns a Report that calls do once, in the named phase.
func during(phase string, do func()) func(Status) {
	var once sync.Once
	return func(s Status) {
		if s.Name == phase {
			once.Do(do)
		}
	}
}

// reasons returns why a run is not valid. How late this process got to run is up
// to the machine that tests, so it is left out; without it the run must be valid.
func reasons(run *measure.Run) []string {
	why := slices.DeleteFunc(slices.Clone(run.Reasons), func(reason string) bool { return strings.HasPrefix(reason, "the fleet ") })
	if run.Valid != (len(run.Reasons) == 0) {
		why = append(why, "the verdict does not go with the reasons")
	}
	return why
}

func TestNewRefuses(t *testing.T) {
	v := newVenue(t, 3)
	for _, c := range []struct {
		name    string
		symbols []string
		streams int
		opts    Options
		err     string
	}{
		{"nothing wrong", v.symbols, 8, Options{Connections: 8, SymbolsPerStream: 3, Ramp: 1, Warmup: 1, Duration: 1}, ""},
		{"defaults", v.symbols, 1, Options{}, ""},
		{"no streams", v.symbols, 0, Options{}, "fleet of 0 streams"},
		{"more connections than streams", v.symbols, 8, Options{Connections: 9}, "9 connections for 8 streams"},
		{"negative connections", v.symbols, 8, Options{Connections: -1}, "-1 connections for 8 streams"},
		{"no symbols", nil, 8, Options{}, "no symbols"},
		{"too many symbols a stream", v.symbols, 8, Options{SymbolsPerStream: 4}, "4 symbols per stream, but the exchange lists 3"},
		{"negative symbols", v.symbols, 8, Options{SymbolsPerStream: -1}, "-1 symbols per stream"},
		{"negative ramp", v.symbols, 8, Options{Ramp: -1}, "must not be negative"},
		{"negative warm-up", v.symbols, 8, Options{Warmup: -1}, "must not be negative"},
		{"negative duration", v.symbols, 8, Options{Duration: -1}, "must not be negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := New(v, c.symbols, c.streams, c.opts)
			if !strings.Contains(text(err), c.err) || (err != nil) != (c.err != "") || (f == nil) != (err != nil) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

func TestRunMeasuresEveryDelivery(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 5)
	f := newFleet(t, v, 20, Options{
		Connections: 4, SymbolsPerStream: 2, Policy: feed.PolicyDropOldest,
		Warmup: someTime / 3, Duration: someTime, Control: v.control(t), Stamp: "made up",
	})
	run, err := f.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ticks := int64(someTime / v.every)
	if run.Due != ticks*20*2/5 || run.Received != run.Due || run.Missed != 0 {
		t.Errorf("due %d, received %d, missed %d; want %d ticks to 2 of 5 symbols on 20 streams", run.Due, run.Received, run.Missed, ticks)
	}
	if why := reasons(run); len(why) > 0 || run.Saturated || run.Reasons == nil {
		t.Errorf("reasons %q, saturated %t; want a valid run", why, run.Saturated)
	}
	if run.DurationNS != int64(someTime) || run.Stamp != "made up" || run.Interrupted || run.StreamsBroken != 0 || run.OpenAllNS <= 0 {
		t.Errorf("run %+v", run)
	}
	if q := run.Latency; q == nil || q.P50 < int64(latency)*999/1000 || q.P50 > int64(latency)*1001/1000 {
		t.Errorf("latency %+v, want %s", q, latency)
	}
	if f := run.Fairness; f == nil || f.Spread == nil || f.Spread.Ticks != ticks || f.MeanRank.Max > 1 {
		t.Errorf("fairness %+v, want that of %d ticks", f, ticks)
	}
	if run.Connect == nil || run.FirstTick == nil || run.FleetLag == nil || run.Fleet == nil || run.Fleet.RSSBytes == 0 || run.Fleet.IdleRSSBytesPerStream == nil || run.Fleet.GC == nil {
		t.Errorf("not all is measured: %+v", run)
	}
	if want := int64(1<<30) / run.Received; run.Server == nil || *run.Server.CPUNSPerDelivery != want || run.WireBytesPerDelivery == nil {
		t.Errorf("server %+v, want %d ns a delivery", run.Server, want)
	}

	slices.Sort(v.dialled)
	slices.Sort(v.closed)
	if want := []int{0, 1, 2, 3}; !slices.Equal(v.dialled, want) || !slices.Equal(v.closed, want) {
		t.Errorf("connections %v were dialled and %v closed, want each of %v once", v.dialled, v.closed, want)
	}
	if len(v.requests) != 20 || len(v.streams) != 0 {
		t.Errorf("%d streams were opened and %d left open, want 20 and none", len(v.requests), len(v.streams))
	}
	for i, req := range v.requests {
		first := (i%4 + i/4) % 5
		want := []string{v.symbols[first], v.symbols[(first+1)%5]}
		if !slices.Equal(req.Symbols, want) || req.Policy != feed.PolicyDropOldest || req.Cursor != "" {
			t.Errorf("stream %d asked for %+v, want %v", i, req, want)
		}
	}
}

func TestRunWithoutControl(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 2)
	v.run(feed.Now(), 0)
	run, err := newFleet(t, v, 6, Options{Duration: someTime}).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// What is on its way at the end of the window is not known to be due.
	if most := 6 * (int64(someTime/v.every)/2 + 1); run.Due == 0 || run.Due != run.Received || run.Due > most || len(reasons(run)) > 0 {
		t.Errorf("due %d, received %d, reasons %q; want at most %d", run.Due, run.Received, run.Reasons, most)
	}
	if run.Server != nil || run.WireBytesPerDelivery != nil {
		t.Errorf("the exchange's figures are %+v, %v; want none", run.Server, run.WireBytesPerDelivery)
	}
	if len(v.dialled) != 6 {
		t.Errorf("%d connections, want one for each of 6 streams", len(v.dialled))
	}
}

func TestRunOnAnExchangeOfAnotherVersion(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 1)
	v.run(feed.Now(), 0)
	run, err := newFleet(t, v, 2, Options{Duration: someTime, Version: "v2"}).Run(t.Context(), nil)
	if err != nil || run.Valid || !strings.Contains(strings.Join(run.Reasons, "; "), "the exchange is tickgauge v1 and the fleet is v2") {
		t.Errorf("error %v, reasons %q", err, run.Reasons)
	}
}

func TestRunOnASourceThatRunsAlready(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 1)
	v.run(feed.Now(), 0)
	run, err := newFleet(t, v, 2, Options{Duration: someTime, Control: v.control(t)}).Run(t.Context(), nil)
	if err != nil || len(reasons(run)) > 0 || run.Due == 0 || run.Due != run.Received {
		t.Errorf("error %v, run %+v; want a valid run", err, run)
	}
	// Nobody saw the streams open and the source still.
	if run != nil && (run.Fleet.IdleRSSBytesPerStream != nil || run.Fleet.HeapBytesPerStream == nil) {
		t.Errorf("fleet %+v, want memory, and none of an idle time", run.Fleet)
	}
}

// Ticks that are late are waited for until each stream has the last one due.
func TestRunWaitsForLateTicks(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 1)
	last := uint64(someTime / v.every)
	v.deliver = func(stream int, seq uint64) bool { return stream == 0 || seq < last }
	f := newFleet(t, v, 2, Options{Duration: someTime, Control: v.control(t), ReportEvery: time.Millisecond})
	looks := 0
	f.opts.Report = func(Status) {
		if !v.answered.Load() {
			return
		}
		if looks++; looks == 3 { // the fleet has the ledger by now
			v.mu.Lock()
			defer v.mu.Unlock()
			v.streams[1].say(feed.Message{Ticks: []feed.Tick{v.schedule[last-1]}})
		}
	}
	run, err := f.Run(t.Context(), nil)
	if err != nil || len(reasons(run)) > 0 || run.Received != 2*int64(last) {
		t.Errorf("error %v, run %+v; want a valid run with %d received", err, run, 2*last)
	}
}

func TestAwaitLateGivesUp(t *testing.T) {
	f := newFleet(t, newVenue(t, 1), 1, Options{})
	f.rec.Opening(0, "SYM001")
	due := map[string]measure.SymbolDue{"SYM001": {LastSeq: 5}}
	f.awaitLate(t.Context(), due, feed.Now()-int64(lateGrace)) // returns, though nothing came
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.awaitLate(ctx, due, feed.Now())
	if f.rec.Reached(map[string]uint64{"SYM001": 5}) {
		t.Error("reached what never came")
	}
}

func TestRunWithoutItsLedger(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 1)
	v.ledger = func() error { return errors.New("the schedule log has forgotten the window") }
	run, err := newFleet(t, v, 2, Options{Duration: someTime, Control: v.control(t)}).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2 streams had no tick of a symbol after the window, so that what was due at its end is not known; give --debug-target",
		"read ledger: the debug address answered 500: the schedule log has forgotten the window",
	}
	if run.Valid || !slices.Equal(reasons(run), want) {
		t.Errorf("valid %t, reasons %q; want %q", run.Valid, run.Reasons, want)
	}
	if run.Received == 0 || run.Due != run.Received || run.Server != nil {
		t.Errorf("due %d, received %d, server %+v; want what the streams saw", run.Due, run.Received, run.Server)
	}
}

func TestRunWhenTheSourceCannotBeStarted(t *testing.T) {
	v := newVenue(t, 1)
	d := &debugAddress{status: 400, answer: "no"}
	_, err := newFleet(t, v, 2, Options{Control: d.serve(t)}).Run(t.Context(), nil)
	if want := "start source: the debug address answered 400: no"; text(err) != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if len(v.streams) != 0 {
		t.Errorf("%d streams are left open", len(v.streams))
	}
}

func TestRunReportsItsPhases(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 1)
	seen := map[string]Status{}
	f := newFleet(t, v, 3, Options{Duration: someTime, Control: v.control(t), ReportEvery: time.Millisecond, Report: func(s Status) {
		seen[s.Name] = s
	}})
	if _, err := f.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"warming up", "measuring"} {
		if s := seen[phase]; s.Streams != 3 || s.Open != 3 || s.Length <= 0 {
			t.Errorf("%s: %+v, among %v", phase, s, slices.Collect(maps.Keys(seen)))
		}
	}
	if s := seen["measuring"]; s.Progress.Received == 0 || s.Elapsed <= 0 {
		t.Errorf("measuring: %+v, want progress", s)
	}
}
