package restserver

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

const maxBody = 4096 // of the exchange of these tests

// refusals are requests that never reach the desk, and words of the message.
var refusals = []struct {
	name, method, path, contentType, body string
	status                                int
	code                                  feed.ProblemCode
	says                                  []string
}{
	{"no body", "POST", "/v2/orders/execute", "application/json", "", 400, feed.CodeBadRequest, []string{"no body"}},
	{"no body of protobuf", "POST", "/v2/orders/execute", "application/x-protobuf", "", 400, feed.CodeBadRequest, []string{"no body"}},
	{"no body of a PUT", "PUT", "/v2/orders/a", "application/json", "", 400, feed.CodeBadRequest, []string{"no body"}},
	{"half a body", "POST", "/v2/orders/execute", "application/json", `{"clOrdId":"a"`, 400, feed.CodeBadRequest, nil},
	{"half a body of protobuf", "POST", "/v2/orders/execute", "application/x-protobuf", "\x0a\x06acct", 400, feed.CodeBadRequest, []string{"protobuf"}},
	{"two bodies", "POST", "/v2/orders/execute", "application/json", `{"clOrdId":"a"}{}`, 400, feed.CodeBadRequest, nil},
	{"a list", "POST", "/v2/orders/execute", "application/json", `[]`, 400, feed.CodeBadRequest, nil},
	{"the largest body", "POST", "/v2/orders/execute", "application/json", strings.Repeat(" ", maxBody), 400, feed.CodeBadRequest, nil},
	{"too large a body", "POST", "/v2/orders/execute", "application/json", strings.Repeat(" ", maxBody+1), 413, feed.CodeTooLarge, []string{"4096"}},
	{"too large a PUT", "PUT", "/v2/orders/a", "application/x-protobuf", strings.Repeat("x", 100*maxBody), 413, feed.CodeTooLarge, []string{"4096"}},
	{"no type", "POST", "/v2/orders/execute", "", "{}", 400, feed.CodeUnsupported, []string{"application/json", "application/x-protobuf"}},
	{"a form", "POST", "/v2/orders/execute", "application/x-www-form-urlencoded", "a=b", 400, feed.CodeUnsupported, []string{"urlencoded", "application/json", "application/x-protobuf"}},
	{"no type at all", "PUT", "/v2/orders/a", "json;;", "{}", 400, feed.CodeUnsupported, []string{"json;;", "application/json"}},
	{"a query", "POST", "/v2/orders/execute?account=acct-1", "application/json", "{}", 400, feed.CodeBadRequest, []string{"query"}},
	{"an unknown parameter of PUT", "PUT", "/v2/orders/a?clOrdId=b", "application/json", "{}", 400, feed.CodeBadRequest, []string{"clOrdId", "account"}},
	{"an unknown parameter of GET", "GET", "/v2/orders/a?acount=x", "", "", 400, feed.CodeBadRequest, []string{"acount", "account"}},
	{"an unknown parameter of DELETE", "DELETE", "/v2/orders/a?origClOrdId=x", "", "", 400, feed.CodeBadRequest, []string{"origClOrdId", "account, clOrdId"}},
	{"a parameter twice", "GET", "/v2/orders/a?account=a&account=b", "", "", 400, feed.CodeBadRequest, []string{"account"}},
	{"a broken query", "DELETE", "/v2/orders/a?account=%zz", "", "", 400, feed.CodeBadRequest, []string{"query", "percent"}},
	{"two orders", "PUT", "/v2/orders/a%2Fb", "application/json", `{"clOrdId":"b","origClOrdId":"c"}`, 400, feed.CodeBadRequest, []string{"origClOrdId", `"c"`, `"a/b"`}},
	{"two accounts", "PUT", "/v2/orders/a?account=acct-1", "application/json", `{"account":"acct-2","clOrdId":"b"}`, 400, feed.CodeBadRequest, []string{"account", `"acct-2"`, `"acct-1"`}},
	{"a PUT that is an order", "PUT", "/v2/orders/a", "application/json", `{"clOrdId":"b","side":"BUY"}`, 400, feed.CodeBadRequest, []string{"side"}},
	{"a body of GET", "GET", "/v2/orders/a", "application/json", "{}", 400, feed.CodeBadRequest, []string{"GET"}},
	{"a body of DELETE", "DELETE", "/v2/orders/a", "application/json", "{}", 400, feed.CodeBadRequest, []string{"DELETE"}},
	{"an unknown order", "GET", "/v2/orders/a", "", "", 404, feed.ProblemCode(order.RejectUnknownOrder), []string{`"a"`}},
	{"an unknown account", "GET", "/v2/orders/a?account=acct-9", "", "", 404, feed.ProblemCode(order.RejectUnknownAccount), []string{"acct-9"}},
	{"control characters", "GET", "/v2/orders/%00%0a", "", "", 404, feed.ProblemCode(order.RejectUnknownOrder), []string{`\x00\n`}},
	{"another method", "PATCH", "/v2/orders/a", "application/json", "{}", 405, feed.CodeMethodNotAllowed, []string{"DELETE, GET, HEAD, PUT"}},
	{"a POST of an id", "POST", "/v2/orders/a", "application/json", "{}", 405, feed.CodeMethodNotAllowed, []string{"DELETE, GET, HEAD, PUT"}},
	{"no id", "GET", "/v2/orders/", "", "", 404, feed.CodeNotFound, nil},
	{"an id that is a slash alone", "GET", "/v2/orders/%2F", "", "", 404, feed.CodeNotFound, nil},
	{"a slash too many", "GET", "/v2/orders/a/b", "", "", 404, feed.CodeNotFound, nil},
}

