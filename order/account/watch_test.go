package account

import (
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/order"
)

// TestManyWatches has writers, readers that keep up, and watches that come and go,
// all at once. The ring is large enough for every report, so that every reader
// sees every one, in order.
func TestManyWatches(t *testing.T) {
	const writers, each, readers = 4, 2000, 6
	r := NewReports("acct-1", writers*each)
	var work sync.WaitGroup
	for range readers {
		w := r.Watch(0)
		work.Go(func() {
			defer w.Close()
			var got []order.Execution
			for len(got) < writers*each {
				<-w.Ready() // lost signals would hang here
				got = w.Take(got, 100)
			}
			for i, e := range got {
				if e.ReportSeq != uint64(i+1) {
					t.Errorf("report %d has report_seq %d", i, e.ReportSeq)
					return
				}
			}
		})
	}
	var seen sync.Map
	for g := range writers {
		work.Go(func() {
			for i := range each {
				e := order.Execution{OrderID: uint64(g*each + i + 1)}
				r.Add(&e)
				if was, twice := seen.LoadOrStore(e.ReportSeq, e.OrderID); twice {
					t.Errorf("report_seq %d is that of %d and of %d", e.ReportSeq, was, e.OrderID)
				}
			}
		})
	}
	for range 2 {
		work.Go(func() {
			for range 500 {
				last := r.Last()
				w := r.Watch(last)
				if got := w.Take(nil, 1); len(got) > 0 && got[0].ReportSeq != last+1 {
					t.Errorf("after %d came %d", last, got[0].ReportSeq)
				}
				w.Close()
			}
		})
	}
	work.Wait()
	if r.Last() != writers*each {
		t.Errorf("%d reports", r.Last())
	}
	for _, e := range r.Watch(0).Take(nil, writers*each) {
		if id, _ := seen.Load(e.ReportSeq); id != e.OrderID {
			t.Errorf("report %d is of %d, its writer was told %d", e.ReportSeq, e.OrderID, id)
		}
	}
}

// TestSlowWatch reads a small ring behind fast writers: there are holes, and what
// comes is in order, whole, and ends with the last report.
func TestSlowWatch(t *testing.T) {
	const writers, each = 3, 3000
	r := NewReports("acct-1", 16)
	w := r.Watch(0)
	defer w.Close()
	var work sync.WaitGroup
	for range writers {
		work.Go(func() {
			for range each {
				r.Add(&order.Execution{OrderID: 1, CumQty: 3, LeavesQty: 4, OrderQty: 7})
			}
		})
	}
	var last uint64
	for buf := []order.Execution(nil); last < writers*each; {
		<-w.Ready()
		buf = w.Take(buf[:0], 5)
		for _, e := range buf {
			if e.ReportSeq <= last || e.CumQty+e.LeavesQty != e.OrderQty || e.OrderID != 1 {
				t.Fatalf("after %d came %+v", last, e)
			}
			last = e.ReportSeq
		}
	}
	work.Wait()
}
