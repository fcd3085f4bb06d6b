package wsclient

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// answerUpgrade reads a handshake and accepts it by hand.
func answerUpgrade(t testing.TB, r *bufio.Reader, w io.Writer, subprotocol string) {
	req, err := http.ReadRequest(r)
	if err != nil {
		t.Error(err)
		return
	}
	sum := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = fmt.Fprintf(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]), subprotocol)
	if err != nil {
		t.Error(err)
	}
}

// socket serves one connection with what follows its request.
func socket(t *testing.T, serve func(net.Conn)) (target string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		c, err := ln.Accept()
		if err != nil {
			return
		}
		serve(c)
		_ = c.Close()
	}()
	t.Cleanup(func() { _ = ln.Close(); <-served })
	return ln.Addr().String()
}

func TestRefusedByTheExchange(t *testing.T) {
	target := listen(t, func(w http.ResponseWriter, r *http.Request) {
		wire.WriteProblem(w, r, &feed.Problem{Code: feed.CodeTooManyStreams, Message: "full", Fatal: true})
	})
	_, err := dial(t, target, wire.JSON, newEars())
	var p *feed.Problem
	if !errors.As(err, &p) || p.Code != feed.CodeTooManyStreams || p.Message != "full" || p.RequestID == "" {
		t.Errorf("dial: %v, want the exchange's problem", err)
	}
}

func TestNoExchange(t *testing.T) {
	text := func(status int, body string) func(*testing.T) string {
		return func(t *testing.T) string {
			return listen(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			})
		}
	}
	for name, serve := range map[string]func(*testing.T) string{
		"a page":               text(http.StatusOK, "<html>hello"),
		"not found":            text(http.StatusNotFound, "404 page not found"),
		"a redirect":           text(http.StatusMovedPermanently, ""),
		"another API's error":  text(http.StatusNotFound, `{"code":"RESOURCE_MISSING","message":"no such thing"}`),
		"an error without one": text(http.StatusBadRequest, `{}`),
		"another subprotocol": func(t *testing.T) string {
			return socket(t, func(c net.Conn) { answerUpgrade(t, bufio.NewReader(c), c, "graphql-ws") })
		},
		"no subprotocol": func(t *testing.T) string {
			return socket(t, func(c net.Conn) { answerUpgrade(t, bufio.NewReader(c), c, ""); _, _ = io.Copy(io.Discard, c) })
		},
		"no HTTP": func(t *testing.T) string {
			return socket(t, func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n"); _, _ = io.Copy(io.Discard, c) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := dial(t, serve(t), wire.Protobuf, newEars()); !errors.Is(err, clients.ErrNoExchange) {
				t.Errorf("dial: %v, want %v", err, clients.ErrNoExchange)
			}
		})
	}
}

func TestDialFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := ln.Addr().String()
	_ = ln.Close()
	for name, target := range map[string]string{
		"a closed port": closed,
		"closes":        socket(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dial(t, target, wire.JSON, newEars())
			if err == nil || errors.Is(err, clients.ErrNoExchange) {
				t.Errorf("dial: %v, want an error that is not %v", err, clients.ErrNoExchange)
			}
		})
	}
	t.Run("never answers", func(t *testing.T) {
		d, err := New(socket(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		if _, err := d.Dial(ctx, 0, newEars()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dial: %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestNew(t *testing.T) {
	for _, target := range []string{"", "localhost", "ws://localhost:1/x"} {
		if _, err := New(target, Options{}); err == nil {
			t.Errorf("target %q: no error", target)
		}
	}
	if _, err := New("localhost:1", Options{Encoding: 9}); err == nil {
		t.Error("encoding 9: no error")
	}
}

func TestDialContext(t *testing.T) {
	target := exchange(t, func(p peer) { p.asked() })
	var asked []int
	d, err := New("venue.invalid:1", Options{DialContext: func(ctx context.Context, conn int) (net.Conn, error) {
		asked = append(asked, conn)
		return new(net.Dialer).DialContext(ctx, "tcp", target)
	}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Dial(context.Background(), 17, newEars())
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || asked[0] != 17 {
		t.Errorf("sockets of connections %v, want 17 once", asked)
	}
	_ = c.Close() // without a stream
}
