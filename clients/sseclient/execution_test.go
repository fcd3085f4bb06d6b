package sseclient

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// reporter is a handler that keeps what it was asked for and says hello,
// subscribed, a tick, the reports and another tick.
type reporter struct {
	t       testing.TB
	reports []order.Execution

	mu    sync.Mutex
	asked []url.Values
}

// ServeHTTP is http.Handler's.
func (p *reporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	p.mu.Lock()
	p.asked = append(p.asked, query)
	p.mu.Unlock()
	enc, index := wire.JSON, wire.EventJSON
	if query.Get("encoding") == "proto" {
		enc, index = wire.Protobuf, wire.EventProtobuf
	}
	w.Header().Set("Content-Type", eventStream)
	write := func(event []byte, err error) {
		if err != nil {
			p.t.Error(err)
		}
		_, _ = w.Write(event)
	}
	tick := func(seq uint64) {
		write(wire.HubEncoders()[index](nil, "e0", &feed.Tick{Symbol: "AAA", Seq: seq, HubSeq: seq}), nil)
	}
	write(wire.AppendEvent(nil, enc, &feed.Message{Hello: &feed.Hello{Epoch: "e0"}}))
	write(wire.AppendEvent(nil, enc, &feed.Message{Subscribed: &feed.Subscribed{}}))
	tick(1)
	for i := range p.reports {
		write(wire.AppendExecutionEvent(nil, enc, &p.reports[i]))
	}
	tick(2)
	write([]byte(": heartbeat 5\n\n"), nil)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// TestExecutions: an execution is a delivery without a message, and what comes
// after it is none.
func TestExecutions(t *testing.T) {
	reports := []order.Execution{
		{Account: "acct-1", ClOrdID: "a", Symbol: "AAA", Side: feed.SideBuy, Type: order.Limit, TimeInForce: order.IOC, OrderQty: 100_000_000,
			Price: 61_837_630_000_000, OrderID: 1, ExecID: 2, ReportSeq: 3, ExecType: order.ExecTrade, OrdStatus: order.Filled,
			LastQty: 100_000_000, LastPx: 61_837_630_000_000, CumQty: 100_000_000, AvgPx: 61_837_630_000_000, TransactTimeNS: 1e18, ServiceNS: 4},
		{Account: "acct-1", ClOrdID: "b", ExecID: 3, ReportSeq: 4, ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: order.RejectOffGrid, Text: "off"},
	}
	for _, version := range versions {
		for _, enc := range wire.Encodings() {
			t.Run("HTTP "+version+" "+enc.String(), func(t *testing.T) {
				p := &reporter{t: t, reports: reports}
				s := newSink(t)
				c := dial(t, serve(t, p, 100).addr, Options{Encoding: enc, HTTPVersion: version}, s)
				before := feed.Now()
				if err := c.Open(context.Background(), 5, feed.Subscribe{Account: "acct-1"}); err != nil {
					t.Fatal(err)
				}
				got := s.waitMessages(5, 7)
				for i, want := range reports {
					d := got[3+i]
					if d.Execution == nil || *d.Execution != want {
						t.Fatalf("execution %d: %+v, want %+v", i, d.Execution, want)
					}
					if empty := (feed.Message{Ticks: d.Message.Ticks[:0]}); len(d.Message.Ticks) != 0 || !reflect.DeepEqual(d.Message, empty) {
						t.Errorf("execution %d came with %+v", i, d.Message)
					}
					if d.Stream != 5 || d.ReceivedNS < before || d.DecodedNS < d.ReceivedNS || d.DecodedNS > feed.Now() {
						t.Errorf("execution %d: stream %d, received %d, decoded %d, opened %d", i, d.Stream, d.ReceivedNS, d.DecodedNS, before)
					}
				}
				for i, d := range []int{0, 1, 2, 5, 6} {
					if got[d].Execution != nil {
						t.Errorf("message %d has an execution %+v", i, got[d].Execution)
					}
				}
				if last := got[5].Message.Ticks; len(last) != 1 || last[0].Seq != 2 || got[6].Message.Heartbeat == nil {
					t.Errorf("after the executions came %+v and %+v", got[5].Message, got[6].Message)
				}
			})
		}
	}
}

// TestQuery is what a subscribe asks for.
func TestQuery(t *testing.T) {
	const top = 1<<64 - 2
	for name, c := range map[string]struct {
		req  feed.Subscribe
		want string
	}{
		"symbols":         {feed.Subscribe{Symbols: []string{"A", "B,&="}}, "encoding=json&symbol=A&symbol=B%2C%26%3D"},
		"account":         {feed.Subscribe{Account: "acct-1"}, "account=acct-1&encoding=json"},
		"strange account": {feed.Subscribe{Account: "a&b=c d"}, "account=a%26b%3Dc+d&encoding=json"},
		"no resume":       {feed.Subscribe{Account: "a", AfterReportSeq: 7}, "account=a&encoding=json"},
		"from the start":  {feed.Subscribe{Account: "a", Resume: true}, "account=a&after_report_seq=0&encoding=json"},
		"resume":          {feed.Subscribe{Account: "a", Resume: true, AfterReportSeq: top}, "account=a&after_report_seq=18446744073709551614&encoding=json"},
		"all":             {feed.Subscribe{Symbols: []string{"A"}, Policy: feed.PolicyConflate, Cursor: "e0-1", Account: "a", Resume: true, AfterReportSeq: 2}, "account=a&after_report_seq=2&cursor=e0-1&encoding=json&policy=conflate&symbol=A"},
		// The exchange refuses it, as on every transport.
		"resume of nobody's": {feed.Subscribe{Symbols: []string{"A"}, Resume: true, AfterReportSeq: 2}, "after_report_seq=2&encoding=json&symbol=A"},
	} {
		p := &reporter{t: t}
		cn := dial(t, serve(t, p, 100).addr, Options{Encoding: wire.JSON}, newSink(t))
		if err := cn.Open(context.Background(), 0, c.req); err != nil {
			t.Fatal(err)
		}
		if got := p.asked[0].Encode(); got != c.want { // no lock: it has answered
			t.Errorf("%s: asked for %s, want %s", name, got, c.want)
		}
	}
}

// TestUnknownAccount: a refusal under the code of an order's is a problem.
func TestUnknownAccount(t *testing.T) {
	for _, version := range versions {
		target := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wire.WriteProblem(w, r, &feed.Problem{Code: feed.ProblemCode(order.RejectUnknownAccount), Message: "unknown account"})
		}), 100)
		s := newSink(t)
		err := dial(t, target.addr, Options{HTTPVersion: version}, s).Open(context.Background(), 0, feed.Subscribe{Account: "x"})
		var p *feed.Problem
		if !errors.As(err, &p) || p.Code != feed.ProblemCode(order.RejectUnknownAccount) {
			t.Errorf("HTTP/%s: %v", version, err)
		}
		s.silent()
	}
}

// TestBrokenExecution ends its stream with an error.
func TestBrokenExecution(t *testing.T) {
	hello, subscribed := greeting(t)
	for name, then := range map[string]string{
		"no message": "event: execution\ndata: {\"execution\":{\"side\":\"UP\"}}\n\n",
		"no number":  "event: execution\ndata: {\"execution\":{\"reportSeq\":-1}}\n\n",
	} {
		s := newSink(t)
		c := dial(t, serve(t, answer(200, eventStream, hello+subscribed+then), 0).addr, Options{Encoding: wire.JSON}, s)
		if err := c.Open(context.Background(), 0, feed.Subscribe{Account: "acct-1"}); err != nil {
			t.Fatal(err)
		}
		if err := s.waitEnded(0); err == nil || errors.Is(err, errCutShort) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
