package sseserver

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// oneConn is a listener with one connection in memory.
type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error   { close(l.closed); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// stalling is a connection whose reader stops once told to.
type stalling struct {
	net.Conn
	stall  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (c *stalling) Read(b []byte) (int, error) {
	select {
	case <-c.stall:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return c.Conn.Read(b)
	}
}

func (c *stalling) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A peer that takes nothing from an HTTP/2 connection blocks all of its streams,
// and the RST_STREAM that ends one cannot be written either: ServeHTTP must cut
// the connection.
func TestStalledConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, err := feed.NewHub([]feed.Symbol{{Name: "AAA", TickSize: 1}}, feed.HubOptions{Encoders: wire.HubEncoders()})
		if err != nil {
			t.Fatal(err)
		}
		e, err := streams.NewExchange(hub, streams.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		serverSide, clientSide := net.Pipe()
		ln := &oneConn{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		ln.conns <- serverSide
		served := make(chan error, 2)
		go func() { served <- e.Run(ctx) }()
		go func() {
			served <- streams.ServeHTTP(ctx, ln, streams.NewHTTPHandler(New(e).Routes(), wire.WriteProblem), e.Options(), time.Second, slog.New(slog.DiscardHandler))
		}()

		conn := &stalling{Conn: clientSide, stall: make(chan struct{}), closed: make(chan struct{})}
		tr := &http.Transport{
			Protocols:   new(http.Protocols),
			DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		}
		tr.Protocols.SetUnencryptedHTTP2(true)
		for range 3 {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://pipe/v2/events?symbol=AAA", nil)
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
		}
		synctest.Wait()
		close(conn.stall)
		for e.Stats().Open > 0 { // the first tick still finds a reader
			hub.Publish(&feed.Update{Origin: feed.OriginSchedule}, feed.Now())
			time.Sleep(time.Second) //nolint:forbidigo // synctest
			if time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) > time.Minute {
				t.Fatalf("after a minute %d streams still hang on a connection that takes nothing, of %d timed out", e.Stats().Open, e.Stats().TimedOut)
			}
		}
		tr.CloseIdleConnections()
		cancel()
		for range 2 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
	})
}
