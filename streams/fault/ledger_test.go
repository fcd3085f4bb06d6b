package fault

import (
	"slices"
	"strings"
	"testing"
)

func TestLedgerCountsByDueTime(t *testing.T) {
	l := newLedger(8)
	a, n := l.subscribed("A")
	if a != 0 || n != 0 {
		t.Errorf("first subscription is %d of symbol %d", n, a)
	}
	if again, n := l.subscribed("A"); again != a || n != 1 {
		t.Errorf("second subscription is %d of symbol %d", n, again)
	}
	b, _ := l.subscribed("B")
	l.add([]entry{{9, 0, a, lost}, {10, 0, a, lost}, {19, 0, b, duplicated}, {20, 0, b, reordered}, {15, 7, b, delayed}, {12, 0, a, reordered}})
	w, err := l.window(10, 20)
	if err != nil || w.Counts != (Counts{Lost: 1, Duplicated: 1, Reordered: 1, Delayed: 1}) || !slices.Equal(w.DelaysNS, []int64{7}) ||
		len(w.Symbols) != 2 || w.Symbols["A"] != (Counts{Lost: 1, Reordered: 1}) || w.Symbols["B"] != (Counts{Duplicated: 1, Delayed: 1}) {
		t.Errorf("window %+v, %v", w, err)
	}
}

// TestLedgerRefusesWhatItForgot: entries do not come in order of due.
func TestLedgerRefusesWhatItForgot(t *testing.T) {
	l := newLedger(2)
	l.subscribed("A")
	l.add([]entry{{5, 0, 0, lost}, {3, 0, 0, lost}, {8, 0, 0, lost}, {9, 0, 0, lost}})
	if _, err := l.window(5, 10); err == nil || !strings.Contains(err.Error(), "shorter window") {
		t.Errorf("a window with forgotten faults: %v", err)
	}
	if w, err := l.window(6, 10); err != nil || w.Lost != 2 {
		t.Errorf("window %+v, %v; want both", w, err)
	}
}
