package desk

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// TestWatch: a watch gives its account's reports alone, from after the report_seq
// that it names, and shows what the ring has no more as a hole.
func TestWatch(t *testing.T) {
	v := newVenue(t, Options{Reports: 4})
	take := func(w order.Watch) []order.Execution { return w.Take(nil, 100) }
	live, err := v.desk.Watch("acct-2", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	for i := range 6 {
		v.submit(limitOrder("acct-1", fmt.Sprint("a", i), feed.SideBuy, lot, 100*one, order.Day))
	}
	if got := take(live); len(got) != 0 {
		t.Errorf("another account's watch took %+v", got)
	}
	for after, want := range map[uint64]string{0: "3456", 1: "3456", 2: "3456", 4: "56", 5: "6", 6: "", 99: "3456", order.FromNow: ""} {
		w, err := v.desk.Watch("", after)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, e := range take(w) {
			got += fmt.Sprint(e.ReportSeq)
			if e != v.reports[e.ReportSeq-1] {
				t.Errorf("report %+v, before it was %+v", e, v.reports[e.ReportSeq-1])
			}
		}
		if got != want {
			t.Errorf("after %d came %q, want %q", after, got, want)
		}
		w.Close()
	}
	// A trade is told to both.
	v.submit(limitOrder("acct-2", "x", feed.SideSell, lot, 100*one, order.Day))
	<-live.Ready()
	if got := take(live); len(got) != 2 || got[1].ExecType != order.ExecTrade {
		t.Errorf("the seller's watch took %+v", got)
	}
}

// TestLongNamesAreNotKept: who sends a long name gets it back, but the ring of
// reports does not fill with such.
func TestLongNamesAreNotKept(t *testing.T) {
	d := newDesk(t, Options{})
	w, err := d.Watch("acct-1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	long := strings.Repeat("i", 62) + "日本" + strings.Repeat("i", 1<<20) // cut within a character
	bad := limitOrder("acct-1", long, feed.SideBuy, lot, 100*one, order.Day)
	badSymbol := bad
	badSymbol.ClOrdID, badSymbol.Symbol = "a", long
	for _, req := range []order.Request{bad, badSymbol, cancelOf("acct-1", "c", long), cancelOf("acct-1", long, long), replaceOf("acct-1", "r", long, lot, one)} {
		e, err := d.Submit(t.Context(), req)
		if err != nil || e.ClOrdID != req.ClOrdID || e.OrigClOrdID != req.OrigClOrdID || e.Symbol != req.Symbol || e.Reject == "" {
			t.Errorf("the answer %.200v, %v", e, err)
		}
		kept := w.Take(nil, 100)
		if len(kept) != 1 {
			t.Fatalf("%d reports", len(kept))
		}
		for _, name := range []struct{ kept, sent string }{
			{kept[0].ClOrdID, req.ClOrdID}, {kept[0].OrigClOrdID, req.OrigClOrdID}, {kept[0].Symbol, req.Symbol},
		} {
			short := len(name.sent) <= MaxIDBytes
			if short && name.kept != name.sent || !short && (!utf8.ValidString(name.kept) || len(name.kept) > MaxIDBytes+8 || name.kept[:62] != long[:62]) {
				t.Errorf("kept %.100q of %.100q", name.kept, name.sent)
			}
		}
		// But for its names the report is the answer.
		kept[0].ClOrdID, kept[0].OrigClOrdID, kept[0].Symbol = e.ClOrdID, e.OrigClOrdID, e.Symbol
		if kept[0] != e {
			t.Errorf("report\n%.300v\nanswer\n%.300v", kept[0], e)
		}
	}
}

// TestLongListedSymbol: what is listed is told as it is.
func TestLongListedSymbol(t *testing.T) {
	name := strings.Repeat("S", 100)
	d, err := New([]feed.Symbol{{Name: name, TickSize: one}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Watch("", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	req := limitOrder("", "a", feed.SideBuy, 0, one, order.Day)
	req.Symbol = name
	if _, err := d.Submit(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	req.OrderQty = lot
	if _, err := d.Submit(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := w.Take(nil, 9); len(got) != 2 || got[0].Symbol != name || got[1].Symbol != name {
		t.Errorf("reports %+v", got)
	}
}
