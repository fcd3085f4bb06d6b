package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// until waits for a condition, for as long as the test may take.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-t.Context().Done():
			t.Fatalf("never came: %s", what)
		case <-time.After(50 * time.Microsecond):
		}
	}
}

// TestRepeats: the same request gets its first answer whatever has happened since,
// and another one under its id is refused.
func TestRepeats(t *testing.T) {
	play(t, []rule{
		{"of orders and changes", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 x sell 2@100
				2#1 o2 x new, 0+2 of 2@100
				1#2 o1 a trade partial 2@100, 2+3 of 5@100 avg 100
				2#2 o2 x trade filled 2@100, 2+0 of 2@100 avg 100
				trade 1: 2@100, sell came in
			1 a buy 5@100
				answer 1#1
			2 x sell 2@100
				answer 2#2
			1 r replace a 6@100
				1#3 o1 r<a replaced partial, 2+4 of 6@100 avg 100
			1 r replace a 6@100
				answer 1#3
			1 c cancel r
				1#4 o1 c<r canceled, 2+0 of 6@100 avg 100
			1 c cancel r
				answer 1#4
			1 r replace a 6@100
				answer 1#3
			1 a buy 5@100
				answer 1#1`},
		{"of an ioc order, which does not trade twice", `
			quote 99x5 101x5
			1 a buy 2@101 ioc
				1#1 o1 a new, 0+2 of 2@101
				1#2 o1 a trade filled 2@101, 2+0 of 2@101 avg 101
				trade 1: 2@101, buy came in
			1 a buy 2@101 ioc
				answer 1#2`},
		{"of refusals after validation, though they would not come again", `
			1 c cancel a
				1#1 c<a rejected, 0+0 of 0@0, UNKNOWN_ORDER
			1 a buy 5@100
				1#2 o1 a new, 0+5 of 5@100
			1 c cancel a
				answer 1#1
			1 r replace a 5@100.001
				1#3 o1 r<a rejected new, 0+5 of 5@100, PRICE_OFF_GRID
			1 d cancel a
				1#4 o1 d<a canceled, 0+0 of 5@100
			1 r replace a 5@100.001
				answer 1#3`},
		{"of what validation refused, which is looked at anew each time", `
			1 a buy 5@100.001
				1#1 a rejected, 0+0 of 5@100.001, PRICE_OFF_GRID
			1 a buy 5@100.001
				1#2 a rejected, 0+0 of 5@100.001, PRICE_OFF_GRID
			1 a buy 5@100
				1#3 o1 a new, 0+5 of 5@100
			1 a buy 5@100.001
				1#4 a rejected, 0+0 of 5@100.001, PRICE_OFF_GRID
			1 a buy 5@100
				answer 1#3`},
		{"of another account, which are its own", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 a buy 5@100
				2#1 o2 a new, 0+5 of 5@100
			2 c cancel a
				2#2 o2 c<a canceled, 0+0 of 5@100
			1 c cancel a
				1#2 o1 c<a canceled, 0+0 of 5@100`},
	})
}

// TestAnotherBody changes one field after the other.
func TestAnotherBody(t *testing.T) {
	v := newVenue(t, Options{})
	first := limitOrder("", "a", feed.SideBuy, lot, 100*one, order.Day)
	answer, _, _ := v.submit(first)
	for i, change := range []func(*order.Request){
		func(r *order.Request) { *r = cancelOf("", "a", "b") },
		func(r *order.Request) { *r = cancelOf("", "a", "a") },
		func(r *order.Request) { *r = replaceOf("", "a", "a", lot, 100*one) },
		func(r *order.Request) { r.Symbol = "B" },
		func(r *order.Request) { r.Side = feed.SideSell },
		func(r *order.Request) { r.Type, r.Price = order.Market, 0 },
		func(r *order.Request) { r.TimeInForce = order.IOC },
		func(r *order.Request) { r.OrderQty++ },
		func(r *order.Request) { r.Price += symbols[0].TickSize },
	} {
		req := first
		change(&req)
		if e, _, trades := v.submit(req); e.Reject != order.RejectDuplicate || e.OrderID != 0 || len(trades) > 0 {
			t.Errorf("change %d: %+v", i, e)
		}
	}
	first.Account = "acct-1" // which it was
	if e, reports, _ := v.submit(first); e != answer || len(reports) != 0 {
		t.Errorf("the same again: %+v, first %+v", e, answer)
	}
	if s := v.desk.Stats(); s != (Stats{Requests: 11, Rejected: 9, Repeated: 1}) {
		t.Errorf("stats are %+v", s)
	}
}

// TestSameOrderAtOnce sends each order from many goroutines at the same instant:
// one executes, and all have its answer.
func TestSameOrderAtOnce(t *testing.T) {
	v := newVenue(t, Options{})
	v.quote(0, 99*one, MaxOrderQty, 101*one, MaxOrderQty)
	const rounds, senders = 200, 4
	for i := range rounds {
		req := limitOrder("acct-1", fmt.Sprint("a", i), feed.SideBuy, lot, 101*one, order.IOC)
		start := make(chan struct{})
		var answers [senders]order.Execution
		var wg sync.WaitGroup
		for s := range senders {
			wg.Go(func() {
				<-start
				var err error
				if answers[s], err = v.desk.Submit(context.Background(), req); err != nil {
					t.Error(err)
				}
			})
		}
		began := time.Now()
		close(start)
		wg.Wait()
		reports, trades := v.news(began, true)
		if len(reports) != 2 || len(trades) != 1 {
			t.Fatalf("order %d: %d reports, %d trades", i, len(reports), len(trades))
		}
		for _, e := range answers {
			if e != reports[1] {
				t.Fatalf("order %d: answer %+v, report %+v", i, e, reports[1])
			}
		}
	}
	if s := v.desk.Stats(); s != (Stats{Requests: rounds * senders, Repeated: rounds * (senders - 1), Trades: rounds}) {
		t.Errorf("stats are %+v", s)
	}
}

// TestSameOrderInFlight holds an order in its service: who sends it again waits
// for its answer, or for the end of the context, and another body is refused at once.
func TestSameOrderInFlight(t *testing.T) {
	v := newVenue(t, Options{Service: Service{Time: time.Millisecond, Realtime: true}})
	d := v.desk
	req := limitOrder("acct-1", "a", feed.SideBuy, lot, 100*one, order.Day)
	began := time.Now()
	answers := make(chan order.Execution)
	for range 3 {
		go func() {
			e, err := d.Submit(context.Background(), req)
			if err != nil {
				t.Error(err)
			}
			answers <- e
		}()
	}
	until(t, "two that wait for the first", func() bool { return d.Stats().Repeated == 2 && d.pacer.Waiting() == 1 })
	if _, err := v.find("acct-1", "a"); !errors.Is(err, order.ErrUnknownOrder) {
		t.Errorf("Find of what has not matched: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if e, err := d.Submit(ended, req); !errors.Is(err, context.Canceled) {
		t.Errorf("again with an ended context: %+v, %v", e, err)
	}
	other := req
	other.OrderQty++
	if e, err := d.Submit(t.Context(), other); err != nil || e.Reject != order.RejectDuplicate {
		t.Errorf("another body: %+v, %v", e, err)
	}
	if e, _ := v.desk.Submit(t.Context(), limitOrder("acct-1", "b", feed.SideBuy, 0, 100*one, order.Day)); e.Reject != order.RejectBadQty {
		t.Errorf("what is refused waits for no service: %+v", e)
	}
	if err := d.Run(ended); err != nil { // lets go of all
		t.Fatal(err)
	}
	e := <-answers
	for range 2 {
		if again := <-answers; again != e {
			t.Errorf("answers\n%+v\n%+v", again, e)
		}
	}
	reports, _ := v.news(began, true)
	if len(reports) != 3 || reports[2] != e || e.ExecType != order.ExecNew {
		t.Errorf("answer %+v, reports %+v", e, reports)
	}
}