func TestOrderRefusals(t *testing.T) {
	d := newDesk()
	e := startWith(t, streams.Options{Desk: d, Limits: feed.Limits{MaxMessageBytes: maxBody}})
	for _, version := range versions {
		for _, c := range refusals {
			header := http.Header{wire.RequestIDHeader: {"r-1"}, "Accept": {"application/x-protobuf"}}
			if c.contentType != "" {
				header.Set("Content-Type", c.contentType)
			}
			resp, body := e.send(version, c.method, c.path, header, strings.NewReader(c.body))
			var p feed.Problem
			if err := wire.UnmarshalProblem([]byte(body), &p); err != nil || resp.StatusCode != c.status || p.Code != c.code || p.RequestID != "r-1" {
				t.Errorf("%s over HTTP/%s: %s %s (%v), want %d %s", c.name, version, resp.Status, body, err, c.status, c.code)
			}
			for _, word := range c.says {
				if !strings.Contains(p.Message, word) {
					t.Errorf("%s over HTTP/%s: %q lacks %q", c.name, version, p.Message, word)
				}
			}
			if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("%s over HTTP/%s: content type %q", c.name, version, kind)
			}
		}
	}
	if asked := d.take(); asked != nil {
		t.Errorf("the desk was asked %+v", asked)
	}
}

// TestBadMembers: what cannot be a number or a name is refused with its member,
// before the desk is asked.
func TestBadMembers(t *testing.T) {
	d := newDesk()
	e := startWith(t, streams.Options{Desk: d})
	for _, c := range []struct{ member, value string }{
		{"orderQty", `"NaN"`}, {"orderQty", `"Inf"`}, {"orderQty", `"-Infinity"`}, {"orderQty", `1e400`}, {"orderQty", `"1e400"`},
		{"orderQty", `0.000000001`}, {"orderQty", `99999999999999`}, {"orderQty", `true`}, {"orderQty", `"1,5"`}, {"orderQty", `[1]`},
		{"price", `"NaN"`}, {"price", `"Inf"`}, {"price", `"-Infinity"`}, {"price", `1e400`}, {"price", `"0.0000000001"`}, {"price", `{}`},
		{"side", `"SHORT"`}, {"side", `9`}, {"ordType", `"STOP"`}, {"timeInForce", `"GTC"`},
		{"clOrdId", `9007199254740993`}, {"account", `1`}, {"symbol", `false`}, {"stopPx", `"1"`},
	} {
		content := fmt.Sprintf("{%q:%s}", c.member, c.value)
		for _, version := range versions {
			resp, body := e.send(version, "POST", "/v2/orders/execute", http.Header{"Content-Type": {"application/json"}}, strings.NewReader(content))
			var p feed.Problem
			if err := wire.UnmarshalProblem([]byte(body), &p); err != nil || resp.StatusCode != 400 || p.Code != feed.CodeBadRequest || !strings.Contains(p.Message, c.member) {
				t.Errorf("HTTP/%s %s: %s %s (%v)", version, content, resp.Status, body, err)
			}
		}
	}
	if got := e.Stats().Problems; got != 48 || d.take() != nil {
		t.Errorf("%d problems are counted, want 48 and no order", got)
	}
}

