package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// TestClose closes a desk while an order is in flight: that one is answered, later
// ones are refused, and those that were answered before keep their answers.
func TestClose(t *testing.T) {
	d := newDesk(t, Options{})
	submit := func(req order.Request) order.Execution {
		t.Helper()
		e, err := d.Submit(context.Background(), req)
		if err != nil {
			t.Errorf("Submit %+v: %v", req, err)
		}
		return e
	}
	before := limitOrder("", "before", feed.SideSell, lot, 100*one, order.Day)
	answered := submit(before)
	hold := newHold(d)
	inFlight := limitOrder("acct-2", "in flight", feed.SideBuy, lot, 100*one, order.Day)
	answers := make(chan order.Execution, 2)
	go func() { answers <- submit(inFlight) }()
	until(t, "an order in flight", func() bool { return d.pacer.Waiting() == 1 })

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Close while one is in flight: %v", err)
	}
	for _, req := range []order.Request{
		limitOrder("", "later", feed.SideSell, lot, 100*one, order.Day),
		cancelOf("", "later cancel", "before"), cancelOf("", "", "before"), replaceOf("", "later replace", "before", 2*lot, 100*one),
	} {
		e := submit(req)
		if e.Reject != order.RejectShuttingDown || e.OrdStatus != order.Rejected || e.OrderID != 0 || e.ClOrdID != req.ClOrdID {
			t.Errorf("later: %+v", e)
		}
		if again := submit(req); req.ClOrdID != "" && again != e {
			t.Errorf("later, again: %+v, first %+v", again, e)
		}
	}
	if e := submit(before); e != answered {
		t.Errorf("the order from before, again: %+v, first %+v", e, answered)
	}
	other := before
	other.OrderQty++
	if e := submit(other); e.Reject != order.RejectDuplicate {
		t.Errorf("another under its id: %+v", e)
	}
	bad := before
	bad.Price++
	if e := submit(bad); e.Reject != order.RejectOffGrid {
		t.Errorf("a bad order: %+v", e)
	}
	go func() { answers <- submit(inFlight) }()
	until(t, "the order in flight again", func() bool { return d.Stats().Repeated == 5 })

	hold.end()
	if err := d.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	for range 2 {
		if e := <-answers; e.OrdStatus != order.Filled || e.ClOrdID != "in flight" {
			t.Errorf("the order in flight: %+v", e)
		}
	}
	// What was said is there to read.
	if e, err := d.Find(t.Context(), "", "before"); err != nil || e.OrdStatus != order.Filled {
		t.Errorf("Find: %+v, %v", e, err)
	}
	w, err := d.Watch("acct-2", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := w.Take(nil, 10); len(got) != 2 {
		t.Errorf("reports %+v", got)
	}
}

// hold keeps orders in their service from now on, as if it were real and nobody
// paced it.
type hold struct{ desk *Desk }

func newHold(d *Desk) hold {
	d.pacer.service = Service{Time: MaxServiceTime, Realtime: true}
	return hold{d}
}

func (h hold) end() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.desk.Run(ended)
}

// TestCloseAtOnce closes a desk that many use: each order is either answered
// before Close returns or refused, and then nothing happens any more.
func TestCloseAtOnce(t *testing.T) {
	for range 20 {
		d := newDesk(t, Options{})
		d.Quote(0, 99*one, MaxOrderQty, 101*one, MaxOrderQty)
		var wg sync.WaitGroup
		accepted := make([]int, 4)
		running := make(chan struct{}, len(accepted))
		for g := range accepted {
			wg.Go(func() {
				for i := 0; ; i++ {
					e, err := d.Submit(context.Background(), marketOrder(d.Accounts()[g], fmt.Sprint(i), feed.SideBuy, lot))
					if err != nil || (e.Reject != "" && e.Reject != order.RejectShuttingDown) {
						t.Errorf("%+v, %v", e, err)
						return
					}
					if e.Reject != "" {
						return
					}
					if accepted[g]++; accepted[g] == 3 {
						running <- struct{}{}
					}
				}
			})
		}
		for range accepted {
			<-running
		}
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		trades := d.Stats().Trades
		wg.Wait()
		sum := 0
		for _, n := range accepted {
			sum += n
		}
		if after := d.Stats().Trades; after != trades || int(after) != sum {
			t.Errorf("%d trades at Close, %d later, of %d orders", trades, after, sum)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Errorf("Close again: %v", err)
		}
	}
}
