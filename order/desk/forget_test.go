package desk

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// TestForgottenIDs has a memory of two ids: what is over may come anew, but no id
// ever names two open orders.
func TestForgottenIDs(t *testing.T) {
	const others = `
			3 p buy 1 ioc
				3#1 o2 p new, 0+1 of 1@0
				3#2 o2 p canceled, 0+0 of 1@0
			3 q buy 1 ioc
				3#3 o3 q new, 0+1 of 1@0
				3#4 o3 q canceled, 0+0 of 1@0`
	for _, r := range []rule{
		{"what is over executes anew", `
			1 a buy 5@100 ioc
				1#1 o1 a new, 0+5 of 5@100
				1#2 o1 a canceled, 0+0 of 5@100` + others + `
			1 a buy 5@100 ioc
				1#3 o4 a new, 0+5 of 5@100
				1#4 o4 a canceled, 0+0 of 5@100`},
		{"what is open does not", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100` + others + `
			1 a buy 5@100
				1#2 a rejected, 0+0 of 5@100, DUPLICATE_CL_ORD_ID
			1 c cancel a
				1#3 o1 c<a canceled, 0+0 of 5@100`},
		{"nor in another symbol, nor as what never rests", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100` + others + `
			1 a sell 1@105 of B
				1#2 a rejected, 0+0 of 1@105, DUPLICATE_CL_ORD_ID
			3 r buy 1 ioc
				3#5 o4 r new, 0+1 of 1@0
				3#6 o4 r canceled, 0+0 of 1@0
			3 s buy 1 ioc
				3#7 o5 s new, 0+1 of 1@0
				3#8 o5 s canceled, 0+0 of 1@0
			1 a sell 5@100
				1#3 a rejected, 0+0 of 5@100, DUPLICATE_CL_ORD_ID
			1 c cancel a
				1#4 o1 c<a canceled, 0+0 of 5@100`},
		{"nor may a change take its id", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100` + others + `
			1 b buy 4@100
				1#2 o4 b new, 0+4 of 4@100
			1 a replace b 3@100
				1#3 a<b rejected, 0+0 of 3@100, DUPLICATE_CL_ORD_ID
			1 a cancel b
				1#4 a<b rejected, 0+0 of 0@0, DUPLICATE_CL_ORD_ID
			1 c cancel b
				1#5 o4 c<b canceled, 0+0 of 4@100
			1 d cancel a
				1#6 o1 d<a canceled, 0+0 of 5@100`},
		{"what was replaced has its new id, and the old one is free", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 b replace a 4@100
				1#2 o1 b<a replaced new, 0+4 of 4@100` + others + `
			1 a buy 3@100
				1#3 o4 a new, 0+3 of 3@100
			1 b buy 3@100
				1#4 b rejected, 0+0 of 3@100, DUPLICATE_CL_ORD_ID
			1 c cancel a
				1#5 o4 c<a canceled, 0+0 of 3@100
			1 d cancel b
				1#6 o1 d<b canceled, 0+0 of 4@100`},
		{"the oldest of the two is still known", `
			1 a buy 5@100 ioc
				1#1 o1 a new, 0+5 of 5@100
				1#2 o1 a canceled, 0+0 of 5@100
			1 b buy 5@100 ioc
				1#3 o2 b new, 0+5 of 5@100
				1#4 o2 b canceled, 0+0 of 5@100
			1 a buy 5@100 ioc
				answer 1#2
			1 b buy 5@100 ioc
				answer 1#4`},
	} {
		t.Run(r.name, func(t *testing.T) { scripted(t, Options{IDs: 2}, r.script) })
	}
}

// TestFindAfterForgetting: asking again for what is open makes it known again.
func TestFindAfterForgetting(t *testing.T) {
	v := scripted(t, Options{IDs: 1}, `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			3 p buy 1 ioc
				3#1 o2 p new, 0+1 of 1@0
				3#2 o2 p canceled, 0+0 of 1@0
			1 a buy 5@100
				1#2 a rejected, 0+0 of 5@100, DUPLICATE_CL_ORD_ID
			1 - cancel a
				1#3 o1 a canceled, 0+0 of 5@100`)
	if e, err := v.find("acct-1", "a"); err != nil || e.OrderID != 1 || e.OrdStatus != order.Canceled {
		t.Errorf("Find: %+v, %v", e, err)
	}
}

// TestManyIDs has more orders than the memory has ids, most of which rest: the
// memory stays within its bound and the open ones are all found.
func TestManyIDs(t *testing.T) {
	d := newDesk(t, Options{IDs: 1000})
	const orders = 20_000
	for i := range orders {
		price := 100*one - feed.Price(i%97)*symbols[0].TickSize
		if e, err := d.Submit(t.Context(), limitOrder("acct-1", fmt.Sprint(i), feed.SideBuy, lot, price, order.Day)); err != nil || e.OrdStatus != order.New {
			t.Fatalf("order %d: %+v, %v", i, e, err)
		}
		if n := d.memory.Len(); n > 1000 {
			t.Fatalf("%d ids after %d orders", n, i+1)
		}
	}
	for i := range orders {
		if e, err := d.Submit(t.Context(), cancelOf("acct-1", "", fmt.Sprint(i))); err != nil || e.OrderID != uint64(i+1) || e.OrdStatus != order.Canceled {
			t.Fatalf("cancel of %d: %+v, %v", i, e, err)
		}
	}
	if err := checkDesk(d); err != nil {
		t.Error(err)
	}
}

// TestMemoryIsBounded sends 300,000 orders with ids of their own to a desk that
// remembers 50,000: what it holds does not grow with them.
func TestMemoryIsBounded(t *testing.T) {
	const ids, orders = 50_000, 300_000
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	before := heap()
	d := newDesk(t, Options{IDs: ids, Reports: 1000})
	d.Quote(0, 99*one, 1<<62, 101*one, 1<<62)
	var full int64
	for i := range orders {
		e, err := d.Submit(t.Context(), limitOrder(d.Accounts()[i%10], fmt.Sprintf("%032d", i), feed.SideBuy, lot, 101*one, order.IOC))
		if err != nil || e.OrdStatus != order.Filled {
			t.Fatalf("%+v, %v", e, err)
		}
		if i == orders/2 {
			full = heap() - before
		}
	}
	end := heap() - before
	t.Logf("%d ids take %d MB, %d bytes each; 150,000 orders later it is %d MB", ids, full>>20, full/ids, end>>20)
	if end > full+full/4 {
		t.Errorf("the desk grows: %d bytes after half of the orders, %d at the end", full, end)
	}
	if n := d.memory.Len(); n != ids {
		t.Errorf("%d ids", n)
	}
}
