package streams

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// fakeDesk takes every order, reports it, and remembers its answer. Orders called
// slow wait until release is closed.
type fakeDesk struct {
	release chan struct{}
	arrived chan struct{} // gets one for each slow order
	keep    int           // reports of an account; 0: all

	mu      sync.Mutex
	answers map[string]order.Execution
	reports map[string][]order.Execution
	watches []*fakeWatch
}

func newFakeDesk() *fakeDesk {
	return &fakeDesk{release: make(chan struct{}), arrived: make(chan struct{}, 10), answers: map[string]order.Execution{}, reports: map[string][]order.Execution{"one": nil, "two": nil}}
}

func (d *fakeDesk) Submit(_ context.Context, req order.Request) (order.Execution, error) {
	if req.ClOrdID == "slow" {
		d.arrived <- struct{}{}
		<-d.release
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := req.Account + "/" + req.ClOrdID
	if e, ok := d.answers[key]; ok {
		return e, nil
	}
	e := order.Execution{Account: req.Account, ClOrdID: req.ClOrdID, ExecType: order.ExecNew}
	if _, ok := d.reports[req.Account]; !ok {
		e.ExecType, e.Reject = order.ExecRejected, order.RejectUnknownAccount
		return e, nil
	}
	e.ReportSeq = uint64(len(d.reports[req.Account]) + 1)
	d.answers[key] = e
	d.reports[req.Account] = append(d.reports[req.Account], e)
	for _, w := range d.watches {
		select {
		case w.ready <- struct{}{}:
		default:
		}
	}
	return e, nil
}

func (d *fakeDesk) Find(context.Context, string, string) (order.Execution, error) {
	return order.Execution{}, fmt.Errorf("%w: none", order.ErrUnknownOrder)
}

func (d *fakeDesk) Watch(account string, after uint64) (order.Watch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	have, ok := d.reports[account]
	if !ok {
		return nil, fmt.Errorf("%w: %s", order.ErrUnknownAccount, account)
	}
	w := &fakeWatch{desk: d, account: account, last: min(after, uint64(len(have))), ready: make(chan struct{}, 1)}
	w.ready <- struct{}{}
	d.watches = append(d.watches, w)
	return w, nil
}

type fakeWatch struct {
	desk    *fakeDesk
	account string
	last    uint64
	ready   chan struct{}
	closed  bool
}

func (w *fakeWatch) Ready() <-chan struct{} { return w.ready }
func (w *fakeWatch) Account() string        { return w.account }

func (w *fakeWatch) Last() uint64 {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	return w.last
}

func (w *fakeWatch) Newest() uint64 {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	return uint64(len(w.desk.reports[w.account]))
}

func (w *fakeWatch) Take(dst []order.Execution, limit int) []order.Execution {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	if newest := len(w.desk.reports[w.account]); w.desk.keep > 0 {
		w.last = max(w.last, uint64(max(newest-w.desk.keep, 0)))
	}
	for ; limit > 0 && w.last < uint64(len(w.desk.reports[w.account])); limit-- {
		dst = append(dst, w.desk.reports[w.account][w.last])
		w.last++
	}
	return dst
}

func (w *fakeWatch) Close() {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	w.closed = true
}

func (c *client) orders(account, id string) {
	c.t.Helper()
	if err := c.session.Order(&order.Request{Action: order.ActionExecute, Account: account, ClOrdID: id}); err != nil {
		c.t.Errorf("order %s: %v", id, err)
	}
}

// TestOrdersAreAnsweredOnce: on a stream that carries the account's executions an
// answer is among them; one that was made before, or of another account, comes by
// itself.
func TestOrdersAreAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDesk()
		e := newExchange(t, Options{Desk: d})
		plain, watching := connect(t, e), connect(t, e)
		plain.reads("hello")
		watching.reads("hello")
		plain.orders("one", "a")
		plain.reads("execution a 1")
		plain.orders("one", "a")
		plain.reads("execution a 1")
		plain.orders("nobody", "x")
		plain.reads("execution x 0")

		watching.says(feed.Request{Subscribe: &feed.Subscribe{Account: "one"}})
		watching.reads("subscribed")
		watching.isQuiet()
		watching.orders("one", "b")
		watching.reads("execution b 2")
		watching.isQuiet()
		watching.orders("one", "a") // made before this stream watched
		watching.reads("execution a 1")
		watching.orders("one", "b")
		watching.reads("execution b 2")
		watching.orders("two", "c")
		watching.reads("execution c 1")
		plain.orders("one", "d")
		plain.reads("execution d 3")
		watching.reads("execution d 3")
		watching.isQuiet()
		plain.isQuiet()
		plain.cut()
		watching.cut()
		synctest.Wait()
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.watches[0].closed {
			t.Error("the watch is open still")
		}
	})
}

// TestRepeatsWithoutWaiting: each repeat has an answer of its own, also while the
// report that it repeats is still on its way.
func TestRepeatsWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{Desk: newFakeDesk()})
		c := open(t, e)
		c.says(feed.Request{Subscribe: &feed.Subscribe{Account: "one"}})
		go func() {
			for range 3 {
				c.orders("one", "a")
			}
		}()
		synctest.Wait()
		c.run()
		c.reads("hello", "subscribed", "execution a 1", "execution a 1", "execution a 1")
		c.isQuiet()
		c.cut()
	})
}

