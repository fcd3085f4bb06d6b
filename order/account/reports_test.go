package account

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tickgauge/tickgauge/order"
	"pgregory.net/rapid"
)

// add adds n reports, each of which names its number in its ClOrdID.
func add(r *Reports, n int) {
	for range n {
		e := order.Execution{ClOrdID: fmt.Sprint(r.Last() + 1)}
		r.Add(&e)
	}
}

// seqs are the report_seqs of reports, each of which has to be its own.
func seqs(t *testing.T, reports []order.Execution) []uint64 {
	t.Helper()
	got := []uint64{}
	for _, e := range reports {
		if e.ClOrdID != fmt.Sprint(e.ReportSeq) {
			t.Errorf("report %d is that of %s", e.ReportSeq, e.ClOrdID)
		}
		got = append(got, e.ReportSeq)
	}
	return got
}

func span(from, to uint64) []uint64 {
	s := []uint64{}
	for ; from <= to; from++ {
		s = append(s, from)
	}
	return s
}

func ready(w *Watch) bool {
	select {
	case <-w.Ready():
		return true
	default:
		return false
	}
}

// TestNumbering: report_seq counts from 1, and the caller is told.
func TestNumbering(t *testing.T) {
	r := NewReports("acct-1", 3)
	if r.Last() != 0 {
		t.Errorf("last %d before the first", r.Last())
	}
	for want := uint64(1); want < 10; want++ {
		e := order.Execution{ReportSeq: 99}
		if r.Add(&e); e.ReportSeq != want || r.Last() != want {
			t.Fatalf("report %d, last %d, want %d", e.ReportSeq, r.Last(), want)
		}
	}
}

func TestDefaultReports(t *testing.T) {
	for _, limit := range []int{0, -1} {
		r := NewReports("acct-1", limit)
		add(r, DefaultReports+1)
		if got := r.Watch(0).Take(nil, math.MaxInt); len(got) != DefaultReports || got[0].ReportSeq != 2 {
			t.Errorf("of %d are kept %d", limit, len(got))
		}
	}
}

// TestResume watches from after any report_seq, in rings that are empty, half
// full, just full, and that have gone round.
func TestResume(t *testing.T) {
	for _, limit := range []int{1, 2, 5, 8} {
		for _, added := range []int{0, 1, 4, 5, 6, 8, 9, 23} {
			r := NewReports("acct-1", limit)
			add(r, added)
			oldest := uint64(max(1, added-limit+1))
			for after := uint64(0); after < uint64(added)+3; after++ {
				w := r.Watch(after)
				want := span(max(oldest, after+1), uint64(added))
				if after > uint64(added) { // of an earlier run
					want = span(oldest, uint64(added))
				}
				if ready(w) != (len(want) > 0) {
					t.Errorf("ring of %d, %d added, after %d: ready is not whether there is something", limit, added, after)
				}
				if got := seqs(t, w.Take(nil, 100)); !slices.Equal(got, want) {
					t.Errorf("ring of %d, %d added, after %d: %d, want %d", limit, added, after, got, want)
				}
				if got := w.Take(nil, 100); len(got) != 0 || ready(w) {
					t.Errorf("taken twice: %d", seqs(t, got))
				}
				w.Close()
			}
		}
	}
}

// TestTakeLimit takes in parts; what is left is ready.
func TestTakeLimit(t *testing.T) {
	r := NewReports("acct-1", 10)
	add(r, 7)
	w := r.Watch(0)
	defer w.Close()
	var got []order.Execution
	for _, c := range []struct {
		limit, want int
		left        bool
	}{{0, 0, true}, {-1, 0, true}, {3, 3, true}, {1, 4, true}, {3, 7, false}, {5, 7, false}} {
		if got = w.Take(got, c.limit); len(got) != c.want || ready(w) != c.left {
			t.Errorf("after %d more: %d, want %d, and ready %v", c.limit, len(got), c.want, c.left)
		}
	}
	if s := seqs(t, got); !slices.Equal(s, span(1, 7)) {
		t.Errorf("took %d", s)
	}
	// What is there already stays.
	dst := []order.Execution{{ClOrdID: "mine"}}
	add(r, 1)
	if dst = w.Take(dst, 9); len(dst) != 2 || dst[0].ClOrdID != "mine" || dst[1].ReportSeq != 8 {
		t.Errorf("appended to %+v", dst)
	}
}

