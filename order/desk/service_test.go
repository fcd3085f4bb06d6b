package desk

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// paced runs a desk's pacer until the test ends, or stop is called.
func paced(t *testing.T, d *Desk) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// TestVirtualService: requests report the time that they would have waited, each
// its own. Nothing runs that could let them go on, so that they wait for nothing.
func TestVirtualService(t *testing.T) {
	v := newVenue(t, Options{OpenOrders: 1, Service: Service{Time: MaxServiceTime}})
	v.quote(0, 99*one, lot, 101*one, lot)
	for _, c := range []struct {
		req  order.Request
		code order.RejectCode
		none bool
	}{
		{limitOrder("", "a", feed.SideBuy, lot, 101*one, order.IOC), "", false},
		{marketOrder("", "b", feed.SideBuy, lot), "", false},
		{limitOrder("", "c", feed.SideBuy, lot, 98*one, order.Day), "", false},
		{replaceOf("", "d", "c", 2*lot, 98*one), "", false},
		{limitOrder("", "e", feed.SideBuy, lot, 98*one, order.Day), order.RejectTooManyOpen, false},
		{replaceOf("", "f", "c", 2*lot, 98*one+1), order.RejectOffGrid, false},
		{cancelOf("", "g", "d"), "", false},
		{cancelOf("", "h", "d"), order.RejectTooLate, false},
		{cancelOf("", "", "nope"), order.RejectUnknownOrder, false},
		// What is refused before has waited for nothing.
		{limitOrder("", "i", feed.SideBuy, 0, 98*one, order.Day), order.RejectBadQty, true},
		{limitOrder("", "a", feed.SideBuy, lot, 98*one, order.Day), order.RejectDuplicate, true},
	} {
		v.desk.pacer.service.Time-- // so that no two are the same
		want := int64(v.desk.pacer.service.Time)
		if c.none {
			want = 0
		}
		e, reports, _ := v.submit(c.req)
		if e.Reject != c.code {
			t.Errorf("%+v: %+v, want %q", c.req, e, c.code)
		}
		for _, r := range reports {
			if r.ServiceNS != want {
				t.Errorf("%+v has a service_ns of %d, want %d", r, r.ServiceNS, want)
			}
		}
	}
	if cpu := v.desk.PacerCPU(); cpu != 0 {
		t.Errorf("the pacer took %d ns", cpu)
	}
}

// TestRealtimeService: orders wait at least their time, each by itself, and
// report what they waited.
func TestRealtimeService(t *testing.T) {
	for _, wait := range []time.Duration{50 * time.Microsecond, 2 * time.Millisecond} {
		d := newDesk(t, Options{Service: Service{Time: wait, Realtime: true}})
		stop := paced(t, d)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 20 {
					began := time.Now()
					e, err := d.Submit(context.Background(), limitOrder("", fmt.Sprint(g, "-", i), feed.SideBuy, lot, 100*one, order.Day))
					took := int64(time.Since(began))
					if err != nil || e.ExecType != order.ExecNew || e.ServiceNS < int64(wait) || took < e.ServiceNS {
						t.Errorf("service of %s took %d ns: %+v, %v", wait, took, e, err)
					}
				}
			})
		}
		wg.Wait()
		stop()
		if runtime.GOOS == "linux" && d.PacerCPU() <= 0 {
			t.Errorf("the pacer took %d ns of CPU for 80 orders", d.PacerCPU())
		}
	}
}

// TestPacerReportsWhatWasWaited: an order waits on while nobody runs the pacer, and
// reports all of that.
func TestPacerReportsWhatWasWaited(t *testing.T) {
	const wait, late = time.Microsecond, 5 * time.Millisecond
	d := newDesk(t, Options{Service: Service{Time: wait, Realtime: true}})
	answers := make(chan order.Execution)
	go func() {
		e, err := d.Submit(context.Background(), limitOrder("", "a", feed.SideBuy, lot, 100*one, order.Day))
		if err != nil {
			t.Error(err)
		}
		answers <- e
	}()
	until(t, "an order that waits", func() bool { return d.pacer.Waiting() == 1 })
	waits := time.Now()
	until(t, "a late hour", func() bool { return time.Since(waits) >= late })
	paced(t, d)
	if e := <-answers; e.ServiceNS < int64(late) {
		t.Errorf("waited for %d ns or more, reports %d", late, e.ServiceNS)
	}
}

// TestPacerStops lets go of all that waits, and of all that comes.
func TestPacerStops(t *testing.T) {
	d := newDesk(t, Options{Service: Service{Time: MaxServiceTime, Realtime: true}})
	var wg sync.WaitGroup
	submit := func(id string) {
		e, err := d.Submit(context.Background(), limitOrder("", id, feed.SideBuy, lot, 100*one, order.Day))
		if err != nil || e.ExecType != order.ExecNew {
			t.Errorf("%+v, %v", e, err)
		}
	}
	for i := range 50 {
		wg.Go(func() { submit(fmt.Sprint(i)) })
	}
	until(t, "50 orders that wait", func() bool { return d.pacer.Waiting() == 50 })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 { // a second time has nothing to stop
		if err := d.Run(ended); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	for range maxWaiting + 10 { // more than could wait
		if e, err := d.Submit(t.Context(), cancelOf("", "", "none")); err != nil || e.Reject != order.RejectUnknownOrder {
			t.Fatalf("%+v, %v", e, err)
		}
	}
	submit("later")
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServiceBounds(t *testing.T) {
	for _, c := range []struct {
		time time.Duration
		good bool
	}{{-1, false}, {0, true}, {1, true}, {MaxServiceTime, true}, {MaxServiceTime + 1, false}, {1<<63 - 1, false}, {-1 << 63, false}} {
		for _, realtime := range []bool{false, true} {
			d, err := New(symbols, Options{Service: Service{Time: c.time, Realtime: realtime}})
			if (err == nil) != c.good || (d != nil) != c.good {
				t.Errorf("service of %d ns, realtime %v: %v", c.time, realtime, err)
			}
		}
	}
	// None is none in real time too: nothing runs here that could end a wait.
	d := newDesk(t, Options{Service: Service{Realtime: true}})
	if e, err := d.Submit(t.Context(), limitOrder("", "a", feed.SideBuy, lot, 100*one, order.Day)); err != nil || e.ServiceNS != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}
