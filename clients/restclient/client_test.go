package restclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var versions = []string{"1.1", "2"}

// serve starts a server of both HTTP versions on loopback and returns its address.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

func open(t *testing.T, target string, opts Options) *Client {
	t.Helper()
	c, err := New(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// venue answers as the exchange does, from a real hub.
func venue(t *testing.T, names []string) http.Handler {
	t.Helper()
	listed := make([]feed.Symbol, len(names))
	for i, name := range names {
		listed[i] = feed.Symbol{Name: name, TickSize: 10_000_000}
	}
	hub, err := feed.NewHub(listed, feed.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range names[1:] { // all but the last
		hub.Publish(&feed.Update{Symbol: i, Origin: feed.OriginSchedule, Quote: true, BidPx: 61_837_630_000_000}, 1)
	}
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, body []byte, err error) {
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}
	mux.HandleFunc("GET /v2/quotes/{symbol}", func(w http.ResponseWriter, r *http.Request) {
		tick, ok, err := hub.Newest(r.PathValue("symbol"))
		var p *feed.Problem
		switch {
		case errors.As(err, &p):
			wire.WriteProblem(w, r, p)
		case !ok:
			wire.WriteProblem(w, r, &feed.Problem{Code: feed.CodeNoTick, Message: "no tick yet"})
		default:
			body, err := wire.AppendTick(nil, &tick)
			reply(w, body, err)
		}
	})
	mux.HandleFunc("GET /v2/symbols", func(w http.ResponseWriter, _ *http.Request) {
		body, err := wire.AppendSymbols(nil, hub.Symbols())
		reply(w, body, err)
	})
	return mux
}

func TestClient(t *testing.T) {
	names := []string{"AAA", "BTC/USD", "..", ".", "a b", "a,b", "100%", "%2F", "a+b", "?q=1&r", "#f", "é", "../../x", "QUIET"}
	target := serve(t, venue(t, names))
	for _, version := range versions {
		c := open(t, target, Options{HTTPVersion: version})
		listed, err := c.Symbols(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, len(listed))
		for i, s := range listed {
			got[i] = s.Name
		}
		if !reflect.DeepEqual(got, names) || listed[0].TickSize != 10_000_000 {
			t.Errorf("symbols %v", listed)
		}
		for _, name := range names[:len(names)-1] {
			if tick, err := c.Quote(t.Context(), name); err != nil || tick.Symbol != name || tick.BidPx != 61_837_630_000_000 {
				t.Errorf("HTTP/%s quote of %q: %+v (%v)", version, name, tick, err)
			}
		}
		for name, want := range map[string]feed.ProblemCode{"QUIET": feed.CodeNoTick, "NOPE": feed.CodeUnknownSymbol} {
			_, err := c.Quote(t.Context(), name)
			var p *feed.Problem
			if !errors.As(err, &p) || p.Code != want || p.RequestID == "" {
				t.Errorf("HTTP/%s quote of %s: %v, want %s", version, name, err, want)
			}
		}
	}
}

func TestNoExchange(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, h := range map[string]http.Handler{
		"a page":          answer(200, "text/html", "<html>"),
		"not found":       http.NotFoundHandler(),
		"redirect":        http.RedirectHandler("/elsewhere", http.StatusFound),
		"JSON of another": answer(403, "application/json", `{"error":"no"}`),
	} {
		for _, version := range versions {
			c := open(t, serve(t, h), Options{HTTPVersion: version})
			if _, err := c.Symbols(t.Context()); !errors.Is(err, clients.ErrNoExchange) {
				t.Errorf("%s HTTP/%s: %v", name, version, err)
			}
		}
	}
	for name, body := range map[string]string{"broken": "{", "another type": `{"symbols":7}`, "too much": strings.Repeat(" ", maxBodyBytes) + "{}"} {
		c := open(t, serve(t, answer(200, "application/json", body)), Options{})
		if _, err := c.Symbols(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	c := open(t, ln.Addr().String(), Options{})
	if _, err := c.Quote(t.Context(), "AAA"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("closed port: %v", err)
	}
	for _, target := range []string{"localhost", "http://localhost:80"} {
		if _, err := New(target, Options{}); err == nil {
			t.Errorf("target %s: no error", target)
		}
	}
	if _, err := New("localhost:80", Options{HTTPVersion: "1.0"}); err == nil {
		t.Error("HTTP 1.0: no error")
	}
}

func TestDialContext(t *testing.T) {
	target := serve(t, venue(t, []string{"AAA", "QUIET"}))
	for _, version := range versions {
		var dialled atomic.Int64
		c := open(t, "exchange.invalid:1", Options{HTTPVersion: version, DialContext: func(ctx context.Context) (net.Conn, error) {
			dialled.Add(1)
			return new(net.Dialer).DialContext(ctx, "tcp", target)
		}})
		for range 3 {
			if _, err := c.Quote(t.Context(), "AAA"); err != nil {
				t.Error(err)
			}
		}
		if n := dialled.Load(); n != 1 {
			t.Errorf("HTTP/%s: %d connections for requests one after the other", version, n)
		}
	}
}

// A target that takes the request and says nothing holds nobody beyond ctx.
func TestContext(t *testing.T) {
	asked := make(chan struct{})
	target := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	for _, version := range versions {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		if _, err := open(t, target, Options{HTTPVersion: version}).Symbols(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("HTTP/%s: %v", version, err)
		}
	}
}