// TestRejections: what the desk refuses carries the report, under the status of its
// code; it counts there and is no problem of the exchange.
func TestRejections(t *testing.T) {
	d := newDesk()
	e := startWith(t, streams.Options{Desk: d})
	for _, version := range versions {
		for code, status := range map[order.RejectCode]int{
			order.RejectBadQty: 400, order.RejectUnknownSymbol: 404, order.RejectDuplicate: 409, order.RejectBelowCum: 409,
			order.RejectTooLate: 409, order.RejectShuttingDown: 503, "NEW_CODE": 500,
		} {
			req := good("refuse " + string(code))
			header := http.Header{"Content-Type": {"application/x-protobuf"}, wire.RequestIDHeader: {"r-1"}}
			resp, body := e.send(version, "POST", "/v2/orders/execute", header, strings.NewReader(encode(t, wire.Protobuf, req)))
			var (
				p feed.Problem
				x order.Execution
			)
			refused, err := wire.UnmarshalRejection([]byte(body), &p, &x)
			if err != nil || !refused || resp.StatusCode != status || p.Code != feed.ProblemCode(code) || p.RequestID != "r-1" || p.Message != x.Text || x != rejected(req, code) {
				t.Errorf("HTTP/%s %s: %s %s (%v), want %d", version, code, resp.Status, body, err, status)
			}
		}
		// Names that no encoding can carry come back mended.
		for _, path := range []string{"/v2/orders/%ff?clOrdId=refuse+BAD_CL_ORD_ID+%ff", "/v2/orders/%00?clOrdId=refuse+BAD_CL_ORD_ID+%00&account=%fe"} {
			resp, body := e.do(version, "DELETE", path, nil)
			var (
				p feed.Problem
				x order.Execution
			)
			if refused, err := wire.UnmarshalRejection([]byte(body), &p, &x); err != nil || !refused || resp.StatusCode != 400 || x.Reject != order.RejectBadID {
				t.Errorf("HTTP/%s DELETE %s: %s %s (%v)", version, path, resp.Status, body, err)
			}
		}
	}
	if got := e.Stats().Problems; got != 0 {
		t.Errorf("%d problems are counted", got)
	}
}

// TestRefusedBodyKeepsHTTP2: a DELETE with a body costs nobody else on its
// connection anything.
func TestRefusedBodyKeepsHTTP2(t *testing.T) {
	e := startWith(t, streams.Options{Desk: newDesk()})
	tr := transport("2")
	defer tr.CloseIdleConnections()
	for i, c := range []struct {
		method, content string
		status          int
	}{{"DELETE", "{}", 400}, {"DELETE", "", 200}, {"GET", "{}", 400}, {"DELETE", "", 200}} {
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
			if got.Reused != (i > 0) {
				t.Errorf("request %d: connection reused: %t", i, got.Reused)
			}
		}})
		req, err := http.NewRequestWithContext(ctx, c.method, "http://"+e.addr+"/v2/orders/a?clOrdId=b", strings.NewReader(c.content))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("request %d: %s, want %d", i, resp.Status, c.status)
		}
	}
}
