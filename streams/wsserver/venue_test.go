package wsserver

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for what must happen; no test waits that long when all is well.
const patience = 30 * time.Second

// pipes is a listener in memory whose connections have no buffer: a write
// returns once the other end has read it.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

// venue is an exchange that serves WebSocket on pipes.
type venue struct {
	exchange *streams.Exchange
	hub      *feed.Hub
	pipes    *pipes
	handler  http.Handler
}

// newVenue lists A, B and C, each with an opening tick. Its streams have ended
// when the test has.
func newVenue(t testing.TB, opts streams.Options) *venue {
	t.Helper()
	symbols := []feed.Symbol{{Name: "A", TickSize: 1}, {Name: "B", TickSize: 1}, {Name: "C", TickSize: 1}}
	hub, err := feed.NewHub(symbols, feed.HubOptions{Ring: 64, Encoders: wire.HubEncoders()})
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := streams.NewExchange(hub, opts)
	if err != nil {
		t.Fatal(err)
	}
	v := &venue{exchange: exchange, hub: hub, pipes: newPipes(),
		handler: streams.NewHTTPHandler(New(exchange).Routes(), wire.WriteProblem)}
	for i := range symbols {
		v.publish(i)
	}
	v.serve(t, v.pipes)
	return v
}

// serve serves on ln until the test ends.
func (v *venue) serve(t testing.TB, ln net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- streams.ServeHTTP(ctx, ln, v.handler, v.exchange.Options(), time.Second, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		stop, cancelStop := context.WithTimeout(context.Background(), patience)
		defer cancelStop()
		v.exchange.Shutdown(stop)
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// sweep runs the exchange's sweeper, which cuts writes that do not progress.
func (v *venue) sweep(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	swept := make(chan error, 1)
	go func() { swept <- v.exchange.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-swept; err != nil {
			t.Errorf("sweep: %v", err)
		}
	})
}

// publish publishes one tick of a symbol and returns its hub_seq.
func (v *venue) publish(symbol int) uint64 {
	_, hubSeq, _ := v.hub.Publish(&feed.Update{Symbol: symbol, Origin: feed.OriginSchedule, Quote: true,
		BidPx: 1e9, BidSz: 1e8, AskPx: 2e9, AskSz: 1e8}, feed.Now())
	return hubSeq
}

// dial opens a WebSocket; a refusal is returned with the problem of its body.
func (v *venue) dial(t *testing.T, subprotocols ...string) (*websocket.Conn, int, *feed.Problem) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return v.pipes.dial(ctx) }}
	ws, resp, err := websocket.Dial(ctx, "ws://venue"+wire.WebSocketPath, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: subprotocols})
	if err == nil {
		t.Cleanup(func() { _ = ws.CloseNow() })
		return ws, resp.StatusCode, nil
	}
	if resp == nil {
		t.Fatal(err)
	}
	return nil, resp.StatusCode, problemOf(t, resp.Body)
}

func problemOf(t *testing.T, body io.Reader) *feed.Problem {
	t.Helper()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	var p feed.Problem
	if err := wire.UnmarshalProblem(data, &p); err != nil {
		t.Fatalf("%s is no problem: %v", data, err)
	}
	return &p
}

// subscriber is a client that reads when it is told to.
type subscriber struct {
	t  *testing.T
	ws *websocket.Conn
	dialect
}

// subscriber opens a stream and takes its hello.
func (v *venue) subscriber(t *testing.T, enc wire.Encoding) *subscriber {
	t.Helper()
	d := dialectOf(enc)
	ws, _, p := v.dial(t, d.subprotocol)
	if p != nil {
		t.Fatal(p)
	}
	s := &subscriber{t: t, ws: ws, dialect: d}
	if h := s.next().Hello; h == nil || h.Epoch != v.hub.Epoch() {
		t.Fatalf("first message: hello %+v, want one of epoch %s", h, v.hub.Epoch())
	}
	return s
}

func (s *subscriber) send(req feed.Request) {
	s.t.Helper()
	data, err := wire.AppendRequest(nil, s.encoding, &req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.sendRaw(s.frames, data)
}

func (s *subscriber) sendRaw(frames websocket.MessageType, data []byte) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.ws.Write(ctx, frames, data); err != nil {
		s.t.Fatal(err)
	}
}

func (s *subscriber) receive() (feed.Message, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var m feed.Message
	frames, data, err := s.ws.Read(ctx)
	if err != nil {
		return m, err
	}
	if frames != s.frames {
		s.t.Errorf("%s message in a %s frame", s.encoding, kind(frames))
	}
	if s.encoding == wire.JSON && !json.Valid(data) {
		s.t.Errorf("%s is no JSON", data)
	}
	if err := wire.UnmarshalMessage(s.encoding, data, &m); err != nil {
		s.t.Fatal(err)
	}
	return m, nil
}

func (s *subscriber) next() feed.Message {
	s.t.Helper()
	m, err := s.receive()
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// subscribed subscribes and takes the answer.
func (s *subscriber) subscribed(req feed.Subscribe) *feed.Subscribed {
	s.t.Helper()
	s.send(feed.Request{Subscribe: &req})
	m := s.next()
	if m.Subscribed == nil {
		s.t.Fatalf("answer to a subscribe: %+v", m)
	}
	return m.Subscribed
}

// ended reads to the end and returns the last fatal problem and the close frame.
func (s *subscriber) ended() (told *feed.Problem, end websocket.CloseError) {
	s.t.Helper()
	for {
		m, err := s.receive()
		if err != nil {
			if websocket.CloseStatus(err) == -1 {
				s.t.Fatalf("the stream ended without a close frame: %v", err)
			}
			return told, closeError(err)
		}
		if m.Problem != nil && m.Problem.Fatal {
			told = m.Problem
		}
	}
}

// eventually waits for a condition that nothing signals.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for tick := time.NewTicker(2 * time.Millisecond); !holds(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
