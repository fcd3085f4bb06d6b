package wsserver

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func closeError(err error) (end websocket.CloseError) {
	errors.As(err, &end)
	return end
}

func TestShutdown(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		s := v.subscriber(t, enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
		shut := make(chan struct{})
		go func() {
			defer close(shut)
			v.exchange.Shutdown(context.Background())
		}()
		told, end := s.ended()
		if told == nil || told.Code != feed.CodeShuttingDown {
			t.Errorf("told %+v, want %s", told, feed.CodeShuttingDown)
		}
		if end.Code != websocket.StatusGoingAway || !strings.HasPrefix(end.Reason, "SHUTTING_DOWN: ") {
			t.Errorf("closed with %+v, want 1001 and the problem", end)
		}
		<-shut
	})
}

// The subscriber reads nothing until the policy has ended its stream, and then
// finds out why.
func TestSlowConsumer(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{Limits: feed.Limits{QueueTicks: 4}})
		s := v.subscriber(t, enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}, Policy: feed.PolicyDisconnect})
		for range 50 {
			v.publish(0)
		}
		if n := v.hub.Stats().Disconnected; n != 1 {
			t.Fatalf("%d subscriptions disconnected, want 1", n)
		}
		told, end := s.ended()
		if told == nil || told.Code != feed.CodeSlowConsumer || end.Code != websocket.StatusPolicyViolation {
			t.Errorf("told %+v, closed with %v, want %s and 1008", told, end, feed.CodeSlowConsumer)
		}
	})
}

// A subscriber that never reads is cut in the middle of a write.
func TestSlowConsumerThatStaysSilent(t *testing.T) {
	v := newVenue(t, streams.Options{Limits: feed.Limits{QueueTicks: 4}, WriteTimeout: 20 * time.Millisecond})
	s := v.subscriber(t, wire.Protobuf)
	s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
	v.sweep(t) // the snapshot now waits to be read
	eventually(t, "the session has been cut", func() bool { return v.exchange.Stats().Open == 0 })
	if n := v.exchange.Stats().TimedOut; n != 1 {
		t.Errorf("%d sessions timed out, want 1", n)
	}
}

// silentPeer shakes hands over a socket of its own and never says a word more.
func silentPeer(t *testing.T, c net.Conn) *bufio.Reader {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: venue\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", wire.WebSocketPath, wire.SubprotocolJSON)
	if err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status %s", resp.Status)
	}
	return br
}

// A peer that answers nothing holds neither a close nor a shutdown for the
// library's 5 s.
func TestSilentPeer(t *testing.T) {
	const bound = 3 * time.Second
	t.Run("takes what is written", func(t *testing.T) {
		v := newVenue(t, streams.Options{})
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		v.serve(t, ln)
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		br := silentPeer(t, c)
		began := time.Now()
		v.exchange.Shutdown(context.Background())
		if took := time.Since(began); took > bound {
			t.Errorf("shutdown took %s", took)
		}
		rest, err := io.ReadAll(br) // to the end: the server has closed
		if err != nil || !strings.Contains(string(rest), "\x03\xe9SHUTTING_DOWN: ") {
			t.Errorf("read %q, %v, want a close frame 1001", rest, err)
		}
	})
	t.Run("takes nothing", func(t *testing.T) {
		v := newVenue(t, streams.Options{})
		c, err := v.pipes.dial(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		silentPeer(t, c) // the hello now blocks in a write
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		v.exchange.Shutdown(ctx)
		eventually(t, "the session has been cut", func() bool { return v.exchange.Stats().Open == 0 })
		if took := time.Since(began); took > bound {
			t.Errorf("the cut took %s", took)
		}
	})
}

func TestPeerThatBreaksTheProtocol(t *testing.T) {
	for name, frame := range map[string]string{
		"not masked":     "\x81\x02{}",
		"unknown opcode": "\x83\x80\x00\x00\x00\x00",
		"reserved bits":  "\xf1\x80\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			v := newVenue(t, streams.Options{})
			c, err := v.pipes.dial(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			br := silentPeer(t, c)
			// The hello first: a stream that ends in the middle of a write is cut.
			head := make([]byte, 4)
			if _, err := io.ReadFull(br, head); err != nil || head[1] != 126 {
				t.Fatalf("head of the hello: % x, %v", head, err)
			}
			if _, err := br.Discard(int(binary.BigEndian.Uint16(head[2:]))); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(c, frame) }()
			rest, err := io.ReadAll(br)
			if err != nil || !strings.Contains(string(rest), "\x03\xea") {
				t.Errorf("read %q, %v, want a close frame 1002", rest, err)
			}
		})
	}
}

func TestPeerThatVanishes(t *testing.T) {
	v := newVenue(t, streams.Options{})
	s := v.subscriber(t, wire.JSON)
	s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
	_ = s.ws.CloseNow()
	eventually(t, "the session has ended", func() bool { return v.exchange.Stats().Open == 0 })
}

func TestClosing(t *testing.T) {
	long := &feed.Problem{Code: feed.CodeSlowConsumer, Message: strings.Repeat("é", 200)}
	for _, test := range []struct {
		err    error
		code   websocket.StatusCode
		reason string
	}{
		{&feed.Problem{Code: feed.CodeShuttingDown, Message: "later"}, 1001, "SHUTTING_DOWN: later"},
		{errors.Join(&feed.Problem{Code: feed.CodeInternal, Message: "oh"}, io.ErrClosedPipe), 1011, "INTERNAL: oh"},
		{&feed.Problem{Code: feed.CodeTooLarge, Message: "a\xffb"}, 1009, "MESSAGE_TOO_LARGE: ab"},
		{long, 1008, "SLOW_CONSUMER: " + strings.Repeat("é", 54)},
		{&feed.Problem{Code: feed.CodeRateLimited, Message: "slower"}, 1008, "RATE_LIMITED: slower"},
		{fmt.Errorf("%w: %w", errReading, io.EOF), 1002, ""},
		{io.ErrShortWrite, 1011, ""},
	} {
		code, reason := closing(test.err)
		if code != test.code || reason != test.reason || len(reason) > maxReason || !utf8.ValidString(reason) {
			t.Errorf("%v: closed with %d %q, want %d %q", test.err, code, reason, test.code, test.reason)
		}
	}
}
