package grpcclient

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for what must happen; no test waits that long when all is well.
const patience = 30 * time.Second

// eachEncoding runs a test over both content-subtypes.
func eachEncoding(t *testing.T, test func(t *testing.T, enc wire.Encoding)) {
	for _, enc := range wire.Encodings() {
		t.Run(enc.String(), func(t *testing.T) { test(t, enc) })
	}
}

// peer is the exchange's end of a stream, which a test plays.
type peer struct{ grpc.ServerStream }

// say does not mind a client that has gone. It takes what the codec takes.
func (p peer) say(m any) { _ = p.SendMsg(m) }

// greet says what comes before the live ticks; it is false where the client has
// gone.
func (p peer) greet() bool {
	p.say(&feed.Message{Hello: &feed.Hello{Epoch: "1"}})
	if p.RecvMsg(new(feed.Request)) != nil {
		return false
	}
	p.say(&feed.Message{Subscribed: &feed.Subscribed{Policy: feed.PolicyConflate}})
	return true
}

func (p peer) wait() error {
	<-p.Context().Done()
	return p.Context().Err()
}

// market is a MarketData that a test plays.
type market struct {
	pb.UnimplementedMarketDataServer
	play    func(peer) error
	symbols []feed.Symbol
}

func (m *market) Subscribe(stream grpc.BidiStreamingServer[pb.SubscribeRequest, pb.MarketDataMessage]) error {
	return m.play(peer{stream})
}

func (m *market) ListSymbols(context.Context, *pb.ListSymbolsRequest) (*pb.SymbolList, error) {
	return wire.SymbolsToProto(m.symbols), nil
}

// GetQuote has one of A alone.
func (m *market) GetQuote(_ context.Context, req *pb.GetQuoteRequest) (*pb.Tick, error) {
	if req.GetSymbol() != "A" {
		return nil, wire.GRPCStatus(&feed.Problem{Code: feed.CodeUnknownSymbol, Message: "no such symbol"})
	}
	return wire.TickToProto(&feed.Tick{Symbol: "A", Seq: 3, HubSeq: 7, BidPx: 1e9, BidSz: 5, AskPx: 2e9, AskSz: 6, Origin: feed.OriginSchedule}), nil
}

// exchange serves play. All that it serves has ended when the test has.
func exchange(t *testing.T, play func(peer) error, opts ...grpc.ServerOption) (target string, server *grpc.Server) {
	t.Helper()
	server = grpc.NewServer(opts...)
	pb.RegisterMarketDataServer(server, &market{play: play, symbols: []feed.Symbol{{Name: "A", TickSize: 1}, {Name: "B/C", TickSize: 1e7}}})
	return serve(t, server), server
}

// serve serves on loopback until the test ends.
func serve(t testing.TB, server *grpc.Server) (target string) {
	t.Helper()
	ln := listen(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// played is what a peer of hub does: the real subscription, without the session
// around it.
func played(hub *feed.Hub) func(peer) error {
	return func(p peer) error {
		p.say(&feed.Message{Hello: &feed.Hello{Epoch: hub.Epoch()}})
		encoding := wire.TickProtobuf
		if md, _ := metadata.FromIncomingContext(p.Context()); strings.HasSuffix(md.Get("content-type")[0], "+json") {
			encoding = wire.TickJSON
		}
		sub, err := hub.NewSubscription(feed.SubscriptionOptions{Encoding: encoding})
		if err != nil {
			return err
		}
		defer sub.Close()
		var req feed.Request
		if err := p.RecvMsg(&req); err != nil {
			return err
		}
		var refused *feed.Problem
		if err := sub.Subscribe(*req.Subscribe); errors.As(err, &refused) {
			p.say(&feed.Message{Problem: refused})
		}
		var b feed.Batch
		for {
			select {
			case <-p.Context().Done():
				return nil
			case <-sub.Ready():
			}
			if err := sub.Take(&b, 256); err != nil {
				return err
			}
			for i := range b.Control {
				p.say(&b.Control[i])
			}
			var ticks wire.Ready
			for _, f := range b.Frames {
				ticks = append(ticks, sub.Encoded(f))
			}
			if len(ticks) > 0 {
				p.say(ticks)
			}
		}
	}
}

func newHub(t *testing.T) *feed.Hub {
	t.Helper()
	hub, err := feed.NewHub([]feed.Symbol{{Name: "A", TickSize: 1}, {Name: "B", TickSize: 1}}, feed.HubOptions{Encoders: wire.HubEncoders()})
	if err != nil {
		t.Fatal(err)
	}
	publish(hub, 0)
	publish(hub, 1)
	return hub
}

func publish(hub *feed.Hub, symbol int) {
	hub.Publish(&feed.Update{Symbol: symbol, Origin: feed.OriginSchedule, Quote: true, BidPx: 1e9, AskPx: 2e9}, feed.Now())
}

// ears is a sink that remembers. All of a test fits into its channels.
type ears struct {
	heard chan clients.Delivery
	ended chan error
}

func newEars() *ears {
	return &ears{heard: make(chan clients.Delivery, 10_000), ended: make(chan error, 1000)}
}

func (e *ears) Deliver(d *clients.Delivery) {
	kept := *d
	kept.Message.Ticks = slices.Clone(d.Message.Ticks)
	e.heard <- kept
}

func (e *ears) Ended(_ int, err error) { e.ended <- err }

func (e *ears) next(t *testing.T) clients.Delivery {
	t.Helper()
	select {
	case d := <-e.heard:
		return d
	case <-time.After(patience):
		t.Fatal("nothing was delivered")
		panic("unreachable")
	}
}

func (e *ears) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-e.ended:
		return err
	case <-time.After(patience):
		t.Fatal("the stream did not end")
		panic("unreachable")
	}
}

// within returns a context for what must happen.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// dial returns connection 0 to target, which closes when the test ends.
func dial(t *testing.T, target string, enc wire.Encoding, sink clients.Sink) clients.Conn {
	t.Helper()
	d, err := New(target, Options{Encoding: enc})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Dial(within(t, patience), 0, sink)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// open opens stream 5 on a new connection, and takes its hello and the answer.
func open(t *testing.T, target string, enc wire.Encoding, req feed.Subscribe) (clients.Conn, *ears) {
	t.Helper()
	sink := newEars()
	c := dial(t, target, enc, sink)
	if err := c.Open(within(t, patience), 5, req); err != nil {
		t.Fatal(err)
	}
	if len(sink.heard) < 2 {
		t.Fatal("Open returned before the answer was delivered")
	}
	if d := sink.next(t); d.Stream != 5 || d.Message.Hello == nil {
		t.Fatalf("first delivery %+v, want the hello of stream 5", d)
	}
	if d := sink.next(t); d.Message.Subscribed == nil {
		t.Fatalf("second delivery %+v, want subscribed", d)
	}
	return c, sink
}
