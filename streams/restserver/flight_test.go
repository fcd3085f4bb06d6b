package restserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// executes sends an order as JSON over a connection of its own.
func (e *exchange) executes(version, id string) (*http.Response, string) {
	e.t.Helper()
	return e.send(version, "POST", "/v2/orders/execute", http.Header{"Content-Type": {"application/json"}}, strings.NewReader(encode(e.t, wire.JSON, good(id))))
}

// until waits for a condition.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !met() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("no %s after %s", what, patience)
		}
	}
}

// TestSameIDAtOnce: one id at the same instant from several connections has one
// answer, the same bytes for all.
func TestSameIDAtOnce(t *testing.T) {
	for _, version := range versions {
		d := newDesk()
		e := startWith(t, streams.Options{Desk: d})
		var g sync.WaitGroup
		answers := make([]string, 4)
		for i := range answers {
			g.Go(func() { _, answers[i] = e.executes(version, "slow") })
		}
		for range answers {
			<-d.arrived
		}
		close(d.release)
		g.Wait()
		for _, a := range answers {
			if a != answers[0] || !strings.Contains(a, `"ordStatus":"FILLED"`) || !strings.Contains(a, `"execId":"1"`) {
				t.Errorf("HTTP/%s: answers %q and %q", version, a, answers[0])
			}
		}
	}
}

// TestOrdersInParallel: an answer is that to its own order, whoever else is served
// from the same buffers.
func TestOrdersInParallel(t *testing.T) {
	e := startWith(t, streams.Options{Desk: newDesk()})
	for _, version := range versions {
		tr := transport(version)
		var g sync.WaitGroup
		for worker := range 8 {
			g.Go(func() {
				for i := range 100 {
					// Of several lengths, so that what is left of another would show.
					id := fmt.Sprintf("%s-%d-%d-%s", version, worker, i, strings.Repeat("x", 150*worker))
					for _, enc := range wire.Encodings() {
						req := good(id)
						x, err := execute(tr, e.addr, enc, &req, "")
						if err != nil || x.ClOrdID != id {
							t.Errorf("order %.40s: %.80v (%v)", id, x.ClOrdID, err)
						}
					}
				}
			})
		}
		g.Wait()
		tr.CloseIdleConnections()
	}
}

// execute sends an order and decodes its answer.
func execute(via http.RoundTripper, addr string, enc wire.Encoding, q *order.Request, padding string) (x order.Execution, err error) {
	body, err := wire.AppendOrder(nil, enc, q, padding)
	if err != nil {
		return x, err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/v2/orders/execute", strings.NewReader(string(body)))
	if err != nil {
		return x, err
	}
	req.Header["Content-Type"] = kinds[enc][:1]
	resp, err := via.RoundTrip(req)
	if err != nil {
		return x, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return x, err
	}
	if resp.StatusCode != http.StatusOK {
		return x, fmt.Errorf("%s %s", resp.Status, answer)
	}
	return x, wire.UnmarshalExecution(enc, answer, &x)
}

// TestShutdown: an order in flight is answered when the desk has closed and the
// server ends; a new one is refused with the report, and a repeat still answered.
func TestShutdown(t *testing.T) {
	for _, version := range versions {
		d := newDesk()
		e := startWith(t, streams.Options{Desk: d})
		if resp, body := e.executes(version, "before"); resp.StatusCode != 200 {
			t.Errorf("HTTP/%s before: %s %s", version, resp.Status, body)
		}
		answered := make(chan string, 1)
		go func() {
			resp, body := e.executes(version, "slow")
			answered <- resp.Status + body
		}()
		<-d.arrived
		d.close()
		if resp, body := e.executes(version, "after"); resp.StatusCode != 503 || !strings.Contains(body, `"code":"SHUTTING_DOWN"`) || !strings.Contains(body, `"execution":{`) {
			t.Errorf("HTTP/%s after: %s %s", version, resp.Status, body)
		}
		if resp, body := e.executes(version, "before"); resp.StatusCode != 200 {
			t.Errorf("HTTP/%s again: %s %s", version, resp.Status, body)
		}
		e.stop()
		until(t, "closed listener", func() bool {
			c, err := net.Dial("tcp", e.addr)
			if err == nil {
				_ = c.Close()
			}
			return err != nil
		})
		close(d.release)
		if got := <-answered; !strings.HasPrefix(got, "200 OK{") {
			t.Errorf("HTTP/%s in flight: %s", version, got)
		}
	}
}

// TestHalfClosed: a client that sends no more is answered where there is an answer;
// where it gave up the wait for one, it must not read an empty 200 as one.
func TestHalfClosed(t *testing.T) {
	d := newDesk()
	e := startWith(t, streams.Options{Desk: d})
	asks := func() *net.TCPConn {
		c, err := net.Dial("tcp", e.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		content := encode(t, wire.JSON, good("slow"))
		if _, err := fmt.Fprintf(c, "POST /v2/orders/execute HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(content), content); err != nil {
			t.Fatal(err)
		}
		<-d.arrived
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		return c.(*net.TCPConn)
	}
	first := asks()
	again := asks()
	if answer, err := io.ReadAll(again); err != nil || len(answer) > 0 {
		t.Errorf("who gave up got %q (%v)", answer, err)
	}
	close(d.release)
	if answer, err := io.ReadAll(first); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") || !strings.Contains(string(answer), `"ordStatus":"FILLED"`) {
		t.Errorf("the first got %q (%v)", answer, err)
	}
}

// TestBodyCutOff: half a body is no order, and the exchange goes on.
func TestBodyCutOff(t *testing.T) {
	content := encode(t, wire.JSON, good("a"))
	for name, head := range map[string]string{
		"length":  fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(content)+1, content),
		"chunked": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(content), content),
	} {
		d := newDesk()
		e := startWith(t, streams.Options{Desk: d})
		c, err := net.Dial("tcp", e.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "POST /v2/orders/execute HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+head); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") || !strings.Contains(string(answer), "cut off") {
			t.Errorf("%s: half a body got %q (%v)", name, answer, err)
		}
		_ = c.Close()
		e.goesOn(d)
	}
}

// cut is a body that ends with an error.
type cut struct{ io.Reader }

func (c cut) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err == io.EOF {
		err = errors.New("the power failed")
	}
	return n, err
}

func TestBodyCutOffOverHTTP2(t *testing.T) {
	d := newDesk()
	e := startWith(t, streams.Options{Desk: d})
	tr := transport("2")
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+e.addr+"/v2/orders/execute", cut{strings.NewReader(encode(t, wire.JSON, good("a")))})
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if resp, err := tr.RoundTrip(req); err == nil {
		_ = resp.Body.Close()
		t.Errorf("half a body got %s", resp.Status)
	}
	e.goesOn(d)
}

// goesOn checks that half a body was counted as a problem and is no order, and
// that the next order is one.
func (e *exchange) goesOn(d *desk) {
	e.t.Helper()
	until(e.t, "problem", func() bool { return e.Stats().Problems == 1 })
	if asked := d.take(); asked != nil {
		e.t.Errorf("the desk was asked %+v", asked)
	}
	for _, version := range versions {
		if resp, body := e.executes(version, "a"); resp.StatusCode != 200 {
			e.t.Errorf("the order after it: %s %s", resp.Status, body)
		}
	}
}
