package restserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	versions = []string{"1.1", "2"}
	// names are symbols, of which the last has no tick.
	names = []string{"AAA", "BTC/USD", "//", "/x/", "..", ".", "a b", "a,b", "100%", "%2F", "a+b", "?q", "#f", "é", "..%2f..", "QUIET"}
)

type exchange struct {
	*streams.Exchange
	t    *testing.T
	addr string
	stop context.CancelFunc // begins the server's end
}

// patience is for what must happen; no test waits that long when all is well.
const patience = 30 * time.Second

func start(t *testing.T) *exchange { return startWith(t, streams.Options{}) }

func startWith(t *testing.T, opts streams.Options) *exchange {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listed := make([]feed.Symbol, len(names))
	for i, name := range names {
		listed[i] = feed.Symbol{Name: name, TickSize: 10_000_000}
	}
	hub, err := feed.NewHub(listed, feed.HubOptions{Encoders: wire.HubEncoders()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := streams.NewExchange(hub, opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range names[:len(names)-1] {
		hub.Publish(&feed.Update{Symbol: i, Origin: feed.OriginSchedule, Quote: true, BidPx: 61_837_630_000_000}, 1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- streams.ServeHTTP(ctx, ln, streams.NewHTTPHandler(New(e).Routes(), wire.WriteProblem), e.Options(), patience, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return &exchange{Exchange: e, t: t, addr: ln.Addr().String(), stop: cancel}
}

// do sends a request over one HTTP version and returns the answer and its body.
func (e *exchange) do(version, method, path string, header http.Header) (*http.Response, string) {
	e.t.Helper()
	return e.send(version, method, path, header, nil)
}

// send is do with a body.
func (e *exchange) send(version, method, path string, header http.Header, content io.Reader) (*http.Response, string) {
	e.t.Helper()
	tr := transport(version)
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(e.t.Context(), method, "http://"+e.addr+path, content)
	if err != nil {
		e.t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return resp, string(body)
}

// transport speaks one HTTP version.
func transport(version string) *http.Transport {
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetHTTP1(version != "2")
	tr.Protocols.SetUnencryptedHTTP2(version == "2")
	return tr
}

func TestQuotes(t *testing.T) {
	e := start(t)
	for _, version := range versions {
		for _, name := range names[:len(names)-1] {
			path := "/v2/quotes/" + strings.ReplaceAll(url.PathEscape(name), ".", "%2e")
			resp, body := e.do(version, http.MethodGet, path, nil)
			var tick feed.Tick
			if err := wire.UnmarshalTick([]byte(body), &tick); resp.StatusCode != 200 || err != nil || tick.Symbol != name || tick.Seq != 1 {
				t.Errorf("HTTP/%s %s: %s %s (%v)", version, path, resp.Status, body, err)
			}
			if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("content type %q", kind)
			}
		}
	}
	if _, body := e.do("1.1", http.MethodGet, "/v2/quotes/AAA", nil); !strings.Contains(body, `"bidPx":"61837.63"`) {
		t.Errorf("quote %s", body)
	}
}

func TestSymbols(t *testing.T) {
	e := start(t)
	for _, version := range versions {
		resp, body := e.do(version, http.MethodGet, "/v2/symbols", nil)
		listed, err := wire.UnmarshalSymbols([]byte(body))
		if resp.StatusCode != 200 || err != nil || len(listed) != len(names) {
			t.Fatalf("%s %s (%v)", resp.Status, body, err)
		}
		for i, s := range listed {
			if s.Name != names[i] || s.TickSize != 10_000_000 {
				t.Errorf("symbol %d: %+v", i, s)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	e := start(t)
	for _, version := range versions {
		for _, c := range []struct {
			method, path string
			status       int
			code         feed.ProblemCode
		}{
			{"GET", "/v2/quotes/QUIET", 404, feed.CodeNoTick},
			{"GET", "/v2/quotes/NOPE", 404, feed.CodeUnknownSymbol},
			{"GET", "/v2/quotes/BTC/USD", 404, feed.CodeNotFound},
			{"GET", "/v2/quotes/", 404, feed.CodeNotFound},
			{"GET", "/v2/quotes/%ff", 404, feed.CodeUnknownSymbol},
			{"GET", "/v2", 404, feed.CodeNotFound},
			{"POST", "/v2/quotes/AAA", 405, feed.CodeMethodNotAllowed},
			{"DELETE", "/v2/symbols", 405, feed.CodeMethodNotAllowed},
		} {
			resp, body := e.do(version, c.method, c.path, http.Header{wire.RequestIDHeader: {"r-1"}})
			var p feed.Problem
			if err := wire.UnmarshalProblem([]byte(body), &p); err != nil || resp.StatusCode != c.status || p.Code != c.code || p.RequestID != "r-1" {
				t.Errorf("HTTP/%s %s %s: %s %s (%v), want %d %s", version, c.method, c.path, resp.Status, body, err, c.status, c.code)
			}
		}
	}
}

func TestRequestID(t *testing.T) {
	e := start(t)
	for sent, want := range map[string]string{"": "", "r-1": "r-1", strings.Repeat("x", 129): ""} {
		resp, _ := e.do("1.1", http.MethodGet, "/v2/quotes/AAA", http.Header{wire.RequestIDHeader: {sent}})
		if got := resp.Header.Get(wire.RequestIDHeader); got != want {
			t.Errorf("request id %q came back as %q", sent, got)
		}
	}
}

func TestHead(t *testing.T) {
	e := start(t)
	for _, version := range versions {
		resp, body := e.do(version, http.MethodHead, "/v2/quotes/BTC%2FUSD", nil)
		if resp.StatusCode != 200 || body != "" || resp.ContentLength <= 0 {
			t.Errorf("%s, length %d, body %q", resp.Status, resp.ContentLength, body)
		}
	}
}

func TestHealth(t *testing.T) {
	e := start(t)
	for path, want := range map[string]string{"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ready"}`} {
		if resp, body := e.do("1.1", http.MethodGet, path, nil); resp.StatusCode != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
	e.Shutdown(context.Background())
	if resp, body := e.do("1.1", http.MethodGet, "/healthz", nil); resp.StatusCode != 200 {
		t.Errorf("healthz while shutting down: %s %s", resp.Status, body)
	}
	resp, body := e.do("1.1", http.MethodGet, "/readyz", nil)
	var p feed.Problem
	if err := wire.UnmarshalProblem([]byte(body), &p); err != nil || resp.StatusCode != 503 || p.Code != feed.CodeShuttingDown {
		t.Errorf("readyz while shutting down: %s %s (%v)", resp.Status, body, err)
	}
}
