package sseclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// greeting returns what an exchange says first.
func greeting(t *testing.T) (hello, subscribed string) {
	t.Helper()
	event := func(m *feed.Message) string {
		e, err := wire.AppendEvent(nil, wire.JSON, m)
		if err != nil {
			t.Fatal(err)
		}
		return string(e)
	}
	return event(&feed.Message{Hello: &feed.Hello{Epoch: "e0"}}),
		event(&feed.Message{Subscribed: &feed.Subscribed{Symbols: []feed.SymbolSeq{{Symbol: "AAA"}}, Cursor: "e0-0"}})
}

func TestNoExchange(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.Handler
		says    string
	}{
		"a page":           {answer(200, "text/html", "<html>"), "text/html"},
		"not found":        {http.NotFoundHandler(), "404"},
		"JSON of another":  {answer(404, "application/json", `{"error":"no"}`), "404"},
		"broken JSON":      {answer(500, "application/json", `{"code":`), "500"},
		"JSON, but 200":    {answer(200, "application/json", `{"code":"X","message":"y"}`), "200"},
		"redirect":         {http.RedirectHandler("/elsewhere", http.StatusFound), "302"},
		"another's events": {answer(200, eventStream, "data: hi\n\n"), `first event is ""`},
		"no hello":         {answer(200, eventStream, "event: tick\ndata: {\"ticks\":[]}\n\n"), "no hello"},
	} {
		for _, version := range versions {
			t.Run(name+" HTTP "+version, func(t *testing.T) {
				s := newSink(t)
				c1 := dial(t, serve(t, c.handler, 0).addr, Options{HTTPVersion: version, Encoding: wire.JSON}, s)
				err := c1.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}})
				if !errors.Is(err, clients.ErrNoExchange) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want one that says %q", err, c.says)
				}
				s.silent()
			})
		}
	}
}

// A stream that breaks in the middle of what it says ends with an error.
func TestBrokenStream(t *testing.T) {
	hello, subscribed := greeting(t)
	for name, c := range map[string]struct{ then, says string }{
		"ends":       {"", "did not say why"},
		"cut event":  {"event: tick\ndata: {", "did not say why"},
		"no message": {"event: tick\ndata: {]\n\n", "event tick"},
	} {
		for _, version := range versions {
			s := newSink(t)
			target := serve(t, answer(200, eventStream, hello+subscribed+c.then), 0).addr
			c1 := dial(t, target, Options{HTTPVersion: version, Encoding: wire.JSON}, s)
			if err := c1.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
				t.Fatal(err)
			}
			if err := s.waitEnded(0); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s HTTP/%s: %v, want one that says %q", name, version, err, c.says)
			}
		}
	}
}

// Events and comments that a later exchange may send are passed over.
func TestUnknownEvents(t *testing.T) {
	hello, subscribed := greeting(t)
	target := serve(t, answer(200, eventStream, ": hi\n\n: heartbeat 1\n\n"+hello+": hi\n\n"+subscribed+
		"event: settlement\ndata: {}\n\n: hi\n\ndata: x\n\n: heartbeat x\n\n: heartbeat 2\n\n"), 0).addr
	s := newSink(t)
	c := dial(t, target, Options{Encoding: wire.JSON}, s)
	if err := c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
		t.Fatal(err)
	}
	_ = s.waitEnded(0)
	if got := s.got[0]; len(got) != 3 || got[2].Message.Heartbeat == nil || got[2].Message.Heartbeat.SentNS != 2 {
		t.Errorf("%+v", got)
	}
}

// TestNoAnswer is a target that takes the request and says nothing.
func TestNoAnswer(t *testing.T) {
	for _, version := range versions {
		asked := make(chan struct{})
		silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			<-r.Context().Done()
		})
		req := feed.Subscribe{Symbols: []string{"AAA"}}
		t.Run("context HTTP "+version, func(t *testing.T) {
			s := newSink(t)
			c := dial(t, serve(t, silent, 0).addr, Options{HTTPVersion: version}, s)
			ctx, cancel := context.WithCancel(context.Background())
			go func() { <-asked; cancel() }()
			if err := c.Open(ctx, 0, req); !errors.Is(err, context.Canceled) {
				t.Errorf("open: %v", err)
			}
			s.silent()
		})
		t.Run("close HTTP "+version, func(t *testing.T) {
			s := newSink(t)
			c := dial(t, serve(t, silent, 0).addr, Options{HTTPVersion: version}, s)
			go func() { <-asked; _ = c.Close() }()
			if err := c.Open(context.Background(), 0, req); !errors.Is(err, net.ErrClosed) {
				t.Errorf("open: %v", err)
			}
			s.silent()
		})
	}
}

func TestNotHTTP(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
			_ = c.Close()
		}
	}()
	for _, version := range versions {
		s := newSink(t)
		c := dial(t, ln.Addr().String(), Options{HTTPVersion: version}, s)
		if err := c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}}); err == nil {
			t.Error("a stream opened")
		}
		s.silent()
	}
	_ = ln.Close()
	<-served
	d, err := New(ln.Addr().String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Dial(context.Background(), 0, newSink(t)); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("closed port: %v", err)
	}
}

func TestDialContext(t *testing.T) {
	x := startExchange(t, 100)
	for _, version := range versions {
		var asked []int
		d, err := New("exchange.invalid:1", Options{HTTPVersion: version, DialContext: func(ctx context.Context, conn int) (net.Conn, error) {
			asked = append(asked, conn)
			return new(net.Dialer).DialContext(ctx, "tcp", x.addr)
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, conn := range []int{7, 3} {
			c, err := d.Dial(context.Background(), conn, newSink(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
				t.Error(err)
			}
			_ = c.Close()
		}
		if len(asked) != 2 || asked[0] != 7 || asked[1] != 3 {
			t.Errorf("HTTP/%s: dialled %v", version, asked)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		target string
		opts   Options
	}{
		"no port":  {"localhost", Options{}},
		"a URL":    {"http://localhost:80", Options{}},
		"version":  {"localhost:80", Options{HTTPVersion: "3"}},
		"encoding": {"localhost:80", Options{Encoding: 9}},
	} {
		if _, err := New(c.target, c.opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
