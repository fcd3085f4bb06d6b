package grpcserver

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	// patience is for what must happen; no test waits that long when all is well.
	patience = 30 * time.Second
	// grace is what a venue's server gives its calls at the end.
	grace = 200 * time.Millisecond
	// ring is how many ticks of a symbol a venue keeps.
	ring = 4096
	// window is how much a client of a venue takes that reads nothing.
	window = 64 << 10
)

// eachEncoding runs a test over both content-subtypes.
func eachEncoding(t *testing.T, test func(t *testing.T, enc wire.Encoding)) {
	for _, enc := range wire.Encodings() {
		t.Run(enc.String(), func(t *testing.T) { test(t, enc) })
	}
}

// venue is an exchange that serves gRPC in memory.
type venue struct {
	exchange *streams.Exchange
	hub      *feed.Hub
	ln       *bufconn.Listener
	stop     context.CancelFunc
	served   chan error // what Serve returned
}

// newVenue lists A, B and C, each with an opening tick, and QUIET, which has
// none. Its server has stopped when the test has.
func newVenue(t testing.TB, opts streams.Options) *venue {
	return newVenueOf(t, opts, New)
}

func newVenueOf(t testing.TB, opts streams.Options, server func(*streams.Exchange) *Server) *venue {
	t.Helper()
	listed := []feed.Symbol{{Name: "A", TickSize: 1e7}, {Name: "B", TickSize: 1e7}, {Name: "C", TickSize: 1e7}, {Name: "QUIET", TickSize: 1e7}}
	hub, err := feed.NewHub(listed, feed.HubOptions{Ring: ring, Encoders: wire.HubEncoders()})
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := streams.NewExchange(hub, opts)
	if err != nil {
		t.Fatal(err)
	}
	v := &venue{exchange: exchange, hub: hub, ln: bufconn.Listen(64 << 10), served: make(chan error, 1)}
	for i := range 3 {
		v.publish(i, 1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	v.stop = cancel
	go func() {
		v.served <- server(exchange).Serve(ctx, v.ln, grace)
		close(v.served)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-v.served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return v
}

// publish publishes n quotes of a symbol and returns the last one's hub_seq.
func (v *venue) publish(symbol, n int) (hubSeq uint64) {
	for range n {
		_, hubSeq, _ = v.hub.Publish(&feed.Update{Symbol: symbol, Origin: feed.OriginSchedule, Quote: true,
			BidPx: 61837_630000000, BidSz: 1e8, AskPx: 61837_640000000, AskSz: 2e8}, feed.Now())
	}
	return hubSeq
}

// sweep runs the exchange's sweeper, which ends sessions that do not progress.
func (v *venue) sweep(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	swept := make(chan error, 1)
	go func() { swept <- v.exchange.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-swept; err != nil {
			t.Error(err)
		}
	})
}

// connect returns a connection, which closes when the test ends.
func (v *venue) connect(t testing.TB) *grpc.ClientConn {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///venue", grpc.WithTransportCredentials(insecure.NewCredentials()),
		// What a client grants that reads nothing must not depend on how fast it was before.
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(16*window),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return v.ln.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return cc
}

// plain is a codec that lets bytes pass as they are.
type plain struct{ encoding.CodecV2 }

func (p plain) Marshal(v any) (mem.BufferSlice, error) {
	if b, ok := v.([]byte); ok {
		return mem.BufferSlice{mem.SliceBuffer(b)}, nil
	}
	return p.CodecV2.Marshal(v)
}

func (p plain) Unmarshal(data mem.BufferSlice, v any) error {
	if b, ok := v.(*[]byte); ok {
		*b = data.Materialize()
		return nil
	}
	return p.CodecV2.Unmarshal(data, v)
}

func in(enc wire.Encoding) grpc.CallOption { return grpc.ForceCodecV2(plain{wire.Codec(enc)}) }

// subscriber is a client that reads when it is told to.
type subscriber struct {
	t      testing.TB
	stream grpc.ClientStream
	cancel context.CancelFunc
}

// subscriber opens a stream and takes its hello.
func (v *venue) subscriber(t testing.TB, cc *grpc.ClientConn, enc wire.Encoding) *subscriber {
	t.Helper()
	s := open(t, cc, enc)
	if h := s.next().Hello; h == nil || h.Epoch != v.hub.Epoch() || h.Limits != v.exchange.Options().Limits {
		t.Fatalf("first message: hello %+v, want one of epoch %s", h, v.hub.Epoch())
	}
	return s
}

func open(t testing.TB, cc *grpc.ClientConn, enc wire.Encoding) *subscriber {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	stream, err := cc.NewStream(ctx, &pb.MarketData_ServiceDesc.Streams[0], pb.MarketData_Subscribe_FullMethodName, in(enc))
	if err != nil {
		t.Fatal(err)
	}
	return &subscriber{t: t, stream: stream, cancel: cancel}
}

// send sends a *feed.Request, or bytes as they are.
func (s *subscriber) send(request any) {
	s.t.Helper()
	if err := s.stream.SendMsg(request); err != nil {
		s.t.Fatal(err)
	}
}

func (s *subscriber) next() (m feed.Message) {
	s.t.Helper()
	if err := s.stream.RecvMsg(&m); err != nil {
		s.t.Fatal(err)
	}
	return m
}

// subscribed subscribes and takes the answer.
func (s *subscriber) subscribed(req feed.Subscribe) *feed.Subscribed {
	s.t.Helper()
	s.send(&feed.Request{Subscribe: &req})
	m := s.next()
	if m.Subscribed == nil {
		s.t.Fatalf("answer to a subscribe: %+v (%v)", m, m.Problem)
	}
	return m.Subscribed
}

// refused takes the problem that answers a request, after which the stream goes on.
func (s *subscriber) refused(code feed.ProblemCode) *feed.Problem {
	s.t.Helper()
	m := s.next()
	if p := m.Problem; p == nil || p.Code != code || p.Fatal {
		s.t.Fatalf("got %+v (%v), want %s", m, m.Problem, code)
	}
	return m.Problem
}

// ended reads to the end and returns the last fatal problem and the status.
func (s *subscriber) ended() (told *feed.Problem, end *status.Status) {
	s.t.Helper()
	for {
		var m feed.Message
		err := s.stream.RecvMsg(&m)
		switch {
		case errors.Is(err, io.EOF):
			return told, status.New(codes.OK, "")
		case err != nil:
			return told, status.Convert(err)
		case m.Problem != nil && m.Problem.Fatal:
			told = m.Problem
		}
	}
}

// eventually waits for a condition that nothing signals.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// noSessions waits until every session has been released, which the goroutine
// that writes does last.
func (v *venue) noSessions(t testing.TB) {
	t.Helper()
	eventually(t, "every session has ended", func() bool {
		return v.exchange.Stats().Open == 0 && v.hub.Stats().Subscriptions == 0
	})
}
