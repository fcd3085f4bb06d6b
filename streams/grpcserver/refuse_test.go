package grpcserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// What cannot be understood or is refused is told on the stream, and the stream
// goes on.
func TestRefusedRequests(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{Limits: feed.Limits{MaxSymbolsPerStream: 2}})
		s := v.subscriber(t, v.connect(t), enc)
		good, err := wire.AppendRequest(nil, enc, &feed.Request{Ping: &feed.Ping{ID: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{
			"malformed": []byte("\xff{ping"), "empty": {}, "cut short": good[:len(good)-1], "several": append(good[:len(good):len(good)], "}{"...),
		} {
			s.send(data)
			if p := s.refused(feed.CodeBadRequest); !strings.Contains(p.Message, "decode") {
				t.Errorf("%s: %v, want it to say what could not be decoded", name, p)
			}
		}
		subscribe := func(symbols ...string) *feed.Request {
			return &feed.Request{Subscribe: &feed.Subscribe{Symbols: symbols}}
		}
		unsubscribe := func(symbols ...string) *feed.Request {
			return &feed.Request{Unsubscribe: &feed.Unsubscribe{Symbols: symbols}}
		}
		for _, test := range []struct {
			request *feed.Request
			code    feed.ProblemCode
			symbol  string
		}{
			{subscribe(), feed.CodeBadRequest, ""},
			{subscribe("A", "nobody"), feed.CodeUnknownSymbol, "nobody"},
			{subscribe("A", "A"), feed.CodeAlreadySubscribed, "A"},
			{subscribe("A", "B", "C"), feed.CodeTooManySymbols, ""},
			{unsubscribe(), feed.CodeBadRequest, ""},
			{unsubscribe("A"), feed.CodeNotSubscribed, "A"},
		} {
			s.send(test.request)
			if p := s.refused(test.code); p.Symbol != test.symbol {
				t.Errorf("%+v: %v at fault, want %q", test.request, p.Symbol, test.symbol)
			}
		}
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}, Policy: feed.PolicyDropOldest})
		s.next() // the snapshot
		s.send(subscribe("A"))
		_ = s.refused(feed.CodeAlreadySubscribed)
		s.send(&feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{"B"}, Policy: feed.PolicyDisconnect}})
		_ = s.refused(feed.CodeBadRequest)
		if second := s.subscribed(feed.Subscribe{Symbols: []string{"B"}}); second.Policy != feed.PolicyDropOldest {
			t.Errorf("second subscribe %+v, want the policy of the first", second)
		}
		if n := v.exchange.Stats().Problems; n != 12 {
			t.Errorf("%d problems counted, want 12", n)
		}
	})
}

func TestTooManyRequests(t *testing.T) {
	v := newVenue(t, streams.Options{Limits: feed.Limits{MaxSubscribesPerSecond: 3}})
	s := v.subscriber(t, v.connect(t), wire.Protobuf)
	for {
		s.send(&feed.Request{Unsubscribe: &feed.Unsubscribe{Symbols: []string{"A"}}})
		if p := s.next().Problem; p == nil || p.Code == feed.CodeRateLimited {
			return
		} else if p.Code != feed.CodeNotSubscribed {
			t.Fatal(p)
		}
	}
}

// A message beyond the limit ends its call before it is read, and nothing else.
func TestOversize(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		cc := v.connect(t)
		other := v.subscriber(t, cc, enc)
		s := v.subscriber(t, cc, enc)
		huge := make([]byte, 10<<20)
		_ = s.stream.SendMsg(huge) // may find the stream ended
		if _, end := s.ended(); end.Code() != codes.ResourceExhausted || !strings.Contains(end.Message(), "larger than max") {
			t.Errorf("ended with %v, want RESOURCE_EXHAUSTED", end)
		}
		err := cc.Invoke(context.Background(), pb.MarketData_GetQuote_FullMethodName, huge, new(pb.Tick), in(enc))
		wantStatus(t, err, codes.ResourceExhausted, "larger than max")
		eventually(t, "the session has ended, and was counted", func() bool {
			got := v.exchange.Stats()
			return got.Open == 1 && got.Problems == 1
		})
		other.subscribed(feed.Subscribe{Symbols: []string{"A"}})
		v.subscriber(t, cc, enc)
	})
}

