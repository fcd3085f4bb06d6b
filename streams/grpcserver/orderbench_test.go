package grpcserver

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// filling is a desk that fills an order and keeps nothing, so that what is left is
// the server. With the exchange's own desk the benchmark of the same name in
// cmd/tickgauge measures it.
type filling struct {
	order.Desk
	seq atomic.Uint64
}

func (d *filling) Submit(_ context.Context, req order.Request) (order.Execution, error) {
	e := reportOn(req)
	e.Account, e.ExecType, e.OrdStatus = "acct-1", order.ExecTrade, order.Filled
	e.ReportSeq = d.seq.Add(1)
	e.OrderID, e.ExecID, e.TransactTimeNS = e.ReportSeq, e.ReportSeq, 1_700_000_000_000_000_000
	e.LastQty, e.LastPx, e.CumQty, e.AvgPx = req.OrderQty, req.Price, req.OrderQty, req.Price
	return e, nil
}

// bare is an OrderEntry that decodes the order, as generated, and does nothing with
// it.
type bare struct {
	pb.UnimplementedOrderEntryServer
	answer *pb.Execution
}

func (b *bare) ExecuteOrder(context.Context, *pb.Order) (*pb.Execution, error) { return b.answer, nil }

// BenchmarkUnaryOrder compares ExecuteOrder with a bare handler: 64 workers on four
// connections over loopback, orders of 1 KB, the sides in turn. Clients and server
// share the process, so that the ratio is of throughputs as a client sees them.
func BenchmarkUnaryOrder(b *testing.B) {
	hub, err := feed.NewHub([]feed.Symbol{{Name: "A", TickSize: 1e7}}, feed.HubOptions{Encoders: wire.HubEncoders()})
	if err != nil {
		b.Fatal(err)
	}
	exchange, err := streams.NewExchange(hub, streams.Options{Desk: &filling{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		answer, err := (&filling{}).Submit(b.Context(), *execute("bench-0000000001"))
		if err != nil {
			b.Fatal(err)
		}
		server := grpc.NewServer()
		pb.RegisterOrderEntryServer(server, &bare{answer: wire.ExecutionToProto(&answer)})
		benchOrders(b, func(ctx context.Context, ln net.Listener) error {
			defer context.AfterFunc(ctx, server.Stop)()
			return server.Serve(ln)
		})
	})
	b.Run("exchange", func(b *testing.B) {
		benchOrders(b, func(ctx context.Context, ln net.Listener) error { return New(exchange).Serve(ctx, ln, grace) })
	})
}

func benchOrders(b *testing.B, serve func(context.Context, net.Listener) error) {
	const workers, connections = 64, 4
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, ln) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
	}()
	conns := make([]*grpc.ClientConn, connections)
	for i := range conns {
		if conns[i], err = grpc.NewClient(ln.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conns[i].Close() }()
		if _, err := unary(b, conns[i], wire.Protobuf, execute("first")); err != nil { // connects
			b.Fatal(err)
		}
	}
	padding := wire.OrderPadding(wire.Protobuf, execute("bench-0000000001"), 1024)
	codec := grpc.ForceCodecV2(wire.Codec(wire.Protobuf))
	var n atomic.Int64
	var g sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for w := range workers {
		g.Go(func() {
			for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
				q := wire.PaddedOrder{Request: *execute(fmt.Sprintf("bench-%010d", i)), Padding: padding}
				if i%2 == 0 {
					q.Request.Side, q.Request.Price = feed.SideSell, 61837_630000000
				}
				var e wire.ReceivedExecution
				err := conns[w%connections].Invoke(context.Background(), pb.OrderEntry_ExecuteOrder_FullMethodName, &q, &e, codec)
				if err != nil || e.Execution.OrdStatus != order.Filled {
					b.Errorf("%+v, %v", e, err)
					return
				}
			}
		})
	}
	g.Wait()
}
