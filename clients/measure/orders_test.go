package measure

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const orderMS = int64(time.Millisecond)

// recordOrders fills a recorder of the window [1000 ms, 2000 ms) with n acked orders
// spread over it, each latency later.
func recordOrders(n int, latency int64) *OrderRecorder {
	r := NewOrderRecorder(3)
	r.SetWindow(1000*orderMS, 2000*orderMS)
	for i := range n {
		at := 1000*orderMS + int64(i)*1000*orderMS/int64(n)
		o := Sent{AtNS: at, SentNS: at}
		r.Sending(i, o)
		r.Acked(i, o, at+latency, 0, i%2 == 0)
	}
	return r
}

func TestOrdersOfAWindow(t *testing.T) {
	r := recordOrders(300, orderMS)
	// Outside the window nothing counts.
	for _, at := range []int64{999 * orderMS, 2000 * orderMS} {
		o := Sent{AtNS: at, SentNS: at}
		r.Sending(0, o)
		r.Acked(0, o, at+1, 5, true)
		r.Rejected(0, o, "outside")
		r.Failed(0, o, errors.New("outside"))
	}
	first, second := Sent{AtNS: 1500 * orderMS, SentNS: 1600 * orderMS}, Sent{AtNS: 1400 * orderMS, SentNS: 1401 * orderMS}
	r.Sending(1, first)
	r.Failed(1, first, errors.New("the later one"))
	r.Sending(2, second)
	r.Failed(2, second, errors.New("the first one"))
	r.Sending(0, second)
	r.Rejected(0, second, "BAD_PRICE: 0")
	r.Connected(0, 7*orderMS)
	var o Orders
	o.Finish(r, Process{CPUUserNS: 301 * 5, CPUSystemNS: 301 * 2}, OrderEvidence{})
	if o.Sent != 303 || o.Acked != 300 || o.Filled != 150 || o.Rejected != 1 || o.Failed != 2 || o.FirstFailure != "the first one" || o.FirstRejection != "BAD_PRICE: 0" || !o.Valid || o.Saturated {
		t.Errorf("%+v", o)
	}
	if o.Throughput != 300 || o.DurationNS != 1000*orderMS || o.Latency.P50 < orderMS || o.Latency.Max > orderMS+orderMS/1000 || *o.ClientCPUNSPerOrder != 7 {
		t.Errorf("%+v", o)
	}
	if o.Service != nil || o.LatencyWithService != nil || o.Lag != nil || o.ServerCPUNSPerOrder != nil || o.Connect.P50 < 7*orderMS {
		t.Errorf("%+v", o)
	}
	if p := r.Progress(); p != (OrderProgress{Sent: 303, Acked: 300, Rejected: 1, Failed: 2}) {
		t.Errorf("%+v", p)
	}
}

// TestOrderService: reported service is added where it was not waited out, and
// where that is known.
func TestOrderService(t *testing.T) {
	one := map[string]int64{OrderRequests: 1}
	for _, c := range []struct {
		name   string
		ledger *Ledger
		added  bool
	}{{"not asked", nil, false}, {"virtual", &Ledger{Counters: one}, true}, {"realtime", &Ledger{Counters: one, ServiceRealtime: true}, false}} {
		r := recordOrders(0, 0)
		o := Sent{AtNS: 1000 * orderMS, SentNS: 1000 * orderMS}
		r.Sending(0, o)
		r.Acked(0, o, 1002*orderMS, 3*orderMS, true)
		var run Orders
		run.Finish(r, Process{}, OrderEvidence{Ledger: c.ledger})
		if run.Service.P50 < 3*orderMS || run.Latency.Max >= 3*orderMS || (run.LatencyWithService != nil) != c.added {
			t.Errorf("%s: %+v", c.name, run)
		}
		if c.added && (run.LatencyWithService.P50 < 5*orderMS || run.LatencyWithService.Max > 6*orderMS) {
			t.Errorf("%s: %+v", c.name, run.LatencyWithService)
		}
	}
}