// TestAnswersOutliveTheRing: a stream that has fallen so far behind that the ring no
// longer has the answer to its own order gets that by itself.
func TestAnswersOutliveTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDesk()
		d.keep = 2
		e := newExchange(t, Options{Desk: d})
		c := open(t, e)
		c.says(feed.Request{Subscribe: &feed.Subscribe{Account: "one"}})
		go func() {
			c.orders("one", "mine")
			c.orders("one", "next") // taken once the first has its answer
		}()
		synctest.Wait()
		for i := range 5 {
			if _, err := d.Submit(t.Context(), order.Request{Account: "one", ClOrdID: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		c.run()
		c.reads("hello", "subscribed", "execution 3 5", "execution 4 6", "execution mine 1", "execution next 7")
		c.isQuiet()
		c.cut()
		if got := e.Stats().ReportsLost; got != 4 {
			t.Errorf("%d reports are counted as lost, want 4", got)
		}
	})
}

func TestWatchIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newExchange(t, Options{Desk: newFakeDesk()}))
		c.reads("hello")
		for _, step := range []struct {
			sub  feed.Subscribe
			want string
		}{
			{feed.Subscribe{Account: "nobody"}, "problem UNKNOWN_ACCOUNT"},
			{feed.Subscribe{Resume: true, AfterReportSeq: 3, Symbols: []string{"A"}}, "problem BAD_REQUEST"},
			{feed.Subscribe{Account: "one", Policy: feed.PolicyConflate}, "problem BAD_REQUEST"},
			{feed.Subscribe{Account: "one", Symbols: []string{"Z"}}, "problem UNKNOWN_SYMBOL"},
			{feed.Subscribe{Account: "one", Symbols: []string{"A"}}, "subscribed A0"},
			{feed.Subscribe{Account: "two"}, "problem ALREADY_SUBSCRIBED"},
			{feed.Subscribe{Symbols: []string{"B"}}, "subscribed B0"},
		} {
			c.says(feed.Request{Subscribe: &step.sub})
			c.reads(step.want)
		}
		c.isQuiet()
		c.cut()
	})
}

// TestSubscribedComesFirst: no execution overtakes the answer of the subscribe that
// asks for it.
func TestSubscribedComesFirst(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			d := newFakeDesk()
			e := newExchange(t, Options{Desk: d})
			for i := range 3 {
				if _, err := d.Submit(t.Context(), order.Request{Account: "one", ClOrdID: fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
			for _, sub := range []feed.Subscribe{{Account: "one", Resume: true}, {Account: "one", Resume: true, Symbols: []string{"A"}}} {
				c := open(t, e)
				c.says(feed.Request{Subscribe: &sub})
				c.run()
				c.reads("hello", "subscribed"+map[bool]string{true: " A0"}[len(sub.Symbols) > 0], "execution 0 1", "execution 1 2", "execution 2 3")
				c.cut()
			}
		})
	}
}

func TestNoDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{})
		c := connect(t, e)
		c.reads("hello")
		c.orders("one", "a")
		c.reads("problem UNSUPPORTED")
		c.says(feed.Request{Subscribe: &feed.Subscribe{Account: "one"}})
		c.reads("problem UNSUPPORTED")
		if _, err := e.Find(t.Context(), "one", "a"); problemCode(err) != feed.CodeUnsupported {
			t.Errorf("find: %v", err)
		}
		c.cut()
	})
}

// TestShutdownAnswersWhatIsInFlight, on streams that Run writes and on others, and
// takes nothing after.
func TestShutdownAnswersWhatIsInFlight(t *testing.T) {
	d := newFakeDesk()
	e := newExchange(t, Options{Desk: d})
	c := connect(t, e)
	c.reads("hello")
	other, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	answer := func(id string) error {
		return other.Answer(&order.Request{Account: "two", ClOrdID: id}, func(e *order.Execution) error {
			answers = append(answers, e.ClOrdID)
			return nil
		})
	}
	late := make(chan error, 2)
	go func() { // each goes on as a transport's reader does
		c.orders("one", "slow")
		late <- c.session.Order(&order.Request{Account: "one", ClOrdID: "late"})
	}()
	go func() {
		if err := answer("slow"); err != nil {
			t.Errorf("the order in flight: %v", err)
		}
		late <- answer("late")
		other.Close()
	}()
	<-d.arrived
	<-d.arrived
	ended := make(chan struct{})
	go func() { defer close(ended); e.Shutdown(t.Context()) }()
	<-e.Closing()
	go other.Finish()
	close(d.release)
	c.reads("execution slow 1", "problem SHUTTING_DOWN")
	c.ends(feed.CodeShuttingDown)
	for range 2 {
		if err := <-late; err == nil {
			t.Error("an order was taken after the end")
		}
	}
	<-ended
	if len(answers) != 1 || answers[0] != "slow" || len(d.reports["one"]) != 1 || len(d.reports["two"]) != 1 {
		t.Errorf("answers %q, reports %v", answers, d.reports)
	}
}

// TestShutdownOfAStreamThatTakesNothing ends although nobody reads the answers.
func TestShutdownOfAStreamThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{Desk: newFakeDesk()})
		c := connect(t, e)
		c.reads("hello")
		flood := make(chan error, 1)
		go func() {
			for i := 0; ; i++ {
				if err := c.session.Order(&order.Request{Account: "one", ClOrdID: fmt.Sprint(i)}); err != nil {
					flood <- err
					return
				}
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the exchange has no patience
		e.Shutdown(ctx)
		if err := <-flood; err == nil {
			t.Error("an order was taken after the end")
		}
		if err := <-c.done; err == nil {
			t.Error("the session ended without an error")
		}
	})
}
