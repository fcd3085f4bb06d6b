package account

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// subject is what the requests of these tests are about.
type subject struct{ id string }

func newMemory(t testing.TB, limit int, age time.Duration) *Memory[subject] {
	t.Helper()
	m, err := NewMemory[subject](limit, age)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func key(id string) Key { return Key{"acct-1", id} }

func request(id string) order.Request {
	return order.Request{Action: order.ActionExecute, Account: "acct-1", ClOrdID: id, OrderQty: 5}
}

// begin asks for an id and says whether it is the first to.
func begin(m *Memory[subject], id string, nowNS int64) (*Answer[subject], bool) {
	return m.Begin(key(id), request(id), nowNS)
}

// put begins a new id and settles it.
func put(t testing.TB, m *Memory[subject], id string, nowNS int64) {
	t.Helper()
	a, first := begin(m, id, nowNS)
	if !first {
		t.Fatalf("%s is known", id)
	}
	a.Settle(&order.Execution{ClOrdID: id}, &subject{id})
}

func TestNewMemory(t *testing.T) {
	for _, c := range []struct {
		limit int
		age   time.Duration
	}{{-1, 0}, {0, -1}, {-5, -5}} {
		if m, err := NewMemory[subject](c.limit, c.age); err == nil || m != nil {
			t.Errorf("%d ids for %s: %v", c.limit, c.age, err)
		}
	}
	if m := newMemory(t, 0, 0); m.limit != DefaultIDs || m.age != int64(DefaultIDAge) {
		t.Errorf("the bounds are %d ids for %d ns", m.limit, m.age)
	}
}

// TestAnswer: the first to ask gives the answer, the others get it.
func TestAnswer(t *testing.T) {
	m := newMemory(t, 10, time.Minute)
	a, first := begin(m, "a", 0)
	if !first {
		t.Fatal("not the first")
	}
	again, first := begin(m, "a", 1)
	if first || again != a {
		t.Fatalf("again: first %v, %p and %p", first, again, a)
	}
	if m.Find(key("a")) != nil {
		t.Error("found before it is settled")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if e, err := again.Wait(ended); !errors.Is(err, context.Canceled) || e != (order.Execution{}) {
		t.Errorf("waiting with an ended context: %+v, %v", e, err)
	}
	waits := make(chan order.Execution)
	go func() {
		e, err := again.Wait(context.Background())
		if err != nil {
			t.Error(err)
		}
		waits <- e
	}()
	want, about := order.Execution{ClOrdID: "a", ExecID: 7}, &subject{"a"}
	a.Settle(&want, about)
	if e := <-waits; e != want {
		t.Errorf("waited for %+v", e)
	}
	for range 100 { // an answer that is there goes before the end of a context
		if e, err := again.Wait(ended); err != nil || e != want {
			t.Fatalf("with an ended context: %+v, %v", e, err)
		}
	}
	if m.Find(key("a")) != about || m.Find(key("b")) != nil || m.Find(Key{"acct-2", "a"}) != nil || m.Find(Key{}) != nil {
		t.Error("Find is wrong")
	}
	b, _ := begin(m, "b", 2)
	b.Settle(&order.Execution{}, nil)
	if m.Find(key("b")) != nil {
		t.Error("found what is about nothing")
	}
	if m.Len() != 2 {
		t.Errorf("%d ids", m.Len())
	}
}

// TestKeys: an id is an account's own, and no two keys run into each other.
func TestKeys(t *testing.T) {
	m := newMemory(t, 10, time.Minute)
	for _, k := range []Key{{"a", "b"}, {"b", "a"}, {"ab", ""}, {"", "ab"}, {"a", "b\x00"}, {"a\x00", "b"}} {
		if _, first := m.Begin(k, order.Request{}, 0); !first {
			t.Errorf("%q is known", k)
		}
	}
}

// TestSame changes each field of a request.
func TestSame(t *testing.T) {
	m := newMemory(t, 10, time.Minute)
	req := order.Request{
		Action: order.ActionReplace, Account: "acct-1", ClOrdID: "a", OrigClOrdID: "b", Symbol: "S", Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.Day, OrderQty: 5, Price: 100,
	}
	a, _ := m.Begin(key("a"), req, 0)
	if !a.Same(req) {
		t.Error("the same is another")
	}
	for i, change := range []func(*order.Request){
		func(r *order.Request) { r.Action = order.ActionExecute },
		func(r *order.Request) { r.Account = "" },
		func(r *order.Request) { r.ClOrdID = "A" },
		func(r *order.Request) { r.OrigClOrdID = "" },
		func(r *order.Request) { r.Symbol = "S " },
		func(r *order.Request) { r.Side = feed.SideSell },
		func(r *order.Request) { r.Type = order.Market },
		func(r *order.Request) { r.TimeInForce = order.TIFNone },
		func(r *order.Request) { r.OrderQty = math.MaxInt64 },
		func(r *order.Request) { r.Price = -100 },
	} {
		other := req
		if change(&other); a.Same(other) {
			t.Errorf("change %d is the same: %+v", i, other)
		}
	}
}

// TestSameIDAtOnce: of many who ask at the same instant one executes, and all have
// its answer.
func TestSameIDAtOnce(t *testing.T) {
	const ids, askers = 300, 8
	m := newMemory(t, ids/3, time.Minute) // so that it forgets, though none that somebody waits for
	executed := make([]int, ids)          // written by the first alone: the race detector looks on
	for i := range ids {
		id := fmt.Sprint(i)
		start, done := make(chan struct{}), make(chan order.Execution)
		for range askers {
			go func() {
				<-start
				a, first := begin(m, id, int64(i))
				if first {
					executed[i]++
					a.Settle(&order.Execution{ClOrdID: id, ExecID: uint64(i)}, &subject{id})
				}
				about := m.Find(key(id)) // perhaps before it is settled
				e, err := a.Wait(context.Background())
				if err != nil || (about != nil && about.id != id) {
					t.Errorf("id %d is about %v, %v", i, about, err)
				}
				done <- e
			}()
		}
		close(start)
		for range askers {
			if e := <-done; e.ExecID != uint64(i) || e.ClOrdID != id {
				t.Errorf("id %d was answered %+v", i, e)
			}
		}
		if executed[i] != 1 {
			t.Errorf("id %d was executed %d times", i, executed[i])
		}
	}
}