// The stream too many is refused in words: it does not wait in the client.
func TestTooManyStreams(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{Limits: feed.Limits{MaxStreams: 2}})
		cc := v.connect(t)
		v.subscriber(t, cc, enc)
		s := v.subscriber(t, cc, enc)
		for range 3 {
			_, end := open(t, cc, enc).ended()
			wantStatus(t, end.Err(), codes.ResourceExhausted, "TOO_MANY_STREAMS: ")
		}
		if _, err := v.quote(t, cc, enc, "A"); err != nil {
			t.Errorf("a quote beside all streams: %v", err)
		}
		if got := v.exchange.Stats(); got.Refused != 3 || got.Problems != 3 {
			t.Errorf("stats %+v, want 3 refused", got)
		}
		s.cancel()
		eventually(t, "a place for another", func() bool { return v.exchange.Stats().Open == 1 })
		v.subscriber(t, cc, enc)
	})
}

// grpc-go takes what it does not know as protobuf, so the body is protobuf here.
func TestContentTypes(t *testing.T) {
	v := newVenue(t, streams.Options{})
	transport := &http.Transport{Protocols: new(http.Protocols),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return v.ln.DialContext(ctx) }}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	call := func(method string, contentTypes ...string) (code codes.Code, message string, body []byte) {
		t.Helper()
		symbol := []byte("\x0a\x01A") // GetQuoteRequest{symbol: "A"}
		data := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(symbol))), symbol...)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://venue"+method, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Te": {"trailers"}, "Content-Type": contentTypes}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if body, err = io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
		end := resp.Trailer
		if end.Get("Grpc-Status") == "" {
			end = resp.Header
		}
		n, err := strconv.Atoi(end.Get("Grpc-Status"))
		if err != nil {
			t.Fatalf("%s %q: %s, %v", method, contentTypes, resp.Status, end)
		}
		return codes.Code(n), end.Get("Grpc-Message"), body
	}
	refused := [][]string{
		{"application/grpc+xml"}, {"application/grpc+JSON"}, {"application/grpc+json; charset=utf-8"}, {"application/grpc;json"},
		{"application/grpc+proto;x"}, {"application/grpc+"}, {"application/grpc+json", "application/grpc"}, {"application/grpc", "application/grpc+json"},
	}
	methods := []string{
		pb.MarketData_Subscribe_FullMethodName, pb.MarketData_GetQuote_FullMethodName, pb.MarketData_ListSymbols_FullMethodName,
		pb.OrderEntry_ExecuteOrder_FullMethodName, pb.OrderEntry_StreamOrders_FullMethodName,
		healthpb.Health_Check_FullMethodName, healthpb.Health_Watch_FullMethodName, reflectionpb.ServerReflection_ServerReflectionInfo_FullMethodName,
		"/no.such.Service/Method",
	}
	for _, method := range methods {
		for _, types := range refused {
			code, message, body := call(method, types...)
			if code != codes.Unimplemented || !strings.HasPrefix(message, "UNSUPPORTED: content-type ") || !strings.Contains(message, "use application/grpc,") || len(body) > 0 {
				t.Errorf("%s as %q: %s %q and %d bytes, want UNIMPLEMENTED that names what is served", method, types, code, message, len(body))
			}
		}
	}
	if got := v.exchange.Stats(); got.Opened != 0 || got.Problems != int64(len(methods)*len(refused)) {
		t.Errorf("stats %+v, want no session, and each refusal counted", got)
	}
	for _, served := range []string{"application/grpc", "application/grpc+proto"} {
		if code, message, body := call(pb.MarketData_GetQuote_FullMethodName, served); code != codes.OK || !bytes.Contains(body, []byte("\x0a\x01A")) {
			t.Errorf("%s: %s %q %q", served, code, message, body)
		}
	}
	if code, message, _ := call(pb.MarketData_GetQuote_FullMethodName, "application/grpc+json"); code != codes.Internal || !strings.Contains(message, "unmarshal") {
		t.Errorf("protobuf as JSON: %s %q", code, message)
	}
}