func TestOrdersAreJudged(t *testing.T) {
	lag := func(p99 int64) *Lag { return &Lag{Quantiles: Quantiles{P99: p99}} }
	waited := func(n int, spread func(i int) int64) *OrderRecorder {
		r := recordOrders(0, 0)
		for i := range n {
			at := 1000*orderMS + int64(i)*1000*orderMS/int64(n)
			o := Sent{AtNS: at, SentNS: at + spread(i), Waited: spread(i) > 0}
			r.Sending(i, o)
			r.Acked(i, o, o.SentNS+orderMS, 0, true)
		}
		return r
	}
	for _, c := range []struct {
		name             string
		rec              *OrderRecorder
		evidence         OrderEvidence
		valid, saturated bool
		says             string
	}{
		{"good, closed", recordOrders(100, orderMS), OrderEvidence{TraderLag: lag(40 * orderMS)}, true, false, ""},
		{"good, open", recordOrders(1000, orderMS), OrderEvidence{Due: 1000, TraderLag: lag(orderMS / 3)}, true, false, ""},
		{"nothing sent", recordOrders(0, 0), OrderEvidence{}, false, false, "no order was sent"},
		{"too few sent", recordOrders(994, orderMS), OrderEvidence{Due: 1000}, false, false, "99.4% of the orders that were due"},
		{"far too few sent", recordOrders(500, orderMS), OrderEvidence{Due: 1000}, false, true, "50.0% of the orders waited for one of the 4"},
		{"none of those due", recordOrders(0, 0), OrderEvidence{Due: 1000}, false, true, "100.0% of the orders waited"},
		{"a late trader", recordOrders(9, orderMS), OrderEvidence{TraderLag: lag(51 * orderMS)}, false, false, "the trader was late: p99 51ms"},
		{"late for its figures", recordOrders(9, orderMS), OrderEvidence{Due: 9, TraderLag: lag(6 * orderMS / 10)}, false, false, "of a latency p99 of"},
		{"interrupted", recordOrders(9, orderMS), OrderEvidence{Interrupted: true}, false, false, "interrupted"},
		{"no ledger", recordOrders(9, orderMS), OrderEvidence{NoLedger: errors.New("read ledger: refused")}, false, false, "refused"},
		{"before it was sent", recordOrders(9, -orderMS), OrderEvidence{}, false, false, "negative"},
		{"beyond the histogram", recordOrders(9, int64(time.Hour)), OrderEvidence{}, false, false, "histogram"},
		{"waited now and then", waited(1000, func(i int) int64 { return int64(b2i(i%100 == 0)) }), OrderEvidence{Due: 1000}, true, false, ""},
		{"waited too often", waited(1000, func(i int) int64 { return int64(b2i(i%50 == 0)) }), OrderEvidence{Due: 1000}, true, true, "2.0% of the orders waited"},
		{"ever later", waited(999, func(i int) int64 { return int64(b2i(i > 666)) * 9 * orderMS }), OrderEvidence{Due: 999}, true, true, "ever later"},
	} {
		o := Orders{Workers: 4}
		o.Finish(c.rec, Process{}, c.evidence)
		if reasons := strings.Join(o.Reasons, "; "); o.Valid != c.valid || o.Saturated != c.saturated || !strings.Contains(reasons, c.says) || (c.says == "") != (reasons == "") {
			t.Errorf("%s: valid %v, saturated %v, %s", c.name, o.Valid, o.Saturated, reasons)
		}
	}
	// An order that was sent and never accounted for.
	r := recordOrders(9, orderMS)
	r.Sending(0, Sent{AtNS: 1000 * orderMS})
	var o Orders
	o.Finish(r, Process{}, OrderEvidence{})
	if o.Valid || !strings.Contains(o.Reasons[0], "10 orders were sent and 9 accounted for") {
		t.Errorf("%+v", o)
	}
	// Some failed, and some workers went without.
	for _, c := range []struct {
		failed int
		down   int64
		says   string
	}{{1, 0, ""}, {2, 0, "2.0% of the orders failed, the first: gone"}, {1, 3, "3 of 7 workers had no connection at the end of the window: gone"}} {
		r = recordOrders(100-c.failed, orderMS)
		for range c.failed {
			s := Sent{AtNS: 1500 * orderMS, SentNS: 1500 * orderMS}
			r.Sending(0, s)
			r.Failed(0, s, errors.New("gone"))
		}
		o = Orders{Workers: 7}
		o.Finish(r, Process{}, OrderEvidence{Down: c.down})
		if reasons := strings.Join(o.Reasons, "; "); o.Valid != (c.says == "") || !strings.Contains(reasons, c.says) {
			t.Errorf("%+v: %s", c, reasons)
		}
	}
	// All rejected.
	r = recordOrders(0, 0)
	r.Sending(0, Sent{AtNS: 1000 * orderMS})
	r.Rejected(0, Sent{AtNS: 1000 * orderMS}, "UNKNOWN_ACCOUNT: x")
	o.Finish(r, Process{}, OrderEvidence{})
	if o.Valid || !strings.Contains(o.Reasons[0], "rejected: UNKNOWN_ACCOUNT: x") {
		t.Errorf("%+v", o)
	}
	// All failed.
	r = recordOrders(0, 0)
	s := Sent{AtNS: 1000 * orderMS}
	r.Sending(0, s)
	r.Failed(0, s, errors.New("refused"))
	o.Finish(r, Process{}, OrderEvidence{})
	if o.Valid || o.Latency != nil || !strings.Contains(o.Reasons[0], "all orders failed: refused") {
		t.Errorf("%+v", o)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestMedianOrders(t *testing.T) {
	run := func(n int64) *Orders {
		cpu := 10 * n
		o := &Orders{Path: "p", Valid: true, Sent: 100 * n, Acked: 99 * n, Rejected: n, Throughput: 1.5 * float64(n), Latency: &Quantiles{P50: n, P99: 7 * n}, ServerCPUNSPerOrder: &cpu}
		return o
	}
	m := MedianOrders([]*Orders{run(5), run(1), run(3)})
	want := run(3)
	want.Reasons = []string{}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, want %+v", m, want)
	}
	bad := run(9)
	bad.Valid, bad.Latency, bad.ServerCPUNSPerOrder = false, nil, nil
	m = MedianOrders([]*Orders{run(2), bad})
	if m.Valid || m.Latency.P50 != 2 || *m.ServerCPUNSPerOrder != 20 || m.Sent != 550 {
		t.Errorf("%+v", m)
	}
	if MedianOrders(nil) != nil {
		t.Error("a median of nothing")
	}
}

func BenchmarkOrderRecorder(b *testing.B) {
	r := NewOrderRecorder(1)
	r.SetWindow(0, 1<<62)
	b.ReportAllocs()
	for i := range b.N {
		o := Sent{AtNS: int64(i), SentNS: int64(i)}
		r.Sending(0, o)
		r.Acked(0, o, int64(i)+1000, 0, true)
	}
}

// A ledger that counts other orders than the trader's is another exchange's.
func TestOrderLedgerIsOfTheseOrders(t *testing.T) {
	for served, want := range map[int64]string{
		1000: "", 1050: "", 950: "", 0: "is another exchange, or was started anew", 700: "is another exchange, or was started anew", 5000: "and 1000 were the trader's",
	} {
		r := recordOrders(0, 0)
		for i := range int64(1000) {
			o := Sent{AtNS: 1000*orderMS + i, SentNS: 1000*orderMS + i}
			r.Sending(0, o)
			r.Acked(0, o, o.AtNS+orderMS, orderMS, true)
		}
		run := Orders{Workers: 4}
		run.Finish(r, Process{}, OrderEvidence{Ledger: &Ledger{Counters: map[string]int64{OrderRequests: served}, Process: Process{CPUUserNS: 1e6}}})
		said := strings.Join(run.Reasons, "; ")
		if (want == "") != run.Valid || !strings.Contains(said, want) {
			t.Errorf("served %d: valid %t, %s", served, run.Valid, said)
		}
		if (want == "") != (run.ServerCPUNSPerOrder != nil) || (want == "") != (run.LatencyWithService != nil) {
			t.Errorf("served %d: %+v", served, run)
		}
	}
}

// An outage in a closed loop costs one order for each worker; the time counts.
func TestOrderOutageIsNotValid(t *testing.T) {
	for away, valid := range map[int64]bool{0: true, 5 * orderMS: true, 50 * orderMS: false} {
		r := recordOrders(0, 0)
		from, to := r.fromNS.Load(), r.toNS.Load()
		for i := range int64(1000) {
			o := Sent{AtNS: from + i, SentNS: from + i}
			r.Sending(0, o)
			if i == 500 {
				r.Failed(0, o, errors.New("connection reset"))
				r.Away(0, from+1, from+1+away*(to-from)/(1000*orderMS))
				continue
			}
			r.Acked(0, o, o.AtNS+orderMS, 0, true)
		}
		r.Away(0, from-10*orderMS, from) // in the warm-up
		run := Orders{Workers: 1}
		run.Finish(r, Process{}, OrderEvidence{})
		if said := strings.Join(run.Reasons, "; "); run.Valid != valid || !valid && !strings.Contains(said, "of the window on orders that failed and on new connections: connection reset") {
			t.Errorf("away for %d: valid %t, %s", away, run.Valid, said)
		}
	}
}
