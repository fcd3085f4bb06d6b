package sseserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds the wait for a condition that must come.
const patience = 20 * time.Second

var (
	versions = []string{"1.1", "2"}
	symbols  = []string{"AAA", "BBB", "BTC/USD", "a,b c", "100%", "..", "é&=+#?;"}
)

// exchange is a real hub and exchange behind a real HTTP server on loopback.
type exchange struct {
	*streams.Exchange
	addr string
}

func start(t testing.TB, opts streams.Options) *exchange {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listed := make([]feed.Symbol, len(symbols))
	for i, name := range symbols {
		listed[i] = feed.Symbol{Name: name, TickSize: 10_000_000}
	}
	hub, err := feed.NewHub(listed, feed.HubOptions{Ring: 8, Encoders: wire.HubEncoders(), Epoch: "e0"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := streams.NewExchange(hub, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	handler := streams.NewHTTPHandler(New(e).Routes(), wire.WriteProblem)
	ended := make(chan error, 2)
	go func() { ended <- e.Run(ctx) }()
	go func() {
		ended <- streams.ServeHTTP(ctx, ln, handler, e.Options(), time.Second, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		stop, cut := context.WithTimeout(context.Background(), time.Second)
		defer cut()
		e.Shutdown(stop)
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Errorf("server: %v", err)
			}
		}
	})
	return &exchange{Exchange: e, addr: ln.Addr().String()}
}

// publish gives symbol number i of symbols a tick.
func (e *exchange) publish(i int) (seq uint64) {
	seq, _, _ = e.Hub().Publish(&feed.Update{
		Symbol: i, Origin: feed.OriginSchedule, Quote: true, BidPx: 1_000_000_000, BidSz: 100_000_000, AskPx: 2_000_000_000, AskSz: 300_000_000,
	}, feed.Now())
	return seq
}

// eventually waits for a condition, calling poll until it is true.
func eventually(t testing.TB, what string, poll func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !poll(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s: still not: %s", patience, what)
		}
	}
}

// client returns a client of one HTTP version that reads what it is sent by way
// of a small window.
func client(t testing.TB, version string) *http.Client {
	tr := &http.Transport{Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}}
	if version == "2" {
		tr.Protocols.SetUnencryptedHTTP2(true)
	} else {
		tr.Protocols.SetHTTP1(true)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// stream is an open stream of events.
type stream struct {
	t      testing.TB
	header http.Header
	lines  *bufio.Reader
	cancel context.CancelFunc
}

func (e *exchange) request(t testing.TB, version, method, query string, header http.Header) *http.Response {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, "http://"+e.addr+"/v2/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := client(t, version).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.Proto != "HTTP/"+strings.Replace(version, "2", "2.0", 1) {
		t.Fatalf("protocol %s, want HTTP/%s", resp.Proto, version)
	}
	return resp
}

func (e *exchange) open(t testing.TB, version, query string, header http.Header) *stream {
	t.Helper()
	resp := e.request(t, version, http.MethodGet, query, header)
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s %s", query, resp.Status, body)
	}
	return &stream{t: t, header: resp.Header, lines: bufio.NewReader(resp.Body), cancel: func() { _ = resp.Body.Close() }}
}

// event is one event as it came, its data decoded.
type event struct {
	name, id, comment string
	message           feed.Message
	execution         *order.Execution
}

// next returns the next event, or the error that ended the stream.
func (s *stream) next(enc wire.Encoding) (event, error) {
	s.t.Helper()
	var e event
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			var m wire.StreamMessage
			if err := wire.UnmarshalStreamEventData(enc, []byte(value), &m); err != nil {
				s.t.Fatalf("event %s: %v", e.name, err)
			}
			e.message, e.execution = m.Feed, m.Execution
		case "":
			if value == "" {
				return e, nil
			}
			e.comment = value
		default:
			s.t.Fatalf("line %q", line)
		}
	}
}

// want returns the next event, which must be of that name.
func (s *stream) want(enc wire.Encoding, name string) event {
	s.t.Helper()
	e, err := s.next(enc)
	if err != nil || e.name != name {
		s.t.Fatalf("event %+v, error %v, want %s", e, err, name)
	}
	return e
}

// rest reads to the end and returns the last event and what ended the stream.
func (s *stream) rest(enc wire.Encoding) (last event, err error) {
	s.t.Helper()
	for {
		e, err := s.next(enc)
		if err != nil {
			return last, err
		}
		last = e
	}
}

func wantProblem(t testing.TB, e event, code feed.ProblemCode) {
	t.Helper()
	if p := e.message.Problem; e.name != "problem" || p == nil || p.Code != code || !p.Fatal {
		t.Fatalf("event %+v, want a fatal problem %s", e, code)
	}
}

func wantEOF(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, io.EOF) {
		t.Fatalf("the stream ended with %v, want a clean end", err)
	}
}
