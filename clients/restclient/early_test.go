package restclient

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// slow is a connection whose writes after the first wait until release is closed,
// and then go nowhere but into written.
type slow struct {
	net.Conn
	release chan struct{}

	mu      sync.Mutex
	written []byte
}

// Write is net.Conn's.
func (c *slow) Write(b []byte) (int, error) {
	c.mu.Lock()
	first := c.written == nil
	c.mu.Unlock()
	if first {
		if n, err := c.Conn.Write(b); err != nil {
			return n, err
		}
	} else {
		<-c.release
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = append(c.written, b...)
	return len(b), nil
}

// body is what was written after the headers.
func (c *slow) body() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, body, _ := bytes.Cut(c.written, []byte("\r\n\r\n"))
	return bytes.Clone(body)
}

// TestEarlyAnswer: an order that is answered while net/http still writes it stays
// what it was, whatever the entry does next.
func TestEarlyAnswer(t *testing.T) {
	const payload = 64 << 10
	target := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		body, err := wire.AppendExecution(nil, wire.JSON, &order.Execution{ClOrdID: "first", ExecType: order.ExecNew, OrdStatus: order.New})
		if err == nil {
			err = c.EnableFullDuplex()
		}
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body))) // so that the answer ends before the request does
		_, _ = w.Write(body)
		_ = c.Flush()
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	s := &slow{release: make(chan struct{})}
	e := openOrders(t, dialOrders(t, target, OrderOptions{Encoding: wire.JSON, PayloadBytes: payload, DialContext: func(ctx context.Context, _ int) (_ net.Conn, err error) {
		s.Conn, err = new(net.Dialer).DialContext(ctx, "tcp", target)
		return s, err
	}}))
	first := limit("first", "AAA")
	want, err := wire.AppendOrder(nil, wire.JSON, first, wire.OrderPadding(wire.JSON, first, payload))
	if err != nil {
		t.Fatal(err)
	}
	if ack, err := e.Execute(t.Context(), first); err != nil || ack.Execution.ClOrdID != "first" {
		t.Fatalf("%+v, %v", ack, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Execute(ctx, limit("b", "AAA")); err == nil {
		t.Error("an order without any time: no error")
	}
	close(s.release)
	got := s.body()
	for deadline := time.Now().Add(patience); len(got) < len(want); got = s.body() {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes of %d were written", len(got), len(want))
		}
		runtime.Gosched()
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the order was changed while it was written: its end is %q, want %q", got[len(got)-40:], want[len(want)-40:])
	}
}
