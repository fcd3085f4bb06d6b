package wsserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestHandshakeRefused(t *testing.T) {
	v := newVenue(t, streams.Options{})
	for name, test := range map[string]struct {
		change func(*http.Request)
		code   feed.ProblemCode
		says   []string
	}{
		"plain GET": {func(r *http.Request) { r.Header.Del("Upgrade"); r.Header.Del("Connection") },
			feed.CodeBadRequest, []string{"no upgrade", wire.SubprotocolJSON, wire.SubprotocolProto}},
		"another upgrade": {func(r *http.Request) { r.Header.Set("Upgrade", "h2c") }, feed.CodeBadRequest, []string{"no upgrade"}},
		"HTTP/2":          {func(r *http.Request) { r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0 }, feed.CodeUnsupported, []string{"HTTP/1.1", "HTTP/2.0"}},
		"HTTP/1.0":        {func(r *http.Request) { r.Proto, r.ProtoMinor = "HTTP/1.0", 0 }, feed.CodeUnsupported, []string{"HTTP/1.1"}},
		"old version":     {func(r *http.Request) { r.Header.Set("Sec-WebSocket-Version", "8") }, feed.CodeUnsupported, []string{`"8"`, "13"}},
		"short key":       {func(r *http.Request) { r.Header.Set("Sec-WebSocket-Key", "c2hvcnQ=") }, feed.CodeBadRequest, []string{"Sec-WebSocket-Key"}},
		"two keys":        {func(r *http.Request) { r.Header.Add("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==") }, feed.CodeBadRequest, []string{"Sec-WebSocket-Key"}},
		"no subprotocol": {func(r *http.Request) { r.Header.Del("Sec-WebSocket-Protocol") },
			feed.CodeUnsupported, []string{"no subprotocol", wire.SubprotocolJSON, wire.SubprotocolProto}},
		"wrong subprotocol": {func(r *http.Request) { r.Header.Set("Sec-WebSocket-Protocol", "graphql-ws, TICKGAUGE.V1.JSON") },
			feed.CodeUnsupported, []string{`"graphql-ws, TICKGAUGE.V1.JSON"`, wire.SubprotocolJSON, wire.SubprotocolProto}},
		"endless subprotocol": {func(r *http.Request) { r.Header.Set("Sec-WebSocket-Protocol", strings.Repeat("é", 4000)) },
			feed.CodeUnsupported, []string{"…", wire.SubprotocolJSON}},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, wire.WebSocketPath, nil)
			r.Header = http.Header{"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"WebSocket"}, "Sec-Websocket-Version": {"13"},
				"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Sec-Websocket-Protocol": {wire.SubprotocolJSON}}
			test.change(r)
			w := httptest.NewRecorder()
			v.handler.ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest {
				t.Errorf("status %d, want 400", w.Code)
			}
			p := problemOf(t, w.Body)
			if p.Code != test.code || p.RequestID == "" {
				t.Errorf("problem %+v, want %s with a request id", p, test.code)
			}
			for _, want := range test.says {
				if !strings.Contains(p.Message, want) {
					t.Errorf("message %q does not say %q", p.Message, want)
				}
			}
			if len(p.Message) > 400 {
				t.Errorf("a message of %d bytes", len(p.Message))
			}
		})
	}
	if open := v.exchange.Stats(); open.Opened != 0 {
		t.Errorf("refused handshakes opened %d sessions", open.Opened)
	}
}

func TestHandshakeTakesTheClientsFirst(t *testing.T) {
	v := newVenue(t, streams.Options{})
	for _, test := range []struct {
		asked []string
		want  string
	}{
		{[]string{"v9", wire.SubprotocolProto, wire.SubprotocolJSON}, wire.SubprotocolProto},
		{[]string{wire.SubprotocolJSON, wire.SubprotocolProto}, wire.SubprotocolJSON},
	} {
		ws, status, p := v.dial(t, test.asked...)
		if p != nil {
			t.Fatal(p)
		}
		if status != http.StatusSwitchingProtocols || ws.Subprotocol() != test.want {
			t.Errorf("%s: status %d, subprotocol %q, want %q", test.asked, status, ws.Subprotocol(), test.want)
		}
	}
}

func TestStreamLimit(t *testing.T) {
	v := newVenue(t, streams.Options{Limits: feed.Limits{MaxStreams: 1}})
	first := v.subscriber(t, wire.JSON)
	_, status, p := v.dial(t, wire.SubprotocolJSON)
	if status != http.StatusServiceUnavailable || p == nil || p.Code != feed.CodeTooManyStreams {
		t.Errorf("second stream: status %d, %v, want 503 %s", status, p, feed.CodeTooManyStreams)
	}
	_ = first.ws.CloseNow()
	eventually(t, "the place is free again", func() bool { return v.exchange.Stats().Open == 0 })
	v.subscriber(t, wire.JSON)
}

func TestNoStreamWhileClosing(t *testing.T) {
	v := newVenue(t, streams.Options{})
	v.exchange.Shutdown(context.Background())
	_, status, p := v.dial(t, wire.SubprotocolProto)
	if status != http.StatusServiceUnavailable || p == nil || p.Code != feed.CodeShuttingDown {
		t.Errorf("status %d, %v, want 503 %s", status, p, feed.CodeShuttingDown)
	}
}
