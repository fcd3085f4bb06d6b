package feed

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestScheduleLogWindow(t *testing.T) {
	l := NewScheduleLog(4)
	if w, err := l.Window(0, 100, 2); err != nil || w.Complete || w.Scheduled != 0 || len(w.Symbols) != 2 {
		t.Errorf("an empty log says %+v, %v", w, err)
	}
	l.published(0, 10, 11, 1)
	l.published(1, 20, 25, 1)
	l.published(0, 20, 26, 2)
	l.published(0, 30, 30, 3)
	for _, c := range []struct {
		from, to int64
		complete bool
		lag      []int64
		symbols  []SymbolWindow
	}{
		{0, 10, true, nil, []SymbolWindow{{}, {}}},
		{10, 11, true, []int64{1}, []SymbolWindow{{1, 0, 1, 1}, {}}},
		{11, 20, true, nil, []SymbolWindow{{}, {}}},
		{20, 30, true, []int64{5, 6}, []SymbolWindow{{1, 0, 2, 2}, {1, 0, 1, 1}}},
		{0, 31, false, []int64{1, 5, 6, 0}, []SymbolWindow{{3, 0, 1, 3}, {1, 0, 1, 1}}},
		{31, 99, false, nil, []SymbolWindow{{}, {}}},
	} {
		w, err := l.Window(c.from, c.to, 2)
		if err != nil || w.Complete != c.complete || w.Scheduled != int64(len(c.lag)) || !slices.Equal(w.LagNS, c.lag) || !slices.Equal(w.Symbols, c.symbols) {
			t.Errorf("window [%d, %d) = %+v, %v, want %+v", c.from, c.to, w, err, c)
		}
	}

	l.unpublished(1, 40, 0) // the fifth of four evicts what was due at 10
	for from, gone := range map[int64]bool{9: true, 10: true, 11: false, 20: false} {
		if _, err := l.Window(from, 100, 2); (err != nil) != gone {
			t.Errorf("a window from %d: %v; what was due at 10 is no longer kept", from, err)
		}
	}
	w, err := l.Window(11, 41, 2)
	if err != nil || w.Complete || w.Scheduled != 4 || w.Unpublished != 1 || !slices.Equal(w.LagNS, []int64{5, 6, 0}) ||
		!slices.Equal(w.Symbols, []SymbolWindow{{2, 0, 2, 3}, {2, 1, 1, 2}}) {
		t.Errorf("the full log says %+v, %v", w, err)
	}
	l.finish(0)
	if w, _ := l.Window(11, 41, 2); !w.Complete {
		t.Error("a window of a finished schedule is not complete")
	}
}

func TestScheduleLogUnpublishedSequence(t *testing.T) {
	l := NewScheduleLog(0)
	l.unpublished(0, 10, 7) // the hub has given 7 already
	l.unpublished(0, 20, 7)
	l.unpublished(1, 30, 0)
	l.published(1, 40, 41, 5)
	l.unpublished(1, 50, 5)
	w, err := l.Window(0, 60, 2)
	if want := []SymbolWindow{{2, 2, 8, 9}, {3, 2, 1, 6}}; err != nil || !slices.Equal(w.Symbols, want) || w.Unpublished != 4 {
		t.Errorf("the log says %+v, %v, want sequences %+v", w, err, want)
	}
}

func TestScheduleLogNil(t *testing.T) {
	var l *ScheduleLog
	l.published(0, 1, 2, 3) // recording nothing must not panic
	l.unpublished(0, 1, 2)
	if got := NewScheduleLog(-1).limit; got != DefaultScheduleLog {
		t.Errorf("the limit is %d, want the default", got)
	}
}

// TestScheduleLogRandomly compares with a list of all updates.
func TestScheduleLogRandomly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		l := NewScheduleLog(limit)
		var entries []scheduled
		due := int64(1)
		for range rapid.IntRange(0, 20).Draw(t, "updates") {
			due += rapid.Int64Range(0, 2).Draw(t, "step")
			e := scheduled{dueNS: due, publishNS: due + rapid.Int64Range(0, 5).Draw(t, "lag"), seq: uint64(len(entries) + 1)}
			l.published(0, e.dueNS, e.publishNS, e.seq)
			entries = append(entries, e)
		}
		from, to := rapid.Int64Range(1, due+2).Draw(t, "from"), rapid.Int64Range(1, due+2).Draw(t, "to")
		var want []int64
		gone := false
		for i, e := range entries {
			if i < len(entries)-limit {
				gone = gone || e.dueNS >= from
			} else if e.dueNS >= from && e.dueNS < to {
				want = append(want, e.publishNS-e.dueNS)
			}
		}
		w, err := l.Window(from, to, 1)
		if (err != nil) != gone {
			t.Fatalf("window from %d: %v, some of it gone: %t", from, err, gone)
		}
		if err == nil && (!slices.Equal(w.LagNS, want) || w.Complete != (len(entries) > 0 && due >= to)) {
			t.Fatalf("window [%d, %d) = %+v, want lags %d", from, to, w, want)
		}
	})
}
