package measure

import (
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// A stream that is behind for a long time has most of its ticks conflated, and
// several words about them before the next tick.
func TestAccountStaysSmall(t *testing.T) {
	const window = 300_000
	r := NewRecorder(1)
	r.SetWindow(1000, 1000+window)
	r.Opening(0, "A")
	r.Message(0, 0, 0, &feed.Message{Subscribed: &feed.Subscribed{Symbols: []feed.SymbolSeq{{Symbol: "A"}}}})
	a := &r.streams[0].symbols[0]
	seq := uint64(0)
	for seq < window+2000 {
		for range 40 {
			r.Message(0, int64(seq), int64(seq), &feed.Message{Skipped: &feed.Skipped{
				Symbol: "A", FromSeq: seq + 1, ToSeq: seq + 3, FirstDueNS: int64(seq + 1), Reason: feed.SkipConflated}})
			seq += 3
		}
		seq++
		r.Message(0, int64(seq), int64(seq), &feed.Message{Ticks: []feed.Tick{
			{Symbol: "A", Seq: seq, DueNS: int64(seq), PublishNS: int64(seq), Origin: feed.OriginSchedule}}})
		if n := cap(a.skips) + cap(a.edge) + cap(a.holes); n > 4*maxSkips {
			t.Fatalf("%d spans are kept at sequence %d", n, seq)
		}
	}
	d := r.Finish(map[string]SymbolDue{"A": {Symbol: "A", Scheduled: window, FirstSeq: 1000, LastSeq: 999 + window}})
	if d.Missed != 0 || d.Conflated+d.Received != window || d.WithConflated.Count() != window {
		t.Errorf("figures %+v, %d with those charged; want %d and nothing missed", figuresOf(d), d.WithConflated.Count(), window)
	}
}

func TestManySkipsOfSeveralReasons(t *testing.T) {
	const n = 5 * maxSkips
	a := &account{}
	a.subscribed(0)
	for seq := uint64(1); seq <= n; seq++ {
		reason := feed.SkipConflated
		if seq%4 == 0 {
			reason = feed.SkipDropped
		}
		a.skipped(&feed.Skipped{FromSeq: seq, ToSeq: seq, FirstDueNS: int64(seq), Reason: reason})
	}
	due, missed, _, _ := a.close(SymbolDue{Scheduled: n, FirstSeq: 1, LastSeq: n}, true, false)
	if due != n || a.conflated != n*3/4 || a.dropped != n/4 || missed != 0 {
		t.Errorf("due %d, conflated %d, dropped %d, missed %d; want %d, %d, %d, 0", due, a.conflated, a.dropped, missed, n, n*3/4, n/4)
	}
}

// A ledger that knows of less than what arrived is not to be believed in silence.
func TestLedgerThatContradictsTheStream(t *testing.T) {
	r, m := benchRecorder(1)
	for range 5 {
		deliverNext(r, 0, m)
	}
	d := r.Finish(map[string]SymbolDue{"SYM001": {Symbol: "SYM001", Scheduled: 3, FirstSeq: 1, LastSeq: 3}})
	if want := (figures{due: 3, received: 5, missed: -2}); figuresOf(d) != want {
		t.Errorf("figures %+v, want %+v", figuresOf(d), want)
	}
}

// A gap may cover more sequences than anybody wants to record one by one.
func TestChargesOfALongGap(t *testing.T) {
	const n = 25_000
	r := NewRecorder(1)
	r.SetWindow(1, 10*n)
	r.Opening(0, "A")
	for _, m := range []feed.Message{
		{Subscribed: &feed.Subscribed{Symbols: []feed.SymbolSeq{{Symbol: "A"}}}},
		{Skipped: &feed.Skipped{Symbol: "A", FromSeq: 1, ToSeq: n, FirstDueNS: 1, Reason: feed.SkipGap}},
		{Ticks: []feed.Tick{{Symbol: "A", Seq: n + 1, DueNS: n + 1, PublishNS: n + 1, Origin: feed.OriginSchedule}}},
	} {
		r.Message(0, n+1, n+1, &m)
	}
	d := r.Finish(map[string]SymbolDue{"A": {Symbol: "A", Scheduled: n + 1, FirstSeq: 1, LastSeq: n + 1}})
	q := d.WithConflated.Quantiles()
	if d.WithConflated.Count() != n+1 || !near(q.P50, n/2, 0.002) || !near(q.Max, n, 0.002) || !near(q.Mean, n/2, 0.002) {
		t.Errorf("%d values, %+v; want %d spread evenly from 0 to %d", d.WithConflated.Count(), q, n+1, n)
	}
}

// near compares with a relative error.
func near(got, want int64, relative float64) bool {
	diff := float64(got - want)
	return diff <= relative*float64(want) && -diff <= relative*float64(want)
}

// What is missing behind all that arrived is told from what is missing before it.
func TestCloseTellsOverdueFromLost(t *testing.T) {
	w := SymbolDue{Scheduled: 10, FirstSeq: 1, LastSeq: 10}
	for _, c := range []struct {
		name            string
		arrive          []uint64
		unpublished     int64
		slow            bool
		missed, overdue int64
	}{
		{"all", []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, false, 0, 0},
		{"the end", []uint64{1, 2, 3, 4, 5, 6, 7}, 0, false, 3, 3},
		{"a hole and the end", []uint64{1, 2, 4, 5, 6, 7}, 0, false, 4, 3},
		{"nothing", nil, 0, false, 10, 10},
		{"the end was not published", []uint64{1, 2, 3, 4, 5, 6, 7}, 2, false, 3, 1},
		{"ended as too slow", []uint64{1, 2, 3, 4, 5, 6, 7}, 0, true, 0, 0},
	} {
		a := &account{symbol: "A"}
		a.subscribed(0)
		for _, seq := range c.arrive {
			a.tick(seq)
			a.arrived(seq)
			a.received++
		}
		w.Unpublished = c.unpublished
		_, missed, _, overdue := a.close(w, true, c.slow)
		if missed != c.missed || overdue != c.overdue {
			t.Errorf("%s: missed %d, overdue %d; want %d, %d", c.name, missed, overdue, c.missed, c.overdue)
		}
	}
}
