package grpcclient

import (
	"context"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// floor is an OrderEntry that a test plays: unary calls are answered as their
// symbol has it, streams by stream.
type floor struct {
	pb.UnimplementedOrderEntryServer
	stream  func(peer) error
	waiting chan struct{} // a call waits for its end

	mu    sync.Mutex
	got   []order.Request
	bytes []int // of each message
}

func (f *floor) ExecuteOrder(ctx context.Context, o *pb.Order) (*pb.Execution, error) {
	req, err := wire.OrderFromProto(o)
	if err != nil {
		return nil, err
	}
	req.Action = order.ActionExecute
	f.mu.Lock()
	if len(f.got) < 1000 { // a benchmark has many
		f.got = append(f.got, req)
	}
	f.mu.Unlock()
	switch req.Symbol {
	case "WAIT":
		f.waiting <- struct{}{}
		<-ctx.Done()
		return nil, wire.GRPCStatus(ctx.Err())
	case "REJECT":
		x := rejected(&req, order.RejectOffGrid)
		return nil, wire.RejectGRPCStatus(&x)
	case "PROBLEM":
		return nil, wire.GRPCStatus(&feed.Problem{Code: feed.CodeUnsupported, Message: "no desk"})
	}
	x := filled(&req)
	return wire.ExecutionToProto(&x), nil
}

// HandleRPC is stats.Handler's, as are the others below.
func (f *floor) HandleRPC(_ context.Context, s stats.RPCStats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if in, ok := s.(*stats.InPayload); ok && len(f.bytes) < 1000 {
		f.bytes = append(f.bytes, in.Length)
	}
}

func (*floor) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*floor) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*floor) HandleConn(context.Context, stats.ConnStats)                       {}

// StreamOrders takes the stream as the exchange does, unless its play is to refuse it.
func (f *floor) StreamOrders(stream grpc.BidiStreamingServer[pb.OrderRequest, pb.Execution]) error {
	return f.stream(peer{stream})
}

// answering is a play that takes the stream and answers each order.
func answering(answer func(peer, *order.Request) error) func(peer) error {
	return func(p peer) error {
		if err := p.SendHeader(nil); err != nil {
			return err
		}
		for {
			var asked wire.AskedOrder
			if err := p.RecvMsg(&asked); err != nil {
				return err
			}
			if asked.Err != nil {
				return asked.Err
			}
			if err := answer(p, &asked.Request); err != nil {
				return err
			}
		}
	}
}

func filled(req *order.Request) order.Execution {
	return order.Execution{ClOrdID: req.ClOrdID, Account: "acct-1", Symbol: req.Symbol, Side: req.Side, Type: req.Type, TimeInForce: req.TimeInForce,
		OrderQty: req.OrderQty, Price: req.Price, OrderID: 1, ExecID: 2, ReportSeq: 9, ExecType: order.ExecTrade, OrdStatus: order.Filled,
		LastQty: req.OrderQty, LastPx: req.Price, CumQty: req.OrderQty, AvgPx: req.Price, ServiceNS: 11}
}

func rejected(req *order.Request, code order.RejectCode) order.Execution {
	return order.Execution{ClOrdID: req.ClOrdID, Symbol: req.Symbol, ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: code, Text: "no"}
}

// limit is an order that the floor fills.
func limit(id, symbol string) *order.Request {
	return &order.Request{Action: order.ActionExecute, ClOrdID: id, Symbol: symbol, Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 2e8, Price: 5e9}
}

// trading serves a floor.
func trading(t testing.TB, f *floor, opts ...grpc.ServerOption) (target string, server *grpc.Server) {
	t.Helper()
	f.waiting = make(chan struct{}, 1)
	server = grpc.NewServer(append(opts, grpc.StatsHandler(f))...)
	pb.RegisterOrderEntryServer(server, f)
	return serve(t, server), server
}

// dialOrders returns connection 0 to target, which closes when the test ends.
func dialOrders(t testing.TB, target string, opts OrderOptions) clients.OrderConn {
	t.Helper()
	d, err := NewOrders(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.DialOrders(within(t, patience), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func openOrders(t testing.TB, c clients.OrderConn) clients.OrderEntry {
	t.Helper()
	e, err := c.OpenOrders(within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}
