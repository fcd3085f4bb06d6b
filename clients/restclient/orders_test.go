package restclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func TestExecute(t *testing.T) {
	each(t, func(t *testing.T, opts OrderOptions) {
		f := newFloor(t)
		opts.PayloadBytes = 1024
		e := openOrders(t, dialOrders(t, serve(t, f), opts))
		var first clients.Ack
		for i, id := range []string{"a", "b/ü", "c"} {
			before := feed.Now()
			req := limit(id, "AAA")
			ack, err := e.Execute(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			x := ack.Execution
			if x.ClOrdID != id || x.OrdStatus != order.Filled || x.CumQty != req.OrderQty || x.AvgPx != req.Price || x.ReportSeq != 9 || x.ServiceNS != 11 {
				t.Errorf("the answer to %s is %+v", id, x)
			}
			if ack.ReceivedNS < before || ack.ReceivedNS > feed.Now() {
				t.Errorf("order %s: acked at %d, sent at %d", id, ack.ReceivedNS, before)
			}
			if got := f.got[i]; got != *req {
				t.Errorf("the order arrived as %+v, want %+v", got, *req)
			}
			if i == 0 {
				first = ack
			}
		}
		if first.Execution.ClOrdID != "a" || first.Execution.Symbol != "AAA" {
			t.Errorf("an ack has changed since to %+v", first.Execution)
		}
		// The padding is that of the first order.
		if f.bytes[0] != 1024 || f.bytes[2] != 1024 {
			t.Errorf("bodies of %d bytes, want 1024", f.bytes)
		}
	})
}

// A refusal is an answer, a problem an error; the entry goes on after both.
func TestOrderRefused(t *testing.T) {
	each(t, func(t *testing.T, opts OrderOptions) {
		e := openOrders(t, dialOrders(t, serve(t, newFloor(t)), opts))
		before := feed.Now()
		ack, err := e.Execute(t.Context(), limit("a", "REJECT"))
		x := ack.Execution
		if err != nil || x.Reject != order.RejectOffGrid || x.ExecType != order.ExecRejected || x.OrdStatus != order.Rejected || x.Text == "" || x.ClOrdID != "a" || ack.ReceivedNS < before {
			t.Errorf("refused with %+v, %v", ack, err)
		}
		_, err = e.Execute(t.Context(), limit("b", "PROBLEM"))
		var p *feed.Problem
		if !errors.As(err, &p) || p.Code != feed.CodeUnsupported || p.RequestID == "" {
			t.Errorf("a problem gives %v", err)
		}
		if ack, err := e.Execute(t.Context(), limit("c", "AAA")); err != nil || ack.Execution.OrdStatus != order.Filled || ack.Execution.Reject != "" {
			t.Errorf("after the refusals: %+v, %v", ack, err)
		}
		// What cannot be encoded is not sent.
		if _, err := e.Execute(t.Context(), &order.Request{ClOrdID: "d"}); err == nil {
			t.Error("an order without an action: no error")
		}
	})
}

// TestSharedConnection: the entries of a connection wait for each other over
// HTTP/1.1 and share it over HTTP/2; neither opens another.
func TestSharedConnection(t *testing.T) {
	const conns, entries, orders = 2, 5, 20
	each(t, func(t *testing.T, opts OrderOptions) {
		f := newFloor(t)
		target := serve(t, f)
		var dialled sync.Map
		opts.DialContext = func(ctx context.Context, conn int) (net.Conn, error) {
			if _, again := dialled.LoadOrStore(conn, true); again {
				t.Errorf("connection %d was dialled again", conn)
			}
			return new(net.Dialer).DialContext(ctx, "tcp", target)
		}
		o, err := NewOrders(target, opts)
		if err != nil {
			t.Fatal(err)
		}
		var g sync.WaitGroup
		for conn := range conns {
			c, err := o.DialOrders(t.Context(), conn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			for n := range entries {
				e := openOrders(t, c)
				g.Go(func() {
					for i := range orders {
						id := fmt.Sprint(conn, "-", n, "-", i)
						if ack, err := e.Execute(t.Context(), limit(id, "AAA")); err != nil || ack.Execution.ClOrdID != id {
							t.Errorf("order %s: %+v, %v", id, ack, err)
						}
					}
				})
			}
		}
		g.Wait()
		if len(f.got) != conns*entries*orders || len(f.conns) != conns {
			t.Errorf("%d orders on %d connections", len(f.got), len(f.conns))
		}
		if opts.HTTPVersion == "1.1" && f.most != 1 {
			t.Errorf("%d orders at once on a connection of HTTP/1.1", f.most)
		}
	})
}

// TestMultiplexed: over HTTP/2 an order that waits holds up no other.
func TestMultiplexed(t *testing.T) {
	f := newFloor(t)
	c := dialOrders(t, serve(t, f), OrderOptions{HTTPVersion: "2"})
	var g sync.WaitGroup
	for i := range 3 {
		e := openOrders(t, c)
		g.Go(func() {
			if ack, err := e.Execute(t.Context(), limit(fmt.Sprint(i), "HOLD")); err != nil || ack.Execution.ClOrdID != fmt.Sprint(i) {
				t.Errorf("%+v, %v", ack, err)
			}
		})
	}
	for range 3 {
		within(t, "three orders at once", f.arrived)
	}
	if _, err := openOrders(t, c).Execute(t.Context(), limit("x", "AAA")); err != nil {
		t.Error(err)
	}
	close(f.release)
	g.Wait()
}

func TestOrdersOfNoExchange(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, h := range map[string]http.Handler{
		"a page":             answer(200, "text/html", "<html>"),
		"nothing":            answer(200, "text/plain", ""),
		"an empty execution": answer(200, "application/json", "{}"),
		"not found":          http.NotFoundHandler(),
		"created":            answer(201, "text/plain", ""),
		"redirect":           http.RedirectHandler("/elsewhere", http.StatusFound),
		"JSON of another":    answer(403, "application/json", `{"error":"no"}`),
		"broken JSON":        answer(400, "application/json", `{"code":`),
		"a broken report":    answer(400, "application/json", `{"code":"BAD_PRICE","execution":{"clOrdId":"a","side":"UP"}}`),
		"too much":           answer(200, "application/json", strings.Repeat(" ", maxBodyBytes)+"{}"),
	} {
		each(t, func(t *testing.T, opts OrderOptions) {
			e := openOrders(t, dialOrders(t, serve(t, h), opts))
			ack, err := e.Execute(t.Context(), limit("a", "AAA"))
			if !errors.Is(err, clients.ErrNoExchange) || !reflect.DeepEqual(ack, clients.Ack{}) {
				t.Errorf("%s: %+v, %v", name, ack, err)
			}
		})
	}
}

func TestNewOrders(t *testing.T) {
	for name, c := range map[string]struct {
		target string
		opts   OrderOptions
	}{
		"no port":  {"localhost", OrderOptions{}},
		"version":  {"localhost:80", OrderOptions{HTTPVersion: "3"}},
		"encoding": {"localhost:80", OrderOptions{Encoding: 9}},
	} {
		if _, err := NewOrders(c.target, c.opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	refuse := errors.New("refused here")
	var asked []int
	o, err := NewOrders("localhost:80", OrderOptions{DialContext: func(_ context.Context, conn int) (net.Conn, error) {
		asked = append(asked, conn)
		return nil, refuse
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range []int{7, 3} {
		if _, err := o.DialOrders(t.Context(), conn); !errors.Is(err, refuse) {
			t.Errorf("dial: %v", err)
		}
	}
	if !reflect.DeepEqual(asked, []int{7, 3}) {
		t.Errorf("dialled %v", asked)
	}
}
