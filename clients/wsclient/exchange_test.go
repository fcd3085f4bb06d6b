package wsclient

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for what must happen; no test waits that long when all is well.
const patience = 30 * time.Second

// eachEncoding runs a test over both subprotocols.
func eachEncoding(t *testing.T, test func(t *testing.T, enc wire.Encoding)) {
	for _, enc := range wire.Encodings() {
		t.Run(enc.String(), func(t *testing.T) { test(t, enc) })
	}
}

// peer is the exchange's end of a WebSocket, which a test plays.
type peer struct {
	*websocket.Conn
	t   testing.TB
	enc wire.Encoding
}

func (p peer) say(m feed.Message) {
	data, err := wire.AppendMessage(nil, p.enc, &m)
	if err != nil {
		p.t.Error(err)
	}
	p.sayRaw(data)
}

// sayRaw does not mind a client that has gone.
func (p peer) sayRaw(data []byte) {
	frames := websocket.MessageText
	if p.enc == wire.Protobuf {
		frames = websocket.MessageBinary
	}
	_ = p.Write(context.Background(), frames, data)
}

// execution says what became of an order.
func (p peer) execution(x order.Execution) {
	data, err := wire.AppendExecutionMessage(nil, p.enc, &x)
	if err != nil {
		p.t.Error(err)
	}
	p.sayRaw(data)
}

// ordered returns the client's next order and the size of its message, or false
// when it has gone.
func (p peer) ordered() (req order.Request, size int, ok bool) {
	_, data, err := p.Read(context.Background())
	if err != nil {
		return req, 0, false
	}
	var q wire.StreamRequest
	if err := wire.UnmarshalStreamRequest(p.enc, data, &q); err != nil {
		p.t.Error(err)
	}
	return q.Order, len(data), true
}

// asked returns the client's next request, or false when it has gone.
func (p peer) asked() (req feed.Request, ok bool) {
	_, data, err := p.Read(context.Background())
	if err != nil {
		return req, false
	}
	if err := wire.UnmarshalRequest(p.enc, data, &req); err != nil {
		p.t.Error(err)
	}
	return req, true
}

// exchange serves play, whose WebSocket closes abruptly when it returns. All
// that it serves has ended when the test has.
func exchange(t testing.TB, play func(peer)) (target string) {
	t.Helper()
	return listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wire.WebSocketPath {
			t.Errorf("asked for %s, want %s", r.URL.Path, wire.WebSocketPath)
		}
		subprotocol := r.Header.Get("Sec-WebSocket-Protocol")
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
		if err != nil {
			t.Error(err)
			return
		}
		p := peer{Conn: ws, t: t, enc: wire.JSON}
		if subprotocol == wire.SubprotocolProto {
			p.enc = wire.Protobuf
		}
		play(p)
		_ = ws.CloseNow()
	})
}

// listen serves HTTP on loopback until the test ends.
func listen(t testing.TB, handler http.HandlerFunc) (target string) {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

// played is what a peer of hub does: the real subscription, without the session
// around it.
func played(hub *feed.Hub) func(peer) {
	return func(p peer) {
		p.say(feed.Message{Hello: &feed.Hello{Epoch: hub.Epoch()}})
		encoding := wire.TickJSON
		if p.enc == wire.Protobuf {
			encoding = wire.TickProtobuf
		}
		sub, err := hub.NewSubscription(feed.SubscriptionOptions{Encoding: encoding})
		if err != nil {
			p.t.Error(err)
			return
		}
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			var b feed.Batch
			for range sub.Ready() {
				if sub.Take(&b, 256) != nil {
					return
				}
				for _, m := range b.Control {
					p.say(m)
				}
				var ticks [][]byte
				for _, f := range b.Frames {
					ticks = append(ticks, sub.Encoded(f))
				}
				if len(ticks) > 0 {
					p.sayRaw(wire.AppendTicks(nil, p.enc, ticks))
				}
			}
		}()
		for {
			req, ok := p.asked()
			if !ok {
				break
			}
			var refused *feed.Problem
			if err := sub.Subscribe(*req.Subscribe); errors.As(err, &refused) {
				p.say(feed.Message{Problem: refused})
			}
		}
		sub.Close()
		<-wrote
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
	return &ears{heard: make(chan clients.Delivery, 1000), ended: make(chan error, 10)}
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

// dial returns connection 0 to target, which closes when the test ends.
func dial(t *testing.T, target string, enc wire.Encoding, sink clients.Sink) (clients.Conn, error) {
	t.Helper()
	d, err := New(target, Options{Encoding: enc})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := d.Dial(ctx, 0, sink)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// open opens stream 5 on a new connection, and takes its hello and the answer.
func open(t *testing.T, target string, enc wire.Encoding, req feed.Subscribe) (clients.Conn, *ears) {
	t.Helper()
	sink := newEars()
	c, err := dial(t, target, enc, sink)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Open(ctx, 5, req); err != nil {
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
