package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/desk"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// reports is a sink that keeps the executions of one stream.
type reports struct {
	came  chan order.Execution
	ended chan error
}

func newReports() *reports {
	return &reports{came: make(chan order.Execution, 1000), ended: make(chan error, 1)}
}

func (r *reports) Deliver(d *clients.Delivery) {
	if d.Execution != nil {
		r.came <- *d.Execution
	}
}

func (r *reports) Ended(_ int, err error) { r.ended <- err }

// seqs takes n executions and returns their report_seq.
func (r *reports) seqs(t *testing.T, n int) (seqs []uint64) {
	t.Helper()
	for range n {
		select {
		case e := <-r.came:
			seqs = append(seqs, e.ReportSeq)
		case err := <-r.ended:
			t.Fatalf("the stream ended after %d: %v", seqs, err)
		case <-time.After(patience):
			t.Fatalf("waited in vain for %d executions after %d", n, seqs)
		}
	}
	return seqs
}

func (v *venue) submit(t *testing.T, account, id string) order.Execution {
	t.Helper()
	req := ioc(id, feed.SideBuy, lot, 101e9)
	req.Account = account
	e, err := v.desk.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestStreamsCarryExecutions: of the account that they name, beside ticks or alone,
// from where they say, and no others.
func TestStreamsCarryExecutions(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := orderVenue(t, streams.Options{}, desk.Options{Reports: 8})
		dial := func(req feed.Subscribe) (*reports, clients.Conn, error) {
			d, err := tr.dialer(v.target(tr), dialOptions{encoding: enc})
			if err != nil {
				t.Fatal(err)
			}
			r := newReports()
			conn, err := d.Dial(t.Context(), 0, r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			return r, conn, conn.Open(t.Context(), 0, req)
		}
		open := func(req feed.Subscribe) *reports {
			t.Helper()
			r, _, err := dial(req)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		v.submit(t, "acct-1", "before") // reports 1 and 2
		fresh := open(feed.Subscribe{Account: "acct-1"})
		beside := open(feed.Subscribe{Symbols: []string{"A"}, Account: "acct-1", Resume: true, AfterReportSeq: 1})
		v.submit(t, "acct-2", "others")
		v.submit(t, "acct-1", "after") // 3 and 4
		v.publish(0, 1)
		if got := fresh.seqs(t, 2); !slices.Equal(got, []uint64{3, 4}) {
			t.Errorf("a fresh stream got %d", got)
		}
		if got := beside.seqs(t, 3); !slices.Equal(got, []uint64{2, 3, 4}) {
			t.Errorf("a stream that resumes got %d", got)
		}
		for i := range 5 { // up to 14: the ring has 7 to 14
			v.submit(t, "acct-1", fmt.Sprint("more", i))
			fresh.seqs(t, 2) // who is in time loses nothing
			beside.seqs(t, 2)
		}
		if got := open(feed.Subscribe{Account: "acct-1", Resume: true, AfterReportSeq: 4}).seqs(t, 8); !slices.Equal(got, []uint64{7, 8, 9, 10, 11, 12, 13, 14}) {
			t.Errorf("a stream that resumes too late got %d", got)
		}
		if got := v.exchange.Stats().ReportsLost; got != 2 {
			t.Errorf("%d reports are counted as lost, want 2", got)
		}
		if got := open(feed.Subscribe{Account: "acct-1", Resume: true, AfterReportSeq: 99}).seqs(t, 8); got[0] != 7 {
			t.Errorf("a stream of an earlier run got %d", got)
		}
		for _, c := range []struct {
			req  feed.Subscribe
			code feed.ProblemCode
		}{
			{feed.Subscribe{Account: "acct-99"}, "UNKNOWN_ACCOUNT"},
			{feed.Subscribe{Account: "acct-1", Cursor: v.hub.Epoch() + "-0"}, feed.CodeBadRequest},
			{feed.Subscribe{Account: "acct-1", Symbols: []string{"Z"}}, feed.CodeUnknownSymbol},
			{feed.Subscribe{}, feed.CodeBadRequest},
		} {
			_, _, err := dial(c.req)
			var p *feed.Problem
			if !errors.As(err, &p) || p.Code != c.code {
				t.Errorf("%+v: %v, want %s", c.req, err, c.code)
			}
		}
		v.stop()
		var p *feed.Problem
		if err := <-fresh.ended; !errors.As(err, &p) || p.Code != feed.CodeShuttingDown {
			t.Errorf("at the end: %v", err)
		}
	})
}

func (v *venue) orderEntry(t *testing.T) pb.OrderEntryClient {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+v.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return pb.NewOrderEntryClient(cc)
}

// TestWatchExecutions is for clients that want executions alone.
func TestWatchExecutions(t *testing.T) {
	v := orderVenue(t, streams.Options{}, desk.Options{})
	c := v.orderEntry(t)
	v.submit(t, "acct-1", "a")
	zero := uint64(0)
	all, err := c.WatchExecutions(t.Context(), &pb.WatchExecutionsRequest{AfterReportSeq: &zero})
	if err != nil {
		t.Fatal(err)
	}
	next := func(s grpc.ServerStreamingClient[pb.Execution]) *pb.Execution {
		t.Helper()
		e, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := next(all); e.GetReportSeq() != 1 || e.GetExecType() != pb.ExecType_EXEC_TYPE_NEW || e.GetClOrdId() != "a" {
		t.Errorf("first %v", e)
	}
	if e := next(all); e.GetReportSeq() != 2 || e.GetExecType() != pb.ExecType_EXEC_TYPE_TRADE {
		t.Errorf("second %v", e)
	}
	fresh, err := c.WatchExecutions(t.Context(), &pb.WatchExecutionsRequest{Account: "acct-1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Header(); err != nil { // it watches by now
		t.Fatal(err)
	}
	waitFor(t, "both streams", func() bool { return v.exchange.Stats().Open == 2 })
	unknown, err := c.WatchExecutions(t.Context(), &pb.WatchExecutionsRequest{Account: "x"})
	if err == nil {
		_, err = unknown.Recv()
	}
	if status.Code(err) != codes.NotFound || !strings.HasPrefix(status.Convert(err).Message(), "UNKNOWN_ACCOUNT: ") {
		t.Errorf("an unknown account: %v", err)
	}
	go v.stop()
	_, err = all.Recv()
	if status.Code(err) != codes.Unavailable || !strings.HasPrefix(status.Convert(err).Message(), "SHUTTING_DOWN: ") {
		t.Errorf("at the end: %v", err)
	}
}

// TestStreamOrders: pipelined orders are answered in their order, one that is not
// readable too, and after the client's last word the stream ends well.
func TestStreamOrders(t *testing.T) {
	v := orderVenue(t, streams.Options{}, desk.Options{})
	c := v.orderEntry(t)
	s, err := c.StreamOrders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	good := func(id string) *pb.OrderRequest {
		return &pb.OrderRequest{Request: &pb.OrderRequest_Execute{Execute: &pb.Order{ClOrdId: id, Symbol: "A", Side: pb.Side_SIDE_BUY,
			OrdType: pb.OrdType_ORD_TYPE_LIMIT, OrderQty: int64(lot), Price: 99e9}}}
	}
	for _, q := range []*pb.OrderRequest{
		good("a"), {}, {Request: &pb.OrderRequest_Replace{Replace: &pb.ReplaceRequest{ClOrdId: "b", OrigClOrdId: "a", OrderQty: 2, Price: 98e9}}},
		{Request: &pb.OrderRequest_Cancel{Cancel: &pb.CancelRequest{ClOrdId: "c", OrigClOrdId: "b"}}},
		{Request: &pb.OrderRequest_Cancel{Cancel: &pb.CancelRequest{OrigClOrdId: "b"}}},
	} {
		if err := s.Send(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		execType pb.ExecType
		reject   string
	}{
		{pb.ExecType_EXEC_TYPE_NEW, ""}, {pb.ExecType_EXEC_TYPE_REJECTED, "BAD_REQUEST"}, {pb.ExecType_EXEC_TYPE_REPLACED, ""},
		{pb.ExecType_EXEC_TYPE_CANCELED, ""}, {pb.ExecType_EXEC_TYPE_REJECTED, "TOO_LATE"},
	} {
		e, err := s.Recv()
		if err != nil || e.GetExecType() != want.execType || e.GetOrdRejReason() != want.reject {
			t.Errorf("%v, %v; want %v", e, err, want)
		}
	}
	if _, err := s.Recv(); err == nil || status.Code(err) != codes.Unknown && err.Error() != "EOF" {
		t.Errorf("the end is %v", err)
	}
}

// TestStalledOrderStream: a client that sends orders and reads no answers is cut
// once a write has not progressed, and nobody else waits for it.
func TestStalledOrderStream(t *testing.T) {
	v := orderVenue(t, streams.Options{WriteTimeout: 100 * time.Millisecond}, desk.Options{})
	c := v.orderEntry(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := c.StreamOrders(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan int, 1)
	go func() {
		n := 0
		for ; ; n++ {
			q := &pb.OrderRequest{Request: &pb.OrderRequest_Execute{Execute: &pb.Order{ClOrdId: fmt.Sprint("s", n), Symbol: strings.Repeat("Z", 500)}}}
			if s.Send(q) != nil {
				break
			}
		}
		sent <- n
	}()
	p, err := findPath("grpc-unary", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := execute(t, v.enter(t, p, wire.Protobuf, 0), ioc("other", feed.SideBuy, lot, 101e9)); got.OrdStatus != order.Filled {
		t.Errorf("another's order got %+v", got)
	}
	waitFor(t, "the end of the stream", func() bool { return v.exchange.Stats().TimedOut == 1 })
	// The client is told once it reads.
	for err = nil; err == nil; _, err = s.Recv() {
		continue
	}
	if status.Code(err) != codes.ResourceExhausted || !strings.HasPrefix(status.Convert(err).Message(), "SLOW_CONSUMER: ") {
		t.Errorf("the stream ended with %v", err)
	}
	if n := <-sent; n < 10 {
		t.Errorf("only %d orders were sent", n)
	}
}
