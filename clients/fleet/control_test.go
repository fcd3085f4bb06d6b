package fleet

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/clients/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// debugAddress serves one answer, and keeps the last request.
type debugAddress struct {
	status        int
	answer        string
	request, body string
}

func (d *debugAddress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	d.request, d.body = r.Method+" "+r.URL.String(), string(b)
	w.WriteHeader(d.status)
	_, _ = io.WriteString(w, d.answer)
}

func (d *debugAddress) serve(t *testing.T) *Control {
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	c, err := NewControl(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestControlRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		answer  string
		started bool
		err     string
	}{
		{"started", 200, `{"epoch":"","start_ns":10,"stop_ns":20}`, true, ""},
		{"runs already", 409, "the source runs already", false, ""},
		{"refused", 400, "stop 20 is not after start 10\n", false, "start source: the debug address answered 400: stop 20 is not after start 10"},
		{"no debug address", 404, "404 page not found\n", false, "start source: the debug address answered 404: 404 page not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &debugAddress{status: c.status, answer: c.answer}
			started, err := d.serve(t).Run(t.Context(), "", 10, 20)
			if started != c.started || text(err) != c.err {
				t.Errorf("started %t, error %q; want %t, %q", started, text(err), c.started, c.err)
			}
			if d.request != "POST /debug/run" || d.body != `{"epoch":"","start_ns":10,"stop_ns":20}` {
				t.Errorf("asked %s with %s", d.request, d.body)
			}
		})
	}
}

func TestControlLedger(t *testing.T) {
	const ledger = `{"epoch":"ab","complete":true,"scheduled":7,"unpublished":1,
		"symbols":[{"symbol":"A","scheduled":4,"unpublished":1,"first_seq":3,"last_seq":6},{"symbol":"B","scheduled":3,"first_seq":1,"last_seq":3}],
		"publish_lag":{"p50":1,"p99":2,"mean_by_third":[1,2,3]},"process":{"cpu_user_ns":5},"counters":{"written_bytes":9}}`
	for _, c := range []struct {
		name, answer, err string
		status            int
	}{
		{"read", ledger, "", 200},
		{"refused", "the window starts before the oldest update\n", "read ledger: the debug address answered 400: the window starts before the oldest update", 400},
		{"no JSON", "<html>", "read ledger: invalid character '<' looking for beginning of value", 200},
		{"cut short", ledger[:40], "read ledger: unexpected end of JSON input", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &debugAddress{status: c.status, answer: c.answer}
			l, err := d.serve(t).Ledger(t.Context(), 10, 20)
			if text(err) != c.err || (l == nil) != (err != nil) {
				t.Fatalf("ledger %v, error %q; want %q", l, text(err), c.err)
			}
			if d.request != "GET /debug/ledger?from=10&to=20" {
				t.Errorf("asked %s", d.request)
			}
			if l == nil {
				return
			}
			by := l.BySymbol()
			if len(by) != 2 || by["A"] != (measure.SymbolDue{Symbol: "A", Scheduled: 4, Unpublished: 1, FirstSeq: 3, LastSeq: 6}) || by["B"].LastSeq != 3 {
				t.Errorf("symbols %+v", by)
			}
			if !l.Complete || l.Scheduled != 7 || l.Unpublished != 1 || l.Process.CPUUserNS != 5 ||
				l.Counters[measure.WrittenBytes] != 9 || l.PublishLag.P99 != 2 || l.PublishLag.MeanByThird != [3]int64{1, 2, 3} {
				t.Errorf("ledger %+v", l)
			}
		})
	}
}

func TestControlUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	c, err := NewControl(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	if _, err := c.Run(t.Context(), "", 1, 2); err == nil || !strings.HasPrefix(err.Error(), "start source: ") {
		t.Errorf("error %v, want that the source could not be started", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Ledger(ctx, 1, 2); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "read ledger: ") {
		t.Errorf("error %v, want that reading was canceled", err)
	}
}

func TestNewControlWantsHostPort(t *testing.T) {
	for addr, ok := range map[string]bool{"127.0.0.1:6060": true, "[::1]:6060": true, ":6060": true, "localhost": false, "": false, "http://a:1/": false} {
		if _, err := NewControl(addr); (err == nil) != ok {
			t.Errorf("address %q: error %v", addr, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
