package restserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// filling is a desk that fills an order and keeps nothing, so that what is left is
// the server. With the exchange's own desk the benchmark of the same name in
// cmd/tickgauge measures it.
type filling struct {
	order.Desk
	n atomic.Uint64
}

func (d *filling) Submit(_ context.Context, req order.Request) (order.Execution, error) {
	return outcome(req, d.n.Add(1)), nil
}

// bareHandler reads the order as plainly as it can be and has a constant answer.
func bareHandler(b *testing.B, enc wire.Encoding) http.Handler {
	x := outcome(good("bench-0000000001"), 1_000_000)
	answer, err := wire.AppendExecution(nil, enc, &x)
	if err != nil {
		b.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var q order.Request
		if err == nil {
			err = wire.UnmarshalOrder(enc, body, order.ActionExecute, &q)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header()["Content-Type"] = kinds[enc][:1]
		_, _ = w.Write(answer)
	})
}

// BenchmarkUnaryOrder compares POST with a bare handler: 64 workers over loopback,
// each with a connection of its own, or four that all share over HTTP/2; orders of
// 1 KB, the sides in turn. Clients and server share the process, so that the ratio
// is of throughputs as a client sees them.
func BenchmarkUnaryOrder(b *testing.B) {
	hub, err := feed.NewHub([]feed.Symbol{{Name: "AAA", TickSize: 1e7}}, feed.HubOptions{Encoders: wire.HubEncoders()})
	if err != nil {
		b.Fatal(err)
	}
	e, err := streams.NewExchange(hub, streams.Options{Desk: &filling{}})
	if err != nil {
		b.Fatal(err)
	}
	for _, version := range versions {
		for _, enc := range wire.Encodings() {
			name := fmt.Sprintf("http%s/%s", version, enc)
			b.Run(name+"/bare", func(b *testing.B) {
				srv := &http.Server{Handler: bareHandler(b, enc), Protocols: new(http.Protocols)}
				srv.Protocols.SetHTTP1(true)
				srv.Protocols.SetUnencryptedHTTP2(true)
				benchOrders(b, version, enc, func(ctx context.Context, ln net.Listener) error {
					defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
					if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
						return err
					}
					return nil
				})
			})
			b.Run(name+"/exchange", func(b *testing.B) {
				handler := streams.NewHTTPHandler(New(e).Routes(), wire.WriteProblem)
				benchOrders(b, version, enc, func(ctx context.Context, ln net.Listener) error {
					return streams.ServeHTTP(ctx, ln, handler, e.Options(), patience, slog.New(slog.DiscardHandler))
				})
			})
		}
	}
}

func benchOrders(b *testing.B, version string, enc wire.Encoding, serve func(context.Context, net.Listener) error) {
	const workers = 64
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, ln) }()
	transports := make([]*http.Transport, map[string]int{"1.1": workers, "2": 4}[version])
	first := good("bench-0000000001")
	padding := wire.OrderPadding(enc, &first, 1024)
	for i := range transports {
		transports[i] = transport(version)
		if _, err := execute(transports[i], ln.Addr().String(), enc, &first, padding); err != nil { // connects
			b.Fatal(err)
		}
	}
	defer func() {
		for _, tr := range transports {
			tr.CloseIdleConnections()
		}
		stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
	}()
	var n atomic.Int64
	var g sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for worker := range workers {
		g.Go(func() {
			for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
				q := good(fmt.Sprintf("bench-%010d", i))
				if i%2 == 0 {
					q.Side, q.Price = feed.SideSell, 100_000_000_000
				}
				x, err := execute(transports[worker%len(transports)], ln.Addr().String(), enc, &q, padding)
				if err != nil || x.OrdStatus != order.Filled {
					b.Errorf("order %s: %+v, %v", q.ClOrdID, x, err)
					return
				}
			}
		})
	}
	g.Wait()
	b.StopTimer()
}
