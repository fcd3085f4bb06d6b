package grpcserver

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// halfHandshakes are what a client may say and then fall silent, before the
// handshake is over.
var halfHandshakes = map[string]string{
	"nothing":         "",
	"half a preface":  "PRI * HTTP/2.0\r\n",
	"no settings":     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"half a settings": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x06\x04\x00",
}

// silent is a client that says words and nothing more.
func (v *venue) silent(t *testing.T, words string) net.Conn {
	t.Helper()
	c, err := v.ln.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, words); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHandshakeTimeout(t *testing.T) {
	for name, words := range halfHandshakes {
		t.Run(name, func(t *testing.T) {
			v := newVenueOf(t, streams.Options{}, func(e *streams.Exchange) *Server { return newServer(e, 20*time.Millisecond) })
			if _, err := io.Copy(io.Discard, v.silent(t, words)); err != nil {
				t.Errorf("%v, want the connection closed", err)
			}
		})
	}
}

// The timeout is for handshakes: a connection that has shaken hands stays.
func TestIdleConnectionStays(t *testing.T) {
	const timeout = 20 * time.Millisecond
	v := newVenueOf(t, streams.Options{}, func(e *streams.Exchange) *Server { return newServer(e, timeout) })
	cc := v.connect(t)
	if _, err := v.quote(t, cc, wire.Protobuf, "A"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, v.silent(t, "")); err != nil { // as long as the timeout
		t.Fatal(err)
	}
	s := v.subscriber(t, cc, wire.Protobuf)
	s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
}

func TestNoHTTP2(t *testing.T) {
	v := newVenue(t, streams.Options{})
	c := v.silent(t, "GET /v2/symbols HTTP/1.1\r\nHost: venue\r\n\r\n")
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Errorf("%v, want the connection closed", err)
	}
}

// Serve returns within its grace whatever clients do: those that never finish
// their handshake hold neither it nor the others' end.
func TestServeReturnsWithinGrace(t *testing.T) {
	const bound = 3 * time.Second // handshakes have 5 s
	v := newVenue(t, streams.Options{BatchTicks: ring})
	cc := v.connect(t)
	v.blocked(t, cc, wire.Protobuf, feed.PolicyConflate)
	watch, err := healthpb.NewHealthClient(cc).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	for _, words := range halfHandshakes {
		v.silent(t, words)
	}
	v.silent(t, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00") // shakes hands, and is silent then
	began := time.Now()
	shut, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	v.exchange.Shutdown(shut) // cuts the blocked one
	v.stop()
	if err := <-v.served; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > bound {
		t.Errorf("the end took %s", took)
	}
	if n := v.exchange.Stats().Open; n != 0 {
		t.Errorf("%d sessions after Serve has returned", n)
	}
}

// broken is a listener that fails after one connection.
type broken struct {
	net.Listener
	accepted int
}

func (b *broken) Accept() (net.Conn, error) {
	if b.accepted++; b.accepted > 1 {
		return nil, errors.New("no more sockets")
	}
	return b.Listener.Accept()
}

func TestListenerThatFails(t *testing.T) {
	v := newVenue(t, streams.Options{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- New(v.exchange).Serve(context.Background(), &broken{Listener: ln}, grace) }()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := <-served; err == nil || !strings.Contains(err.Error(), "serve gRPC: no more sockets") {
		t.Errorf("%v, want why the listener failed", err)
	}
	if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		t.Error("the listener is still open")
	}
}

func TestServeAfterTheEnd(t *testing.T) {
	v := newVenue(t, streams.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 20 { // the server may or may not have begun when it is stopped
		if err := New(v.exchange).Serve(ctx, bufconn.Listen(1), grace); err != nil {
			t.Fatal(err)
		}
	}
}
