package streams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

func TestHTTPHandler(t *testing.T) {
	says := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name, " ", r.PathValue("id")) })
	}
	statuses := map[feed.ProblemCode]int{feed.CodeNotFound: http.StatusNotFound, feed.CodeMethodNotAllowed: http.StatusMethodNotAllowed}
	h := NewHTTPHandler([]Route{
		{http.MethodGet, "/symbols", says("symbols")},
		{http.MethodGet, "/quotes/{id}", says("quote")},
		// A literal beside a wildcard, each with methods of its own.
		{http.MethodPost, "/orders/execute", says("execute")},
		{http.MethodGet, "/orders/{id}", says("order")},
		{http.MethodDelete, "/orders/{id}", says("cancel")},
		{http.MethodGet, "/deep/{id...}", says("deep")},
	}, func(w http.ResponseWriter, _ *http.Request, p *feed.Problem) {
		w.WriteHeader(statuses[p.Code])
		fmt.Fprint(w, p.Code)
	})
	for _, c := range []struct {
		method, path string
		status       int
		body, allow  string
	}{
		{"GET", "/symbols", 200, "symbols ", ""},
		{"HEAD", "/symbols", 200, "symbols ", ""}, // net/http's server drops the body
		{"GET", "/symbols?x=1", 200, "symbols ", ""},
		{"POST", "/symbols", 405, "METHOD_NOT_ALLOWED", "GET, HEAD"},
		{"OPTIONS", "/symbols", 405, "METHOD_NOT_ALLOWED", "GET, HEAD"},
		{"BREW", "/symbols", 405, "METHOD_NOT_ALLOWED", "GET, HEAD"},
		{"GET", "/quotes/BTC%2FUSD", 200, "quote BTC/USD", ""},
		{"GET", "/quotes/BTC/USD", 404, "NOT_FOUND", ""},
		{"POST", "/orders/execute", 200, "execute ", ""},
		{"GET", "/orders/execute", 200, "order execute", ""},
		{"DELETE", "/orders/7", 200, "cancel 7", ""},
		{"PUT", "/orders/execute", 405, "METHOD_NOT_ALLOWED", "DELETE, GET, HEAD, POST"},
		{"POST", "/orders/7", 405, "METHOD_NOT_ALLOWED", "DELETE, GET, HEAD"},
		{"GET", "/deep/a/b", 200, "deep a/b", ""},
		{"GET", "/", 404, "NOT_FOUND", ""},
		{"GET", "/symbols/", 404, "NOT_FOUND", ""},
		{"POST", "/nothing", 404, "NOT_FOUND", ""},
		{"GET", "/nothing//here", 404, "NOT_FOUND", ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status || w.Body.String() != c.body || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %q, allowed %q, want %d %q, %q", c.method, c.path, w.Code, w.Body, w.Header().Get("Allow"), c.status, c.body, c.allow)
		}
	}
}

// served serves handler on a loopback port.
type served struct {
	url  string
	stop context.CancelFunc
	done chan error
}

func serve(t *testing.T, handler http.Handler, grace time.Duration) *served {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s := &served{url: "http://" + ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	go func() { s.done <- ServeHTTP(ctx, ln, handler, Options{}, grace, slog.New(slog.DiscardHandler)) }()
	return s
}

// httpClient speaks HTTP/1.1 or, by prior knowledge, HTTP/2.
func httpClient(t *testing.T, h2 bool) *http.Client {
	p := new(http.Protocols)
	p.SetHTTP1(!h2)
	p.SetUnencryptedHTTP2(h2)
	transport := &http.Transport{Protocols: p}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func get(c *http.Client, url string) (string, error) {
	resp, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func TestServeHTTPProtocols(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }), time.Hour)
	for h2, want := range map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"} {
		if got, err := get(httpClient(t, h2), s.url); got != want || err != nil {
			t.Errorf("served over %q, %v, want %s", got, err, want)
		}
	}
	s.stop()
	// Idle connections hold up nobody, or this would take the hour of grace.
	if err := <-s.done; err != nil {
		t.Errorf("ServeHTTP = %v", err)
	}
	if _, err := get(httpClient(t, false), s.url); err == nil {
		t.Error("it is still served")
	}
}

func TestServeHTTPWaitsForRequests(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		entered, finish := make(chan struct{}), make(chan struct{})
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(entered)
			<-finish
			fmt.Fprint(w, "finished")
		}), time.Hour)
		client := httpClient(t, h2)
		answer := make(chan error)
		go func() {
			body, err := get(client, s.url)
			if err == nil && body != "finished" {
				err = fmt.Errorf("body %q", body)
			}
			answer <- err
		}()
		<-entered
		s.stop()
		// Once it takes no more connections it is shutting down, which must not have
		// cut the request.
		for refused := false; !refused; {
			c, err := net.Dial("tcp", s.url[len("http://"):])
			if refused = err != nil; !refused {
				c.Close()
			}
		}
		select {
		case err := <-s.done:
			t.Errorf("ServeHTTP has not waited for a request: %v", err)
		default:
		}
		close(finish)
		if err := <-answer; err != nil {
			t.Errorf("a request within the grace: %v", err)
		}
		client.CloseIdleConnections()
		if err := <-s.done; err != nil {
			t.Errorf("ServeHTTP = %v", err)
		}
	}
}

func TestServeHTTPCutsAfterTheGrace(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		entered, cut := make(chan struct{}), make(chan struct{})
		s := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(entered)
			<-r.Context().Done()
			close(cut)
		}), time.Millisecond)
		answer := make(chan error)
		go func() {
			_, err := get(httpClient(t, h2), s.url)
			answer <- err
		}()
		<-entered
		s.stop()
		if err := <-s.done; err != nil {
			t.Errorf("ServeHTTP = %v", err)
		}
		<-cut
		if err := <-answer; err == nil {
			t.Error("a stream that was cut has ended well")
		}
	}
}

func TestServeHTTPFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := ServeHTTP(t.Context(), ln, http.NotFoundHandler(), Options{}, 0, slog.New(slog.DiscardHandler)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("ServeHTTP on a closed listener = %v, want %v", err, net.ErrClosed)
	}
}

// net/http would wait for the body before it answers, and a stream would never
// begin nor end.
func TestGetTakesNoBody(t *testing.T) {
	s := serve(t, NewHTTPHandler([]Route{{Method: http.MethodGet, Pattern: "/x", Handler: http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") })}},
		func(w http.ResponseWriter, _ *http.Request, p *feed.Problem) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, string(p.Code))
		}), time.Second)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn) // ends, since the connection is closed
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") || !strings.Contains(string(answer), string(feed.CodeBadRequest)) {
		t.Errorf("answer %q, %v", answer, err)
	}
}
