package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order/desk"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
	"github.com/tickgauge/tickgauge/streams/grpcserver"
)

// asProgram makes the test binary the tickgauge program, for tests that need
// processes of their own.
const asProgram = "TICKGAUGE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// patience bounds a wait for a condition that a healthy system meets at once.
const patience = time.Minute

// eachTransport runs a case over every row of the table and every encoding.
func eachTransport(t *testing.T, test func(t *testing.T, tr *transport, enc wire.Encoding)) {
	for i := range transports {
		tr := &transports[i]
		for _, enc := range wire.Encodings() {
			t.Run(fmt.Sprintf("%s/http%s/%s", tr.name, tr.httpVersion, enc), func(t *testing.T) { test(t, tr, enc) })
		}
	}
}

// venue is an exchange with all its servers in this process.
type venue struct {
	hub      *feed.Hub
	exchange *streams.Exchange
	desk     *desk.Desk
	grpc     string
	http     string
	traffic  *streams.Traffic
	stop     func()
}

func newVenue(t *testing.T, symbols []string, ring int, opts streams.Options) *venue {
	t.Helper()
	return newOrderVenue(t, symbols, ring, opts, desk.Options{})
}

// newOrderVenue is a venue whose quotes are its market maker's too, and whose
// trades become ticks.
func newOrderVenue(t testing.TB, symbols []string, ring int, opts streams.Options, deskOpts desk.Options) *venue {
	t.Helper()
	var listed []feed.Symbol
	for _, s := range symbols {
		listed = append(listed, feed.Symbol{Name: s, TickSize: 1e7})
	}
	hub, err := feed.NewHub(listed, feed.HubOptions{Ring: ring, Encoders: wire.HubEncoders()})
	if err != nil {
		t.Fatal(err)
	}
	deskOpts.Traded = func(symbol int, px feed.Price, qty feed.Size, tradeID uint64, aggressor feed.Side) {
		hub.Publish(&feed.Update{Symbol: symbol, Origin: feed.OriginOrder, LastPx: px, LastSz: qty, TradeID: tradeID, Aggressor: aggressor}, feed.Now())
	}
	d, err := desk.New(listed, deskOpts)
	if err != nil {
		t.Fatal(err)
	}
	opts.Desk = d
	exchange, err := streams.NewExchange(hub, opts)
	if err != nil {
		t.Fatal(err)
	}
	v := &venue{hub: hub, exchange: exchange, desk: d, traffic: new(streams.Traffic)}
	lns := make([]net.Listener, 2)
	for i := range lns {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		lns[i] = v.traffic.Listen(ln)
	}
	v.grpc, v.http = lns[0].Addr().String(), lns[1].Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return exchange.Run(ctx) })
	g.Go(func() error { return d.Run(ctx) })
	g.Go(func() error { return grpcserver.New(exchange).Serve(ctx, lns[0], serverGrace) })
	g.Go(func() error {
		return streams.ServeHTTP(ctx, lns[1], streams.NewHTTPHandler(httpRoutes(exchange), wire.WriteProblem), opts, serverGrace, quiet())
	})
	v.stop = sync.OnceFunc(func() {
		stop, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if err := d.Close(stop); err != nil {
			t.Errorf("close the desk: %v", err)
		}
		exchange.Shutdown(stop)
		cancel()
		if err := g.Wait(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(v.stop)
	return v
}

func (v *venue) target(tr *transport) string {
	if tr.overGRPC {
		return v.grpc
	}
	return v.http
}

// publish makes n quotes of a symbol, by index.
func (v *venue) publish(symbol, n int) {
	for range n {
		now := feed.Now()
		v.hub.Publish(&feed.Update{
			Symbol: symbol, Quote: true, Origin: feed.OriginSchedule,
			BidPx: 100e9, BidSz: feed.Size(now), AskPx: 101e9, AskSz: 2e8,
		}, now)
	}
}

// journal is a sink that keeps what one stream delivered.
type journal struct {
	mu       sync.Mutex
	changed  *sync.Cond
	messages []feed.Message
	stamps   []clients.Delivery // without their messages
	ended    bool
	err      error
	pause    chan struct{} // where set, deliveries wait until it is closed
}

func newJournal() *journal {
	j := &journal{}
	j.changed = sync.NewCond(&j.mu)
	return j
}

func (j *journal) Deliver(d *clients.Delivery) {
	j.mu.Lock()
	pause := j.pause
	j.mu.Unlock()
	if pause != nil {
		<-pause
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	m := d.Message
	m.Ticks = append([]feed.Tick(nil), m.Ticks...)
	j.messages = append(j.messages, m)
	j.stamps = append(j.stamps, clients.Delivery{Stream: d.Stream, ReceivedNS: d.ReceivedNS, DecodedNS: d.DecodedNS})
	j.changed.Broadcast()
}

func (j *journal) Ended(_ int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended, j.err = true, err
	j.changed.Broadcast()
}

// await waits until ok says so of what has come.
func (j *journal) await(t *testing.T, what string, ok func(j *journal) bool) {
	t.Helper()
	expired := false
	timer := time.AfterFunc(patience, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		expired = true
		j.changed.Broadcast()
	})
	defer timer.Stop()
	j.mu.Lock()
	defer j.mu.Unlock()
	for !ok(j) {
		if expired {
			t.Fatalf("no %s within %s; %d messages, ended %v: %v", what, patience, len(j.messages), j.ended, j.err)
		}
		j.changed.Wait()
	}
}

// ticks returns the ticks of a symbol so far; the caller holds mu or the stream
// has ended.
func (j *journal) ticks(symbol string) []feed.Tick {
	var out []feed.Tick
	for _, m := range j.messages {
		for _, tick := range m.Ticks {
			if tick.Symbol == symbol {
				out = append(out, tick)
			}
		}
	}
	return out
}

func (j *journal) problem() *feed.Problem {
	for _, m := range j.messages {
		if m.Problem != nil {
			return m.Problem
		}
	}
	return nil
}

// open dials one connection and opens one stream on it.
func open(t *testing.T, v *venue, tr *transport, enc wire.Encoding, j *journal, req feed.Subscribe) (clients.Conn, error) {
	t.Helper()
	return openWith(t, v, tr, dialOptions{encoding: enc}, j, req)
}

func openWith(t *testing.T, v *venue, tr *transport, o dialOptions, j *journal, req feed.Subscribe) (clients.Conn, error) {
	t.Helper()
	dialer, err := tr.dialer(v.target(tr), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := dialer.Dial(ctx, 0, j)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, conn.Open(ctx, 0, req)
}

// refusal returns the problem that answers a subscribe, however the transport
// tells it.
func refusal(t *testing.T, v *venue, tr *transport, enc wire.Encoding, req feed.Subscribe) *feed.Problem {
	t.Helper()
	j := newJournal()
	_, err := open(t, v, tr, enc, j, req)
	var p *feed.Problem
	if errors.As(err, &p) {
		return p
	}
	if err != nil {
		t.Fatalf("open: %v, want a problem", err)
	}
	j.await(t, "problem", func(j *journal) bool { return j.problem() != nil })
	return j.problem()
}
