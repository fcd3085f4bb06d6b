package streams

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/streams/fanout"
)

// lines is a transport that writes a line a message.
type lines struct{ socket *fanout.Socket }

func (l lines) WriteMessage(m *feed.Message) error { return l.line(m) }

func (l lines) WriteTicks(ticks [][]byte) error { return l.socket.Send(bytes.Join(ticks, nil)) }

func (l lines) WriteExecution(e *order.Execution) error { return l.line(e) }

func (l lines) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return l.socket.Send(append(b, '\n'))
}

// socketed is a session that the workers write into a socket of the system.
type socketed struct {
	*Session
	hub      *feed.Hub
	exchange *Exchange
	client   net.Conn
	in       *json.Decoder
	ended    chan error
}

func serveSocket(t *testing.T, opts Options) *socketed {
	t.Helper()
	encoders := []feed.Encoder{func(dst []byte, _ string, tick *feed.Tick) []byte {
		b, err := json.Marshal(feed.Message{Ticks: []feed.Tick{*tick}})
		if err != nil {
			panic(err)
		}
		return append(append(dst, b...), '\n')
	}}
	hub, err := feed.NewHub([]feed.Symbol{{Name: "A", TickSize: 1}}, feed.HubOptions{Encoders: encoders})
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewExchange(hub, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	swept := make(chan error, 1)
	go func() { swept <- e.Run(ctx) }()
	_, ln := counted(t)
	client, conn := tcpPair(t, ln)
	session, err := e.Open(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	try, ok := NonBlocking(conn)
	if !ok {
		t.Skip("this system has no write that does not wait")
	}
	s := &socketed{Session: session, hub: hub, exchange: e, client: client, in: json.NewDecoder(client), ended: make(chan error, 1)}
	socket := fanout.NewSocket(try)
	session.ServeSocket(socket, lines{socket}, func() { _ = conn.SetWriteDeadline(time.Unix(1, 0)) }, func(err error) { s.ended <- err })
	t.Cleanup(func() {
		session.End(feed.ErrClosed)
		session.Close()
		cancel()
		if err := <-swept; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *socketed) next(t *testing.T) (m feed.Message) {
	t.Helper()
	if err := s.in.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (s *socketed) publish(n int) {
	for range n {
		s.hub.Publish(&feed.Update{Quote: true, BidPx: 1, AskPx: 2}, feed.Now())
	}
}

func (s *socketed) subscribed(t *testing.T, req feed.Subscribe) {
	t.Helper()
	if m := s.next(t); m.Hello == nil {
		t.Fatalf("first message %+v", m)
	}
	if err := s.Handle(&feed.Request{Subscribe: &req}); err != nil {
		t.Fatal(err)
	}
	if m := s.next(t); m.Subscribed == nil {
		t.Fatalf("answer %+v", m)
	}
}

// Answers, ticks in their order, heartbeats and the goodbye come as from Run.
func TestServeSocket(t *testing.T) {
	s := serveSocket(t, Options{Heartbeat: 40 * time.Millisecond})
	s.subscribed(t, feed.Subscribe{Symbols: []string{"A"}})
	const ticks = 1000
	go s.publish(ticks)
	for want := uint64(1); want <= ticks; {
		m := s.next(t)
		for _, tick := range m.Ticks {
			if tick.Seq != want {
				t.Fatalf("tick %d where %d was next", tick.Seq, want)
			}
			want++
		}
		if m.Skipped != nil {
			want = m.Skipped.ToSeq + 1
		}
	}
	if err := s.Handle(&feed.Request{Ping: &feed.Ping{ID: 7}}); err != nil {
		t.Fatal(err)
	}
	for pong, beat := false, false; !pong || !beat; {
		m := s.next(t)
		if m.Heartbeat == nil {
			t.Fatalf("%+v among heartbeats", m)
		}
		pong = pong || m.Heartbeat.PingID == 7
		beat = beat || m.Heartbeat.PingID == 0
	}
	shut := make(chan struct{})
	go func() {
		defer close(shut)
		s.exchange.Shutdown(context.Background())
	}()
	var p *feed.Problem
	if err := <-s.ended; !errors.As(err, &p) || p.Code != feed.CodeShuttingDown {
		t.Errorf("ended with %v", err)
	}
	s.Close()
	<-shut
	for {
		if m := s.next(t); m.Problem != nil {
			if m.Problem.Code != feed.CodeShuttingDown {
				t.Errorf("told %+v", m.Problem)
			}
			return
		}
	}
}

// A client that reads nothing ends after the write timeout, and the workers are free.
func TestServeSocketTimesOut(t *testing.T) {
	s := serveSocket(t, Options{WriteTimeout: 50 * time.Millisecond})
	s.subscribed(t, feed.Subscribe{Symbols: []string{"A"}})
	stop, published := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(published)
		for !closed(stop) {
			s.publish(100)
		}
	}()
	err := <-s.ended
	close(stop)
	<-published
	if err == nil || s.exchange.Stats().TimedOut != 1 || s.exchange.Stats().Fanout.Blocked == 0 {
		t.Errorf("ended with %v, %+v", err, s.exchange.Stats())
	}
	var p *feed.Problem
	if cause := context.Cause(s.Context()); !errors.As(cause, &p) || p.Code != feed.CodeSlowConsumer {
		t.Errorf("the session's cause is %v", cause)
	}
}

// A client that is gone ends its session.
func TestServeSocketReset(t *testing.T) {
	s := serveSocket(t, Options{})
	s.subscribed(t, feed.Subscribe{Symbols: []string{"A"}})
	if err := s.client.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	_ = s.client.Close()
	if _, err := s.client.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		t.Fatal("the connection is open")
	}
	var err error
	for done := false; !done; {
		select {
		case err = <-s.ended:
			done = true
		default:
			s.publish(1)
		}
	}
	if err == nil {
		t.Error("ended without an error")
	}
}
