package grpcclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func TestNew(t *testing.T) {
	_, err := New("nowhere", Options{})
	wantText(t, err, `gRPC target "nowhere": want host:port`)
	_, err = New("localhost:1", Options{Encoding: 7})
	wantText(t, err, "no such encoding: encoding(7)")
}

// dialAndList returns the errors of Dial, or of Open where it succeeds, and of
// ListSymbols.
func dialAndList(t *testing.T, target string) (dialed, listed error) {
	t.Helper()
	ctx := within(t, patience)
	d, err := New(target, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, dialed := d.Dial(ctx, 0, newEars())
	if dialed == nil {
		dialed = c.Open(ctx, 0, feed.Subscribe{Symbols: []string{"A"}})
		_ = c.Close()
	}
	_, listed = ListSymbols(ctx, target, nil)
	return dialed, listed
}

func TestRefusedConnection(t *testing.T) {
	ln := listen(t)
	target := ln.Addr().String()
	_ = ln.Close()
	dialed, listed := dialAndList(t, target)
	for prefix, err := range map[string]error{"gRPC dial ": dialed, "list symbols of ": listed} {
		wantText(t, err, prefix+target+": dial tcp "+target+": ")
		if !errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, clients.ErrNoExchange) {
			t.Errorf("%v, want a refused connection", err)
		}
	}
}

// web serves HTTP/1.1, or HTTP/2 alone.
func web(t *testing.T, h2 bool, status int, contentType string) (target string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "some page")
	}))
	if h2 {
		srv.Config.Protocols = new(http.Protocols)
		srv.Config.Protocols.SetUnencryptedHTTP2(true)
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// sockets accepts connections and has serve do with each what it will.
func sockets(t *testing.T, serve func(net.Conn)) (target string) {
	t.Helper()
	ln := listen(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serve(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String()
}

func TestTargetIsNoExchange(t *testing.T) {
	empty := grpc.NewServer()
	ln := listen(t)
	served := make(chan error, 1)
	go func() { served <- empty.Serve(ln) }()
	defer func() {
		empty.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	ssh := func(c net.Conn) {
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n")
		_, _ = io.Copy(io.Discard, c)
	}
	for name, test := range map[string]struct{ target, says string }{
		"HTTP/1.1":           {web(t, false, 404, "text/plain"), "it does not speak HTTP/2"},
		"HTTP/2 not found":   {web(t, true, 404, "application/json"), "404 (Not Found)"},
		"HTTP/2 page":        {web(t, true, 200, "text/html"), "200 (OK)"},
		"HTTP/2 unavailable": {web(t, true, 503, "text/html"), "503 (Service Unavailable)"},
		"SSH":                {sockets(t, ssh), "it does not speak HTTP/2"},
		"other gRPC":         {ln.Addr().String(), "unknown service tickgauge.v1.MarketData"},
	} {
		t.Run(name, func(t *testing.T) {
			dialed, listed := dialAndList(t, test.target)
			for _, err := range []error{dialed, listed} {
				wantText(t, err, test.says)
				if !errors.Is(err, clients.ErrNoExchange) {
					t.Errorf("%v, want it to wrap %q", err, clients.ErrNoExchange)
				}
			}
		})
	}
}

func TestTargetThatCloses(t *testing.T) {
	target := sockets(t, func(net.Conn) {})
	dialed, listed := dialAndList(t, target)
	wantText(t, dialed, "gRPC dial "+target+": ")
	wantText(t, listed, "list symbols of "+target+": ")
}

// The context bounds the dialling, of the socket and of the handshake.
func TestDialTimesOut(t *testing.T) {
	silent := sockets(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	d, err := New(silent, Options{})
	if err != nil {
		t.Fatal(err)
	}
	slow, err := New(silent, Options{DialContext: func(ctx context.Context, _ int) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Dialer{d, slow} {
		if _, err := d.Dial(within(t, 20*time.Millisecond), 0, newEars()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dial: %v, want the end of its context", err)
		}
	}
	if _, err := ListSymbols(within(t, 20*time.Millisecond), silent, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("list: %v, want the end of its context", err)
	}
}

func TestDialContext(t *testing.T) {
	target, _ := exchange(t, peer.wait)
	var dialed []int
	d, err := New("no.such.host:1", Options{DialContext: func(ctx context.Context, conn int) (net.Conn, error) {
		dialed = append(dialed, conn)
		return new(net.Dialer).DialContext(ctx, "tcp", target)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for conn := range 3 {
		c, err := d.Dial(within(t, patience), conn, newEars())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(dialed, []int{0, 1, 2}) {
		t.Errorf("dialled %v, want a socket for each connection at once", dialed)
	}
}

func TestListSymbols(t *testing.T) {
	target, _ := exchange(t, peer.wait)
	got, err := ListSymbols(within(t, patience), target, nil)
	if want := []feed.Symbol{{Name: "A", TickSize: 1}, {Name: "B/C", TickSize: 1e7}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("listed %v, %v, want %v", got, err, want)
	}
}

func TestGetQuote(t *testing.T) {
	target, _ := exchange(t, peer.wait)
	got, err := GetQuote(within(t, patience), target, nil, "A")
	want := feed.Tick{Symbol: "A", Seq: 3, HubSeq: 7, BidPx: 1e9, BidSz: 5, AskPx: 2e9, AskSz: 6, Origin: feed.OriginSchedule}
	if err != nil || got != want {
		t.Errorf("quote %+v, %v, want %+v", got, err, want)
	}
	_, err = GetQuote(within(t, patience), target, nil, "nobody")
	var p *feed.Problem
	if !errors.As(err, &p) || p.Code != feed.CodeUnknownSymbol {
		t.Errorf("quote of nobody: %v, want %s", err, feed.CodeUnknownSymbol)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := GetQuote(ctx, target, nil, "A"); !errors.Is(err, context.Canceled) {
		t.Errorf("quote: %v, want the end of its context", err)
	}
}

var _ clients.Dialer = (*Dialer)(nil)

// What is never opened leaves nothing behind.
func TestCloseAtOnce(t *testing.T) {
	target, _ := exchange(t, peer.wait)
	sink := newEars()
	if err := dial(t, target, wire.JSON, sink).Close(); err != nil || len(sink.ended) != 0 {
		t.Errorf("close: %v", err)
	}
}
