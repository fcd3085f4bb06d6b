package sseclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds the wait for what must come.
const patience = 20 * time.Second

// exchange is a real hub behind a real net/http server that speaks as the
// exchange does; its own server is a package that clients do not import.
type exchange struct {
	*server
	hub     *feed.Hub
	closing chan struct{}
	beat    chan struct{} // each makes one stream send a heartbeat
}

func startExchange(t testing.TB, maxStreams int) *exchange {
	t.Helper()
	hub, err := feed.NewHub([]feed.Symbol{{Name: "AAA", TickSize: 1}, {Name: "B/B, 100%&=", TickSize: 1}},
		feed.HubOptions{Encoders: wire.HubEncoders(), Epoch: "e0"})
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange{hub: hub, closing: make(chan struct{}), beat: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/events", x.events)
	x.server = serve(t, mux, maxStreams)
	return x
}

// server is an HTTP server of both versions on loopback.
type server struct {
	http     http.Server
	addr     string
	accepted atomic.Int64 // connections
}

func serve(t testing.TB, h http.Handler, maxStreams int) *server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: ln.Addr().String()}
	s.http = http.Server{
		Handler: h, Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.accepted.Add(1)
			}
		},
	}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(ln) }()
	t.Cleanup(func() {
		_ = s.http.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

func (x *exchange) events(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	enc, index := wire.JSON, wire.EventJSON
	if query.Get("encoding") == "proto" {
		enc, index = wire.Protobuf, wire.EventProtobuf
	}
	policy, _ := wire.ParsePolicy(query.Get("policy"))
	sub, err := x.hub.NewSubscription(feed.SubscriptionOptions{Encoding: index})
	if err != nil {
		panic(err)
	}
	defer sub.Close()
	err = sub.Subscribe(feed.Subscribe{Symbols: query["symbol"], Policy: policy, Cursor: query.Get("cursor")})
	if p := (*feed.Problem)(nil); errors.As(err, &p) {
		wire.WriteProblem(w, r, p)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	say := func(m feed.Message) {
		event, err := wire.AppendEvent(nil, enc, &m)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(event)
		_ = http.NewResponseController(w).Flush()
	}
	say(feed.Message{Hello: &feed.Hello{Epoch: x.hub.Epoch()}})
	var b feed.Batch
	for {
		select {
		case <-r.Context().Done():
			return
		case <-x.closing:
			say(feed.Message{Problem: &feed.Problem{Code: feed.CodeShuttingDown, Fatal: true}})
			return
		case <-x.beat:
			say(feed.Message{Heartbeat: &feed.Heartbeat{SentNS: 7}})
		case <-sub.Ready():
			if sub.Take(&b, 256) != nil {
				return
			}
			for _, m := range b.Control {
				say(m)
			}
			for _, f := range b.Frames {
				_, _ = w.Write(sub.Encoded(f))
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func (x *exchange) publish(symbol int) {
	x.hub.Publish(&feed.Update{Symbol: symbol, Origin: feed.OriginSchedule, Quote: true, BidPx: 1_500_000_000}, feed.Now())
}

// sink keeps what streams delivered, and lets a test wait for it.
type sink struct {
	t     testing.TB
	mu    sync.Mutex
	got   map[int][]clients.Delivery
	ended map[int][]error
	news  chan struct{}
}

func newSink(t testing.TB) *sink {
	return &sink{t: t, got: map[int][]clients.Delivery{}, ended: map[int][]error{}, news: make(chan struct{}, 1)}
}

// Deliver keeps a copy.
func (s *sink) Deliver(d *clients.Delivery) {
	c := *d
	c.Message.Ticks = append([]feed.Tick(nil), d.Message.Ticks...)
	s.mu.Lock()
	s.got[d.Stream] = append(s.got[d.Stream], c)
	s.mu.Unlock()
	s.tell()
}

// Ended keeps the end.
func (s *sink) Ended(stream int, err error) {
	s.mu.Lock()
	s.ended[stream] = append(s.ended[stream], err)
	s.mu.Unlock()
	s.tell()
}

func (s *sink) tell() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// wait returns once the condition, which sees all that came, is true.
func (s *sink) wait(what string, condition func() bool) {
	s.t.Helper()
	timeout := time.After(patience)
	for {
		s.mu.Lock()
		ok := condition()
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-s.news:
		case <-timeout:
			s.t.Fatalf("after %s: still not: %s", patience, what)
		}
	}
}

// waitMessages returns the first n deliveries of a stream once they are there.
func (s *sink) waitMessages(stream, n int) []clients.Delivery {
	s.t.Helper()
	var got []clients.Delivery
	s.wait("that many messages", func() bool {
		got = s.got[stream]
		return len(got) >= n
	})
	return got
}

// waitEnded returns what a stream ended with.
func (s *sink) waitEnded(stream int) error {
	s.t.Helper()
	var ends []error
	s.wait("the end of the stream", func() bool {
		ends = s.ended[stream]
		return len(ends) > 0
	})
	return ends[0]
}

// silent fails the test if the sink has heard anything.
func (s *sink) silent() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got)+len(s.ended) > 0 {
		s.t.Errorf("the sink heard %v, %v", s.got, s.ended)
	}
}

func dial(t testing.TB, addr string, opts Options, to clients.Sink) clients.Conn {
	t.Helper()
	d, err := New(addr, opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Dial(context.Background(), 0, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}