// TestFromNow gets what comes after, and nothing of what was.
func TestFromNow(t *testing.T) {
	r := NewReports("acct-1", 4)
	for _, before := range []int{0, 2, 7} {
		add(r, before)
		w := r.Watch(order.FromNow)
		if got := w.Take(nil, 9); len(got) != 0 || ready(w) {
			t.Errorf("took %d", seqs(t, got))
		}
		last := r.Last()
		add(r, 2)
		if got := seqs(t, w.Take(nil, 9)); !ready(w) || !slices.Equal(got, span(last+1, last+2)) {
			t.Errorf("took %d", got)
		}
		w.Close()
	}
}

// TestEarlierRun: who names a report_seq that the account has not reached was
// there before a restart, and gets what there is instead of silence.
func TestEarlierRun(t *testing.T) {
	for _, after := range []uint64{6, 99, math.MaxInt64, math.MaxUint64 - 1} {
		r := NewReports("acct-1", 4)
		add(r, 5)
		w := r.Watch(after)
		if got := seqs(t, w.Take(nil, 9)); !slices.Equal(got, span(2, 5)) {
			t.Errorf("after %d: took %d", after, got)
		}
		w.Close()
	}
}

// TestEvictionIsAHole: who is too slow sees the hole, and misses nothing else.
func TestEvictionIsAHole(t *testing.T) {
	r := NewReports("acct-1", 4)
	w := r.Watch(0)
	defer w.Close()
	add(r, 3)
	got := w.Take(nil, 2)
	add(r, 6)
	got = w.Take(got, 1)
	add(r, 2)
	got = w.Take(got, 9)
	if s := seqs(t, got); !slices.Equal(s, []uint64{1, 2, 6, 8, 9, 10, 11}) {
		t.Errorf("took %d", s)
	}
}

// TestClosedWatch is told of nothing more, and the others go on.
func TestClosedWatch(t *testing.T) {
	r := NewReports("acct-1", 4)
	var watches []*Watch
	for range 5 {
		watches = append(watches, r.Watch(0))
	}
	for _, i := range []int{2, 0, 4, 2} { // one of them twice
		watches[i].Close()
	}
	add(r, 1)
	for i, w := range watches {
		if open := i == 1 || i == 3; ready(w) != open {
			t.Errorf("watch %d: open %v, ready %v", i, open, !open)
		}
	}
	for _, w := range watches {
		w.Close()
	}
	if len(r.watches) != 0 {
		t.Errorf("%d watches are left", len(r.watches))
	}
}

// TestReportsAreTheirReference compares several watches at once with the list of
// all reports.
func TestReportsAreTheirReference(t *testing.T) {
	for range 20 { // times rapid's 100 sequences
		rapid.Check(t, testReports)
	}
}

func testReports(t *rapid.T) {
	limit := rapid.IntRange(1, 6).Draw(t, "limit")
	r := NewReports("acct-1", limit)
	var watches []*Watch
	var next []uint64
	t.Repeat(map[string]func(*rapid.T){
		"add": func(t *rapid.T) { add(r, rapid.IntRange(1, 3).Draw(t, "reports")) },
		"watch": func(t *rapid.T) {
			after := uint64(rapid.IntRange(0, int(r.Last())+2).Draw(t, "after"))
			if watches = append(watches, r.Watch(after)); after > r.Last() { // of an earlier run
				after = 0
			}
			next = append(next, after+1)
		},
		"take": func(t *rapid.T) {
			if len(watches) == 0 {
				t.Skip("none")
			}
			i := rapid.IntRange(0, len(watches)-1).Draw(t, "watch")
			n := rapid.IntRange(0, 4).Draw(t, "limit")
			oldest := max(1, int64(r.Last())-int64(limit)+1)
			next[i] = max(next[i], uint64(oldest))
			hadMore := next[i] <= r.Last()
			if hadMore && !ready(watches[i]) {
				t.Fatalf("watch %d has %d next of %d and is not ready", i, next[i], r.Last())
			}
			for _, e := range watches[i].Take(nil, n) {
				if e.ReportSeq != next[i] || e.ClOrdID != fmt.Sprint(next[i]) {
					t.Fatalf("watch %d took %d (%s), want %d", i, e.ReportSeq, e.ClOrdID, next[i])
				}
				next[i]++
				n--
			}
			if n > 0 && next[i] <= r.Last() {
				t.Fatalf("watch %d took no %d", i, next[i])
			}
		},
		"close": func(t *rapid.T) {
			if len(watches) == 0 {
				t.Skip("none")
			}
			i := rapid.IntRange(0, len(watches)-1).Draw(t, "watch")
			watches[i].Close()
			watches, next = slices.Delete(watches, i, i+1), slices.Delete(next, i, i+1)
		},
	})
}
