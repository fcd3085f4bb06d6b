package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/desk"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// constant is what the bare handlers answer.
var constant = order.Execution{
	Account: "acct-1", ClOrdID: "abcdefghij-0000000001", Symbol: "A", Side: feed.SideBuy, Type: order.Limit, TimeInForce: order.IOC,
	OrderQty: lot, Price: 101e9, OrderID: 1234, ExecID: 5678, ReportSeq: 2468, ExecType: order.ExecTrade, OrdStatus: order.Filled,
	LastQty: lot, LastPx: 101e9, CumQty: lot, AvgPx: 101e9, TransactTimeNS: 1_700_000_000_000_000_000,
}

// bareOrders is an OrderEntry that decodes the order and does nothing with it.
type bareOrders struct {
	pb.UnimplementedOrderEntryServer
	answer *pb.Execution
}

func (b *bareOrders) ExecuteOrder(context.Context, *pb.Order) (*pb.Execution, error) {
	return b.answer, nil
}

// bareTarget serves a path with nothing behind it, and returns its address.
func bareTarget(b *testing.B, p *orderPath, enc wire.Encoding) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	if p.overGRPC {
		s := grpc.NewServer()
		pb.RegisterOrderEntryServer(s, &bareOrders{answer: wire.ExecutionToProto(&constant)})
		go func() { served <- s.Serve(ln) }()
		b.Cleanup(func() { s.Stop(); _ = <-served })
		return ln.Addr().String()
	}
	answer, err := wire.AppendExecution(nil, enc, &constant)
	if err != nil {
		b.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var q order.Request
		if err == nil {
			err = wire.UnmarshalOrder(enc, body, order.ActionExecute, &q)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})}
	go func() { served <- s.Serve(ln) }()
	b.Cleanup(func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			b.Error(err)
		}
	})
	return ln.Addr().String()
}

// BenchmarkUnaryOrder compares the exchange with a bare handler that decodes the
// same order of 1 KB and returns a constant answer: 64 workers, the same clients.
// Both sides are in this process, so a handler's cost shows less than it would
// alone; the ratio is of throughputs, as a client sees them.
func BenchmarkUnaryOrder(b *testing.B) {
	for _, c := range []struct {
		path, version string
		enc           wire.Encoding
	}{{"grpc-unary", "2", wire.Protobuf}, {"rest-unary", "1.1", wire.JSON}, {"rest-unary", "2", wire.JSON}} {
		p, err := findPath(c.path, c.version)
		if err != nil {
			b.Fatal(err)
		}
		name := fmt.Sprintf("%s/http%s/%s", c.path, c.version, c.enc)
		b.Run(name+"/bare", func(b *testing.B) { benchOrders(b, p, c.enc, bareTarget(b, p, c.enc)) })
		b.Run(name+"/exchange", func(b *testing.B) {
			v := orderVenue(b, streams.Options{}, desk.Options{})
			v.desk.Quote(0, 100e9, 1e9*lot, 101e9, 1e9*lot)
			benchOrders(b, p, c.enc, v.orderTarget(p))
		})
	}
}

func benchOrders(b *testing.B, p *orderPath, enc wire.Encoding, target string) {
	const workers = 64
	d, err := p.dialer(target, pathOptions{encoding: enc, payloadBytes: 1024})
	if err != nil {
		b.Fatal(err)
	}
	connections := workers
	if p.shares {
		connections = sharedOrderConns
	}
	conns := make([]clients.OrderConn, connections)
	for i := range conns {
		if conns[i], err = d.DialOrders(b.Context(), i); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conns[i].Close() }()
	}
	var n atomic.Int64
	var g sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for w := range workers {
		g.Go(func() {
			e, err := conns[w%connections].OpenOrders(b.Context())
			if err != nil {
				b.Error(err)
				return
			}
			for {
				i := n.Add(1)
				if i > int64(b.N) {
					return
				}
				req := ioc(fmt.Sprintf("bench-%010d", i), feed.SideBuy, lot, 101e9)
				if i%2 == 0 {
					req.Side, req.Price = feed.SideSell, 100e9
				}
				ack, err := e.Execute(b.Context(), &req)
				if err != nil || ack.Execution.OrdStatus != order.Filled {
					b.Errorf("%+v, %v", ack, err)
					return
				}
			}
		})
	}
	g.Wait()
}
