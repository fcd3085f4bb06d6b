package restserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// kinds are the content types that are served, the first of an encoding being that
// of its answers.
var kinds = map[wire.Encoding][]string{
	wire.JSON:     {"application/json", "application/json; charset=utf-8", "Application/JSON"},
	wire.Protobuf: {"application/x-protobuf", "application/protobuf", "application/x-protobuf; messageType=x"},
}

func encode(t testing.TB, enc wire.Encoding, req order.Request) string {
	t.Helper()
	body, err := wire.AppendOrder(nil, enc, &req, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestOrders takes each verb to the desk as the request that it should be, has the
// answer decoded, and sends it again for the same bytes.
func TestOrders(t *testing.T) {
	d := newDesk()
	e := startWith(t, streams.Options{Desk: d})
	change := order.Request{Action: order.ActionReplace, ClOrdID: "r", OrderQty: 200_000_000, Price: 102_000_000_000}
	changed := func(account, orig string) order.Request {
		req := change
		req.Account, req.OrigClOrdID = account, orig
		return req
	}
	for _, version := range versions {
		for enc, contentTypes := range kinds {
			for _, contentType := range contentTypes {
				for _, c := range []struct {
					method, path string
					body         order.Request
					want         order.Request
				}{
					{"POST", "/v2/orders/execute", good("a/b"), good("a/b")},
					{"PUT", "/v2/orders/a%2Fb", change, changed("", "a/b")},
					{"PUT", "/v2/orders/a%2Fb?account=acct-1", change, changed("acct-1", "a/b")},
					{"PUT", "/v2/orders/a%2Fb?account=acct-1", changed("acct-1", "a/b"), changed("acct-1", "a/b")},
					{"PUT", "/v2/orders/execute?account=", changed("acct-2", ""), changed("acct-2", "execute")},
				} {
					header := http.Header{"Content-Type": {contentType}, wire.RequestIDHeader: {"r-1"}}
					name := "HTTP/" + version + " " + c.method + " " + c.path + " " + contentType
					var first string
					for range 2 {
						resp, body := e.send(version, c.method, c.path, header, strings.NewReader(encode(t, enc, c.body)))
						if asked := d.take(); len(asked) != 1 || asked[0] != c.want {
							t.Errorf("%s: the desk was asked %+v, want %+v", name, asked, c.want)
						}
						var x order.Execution
						if err := wire.UnmarshalExecution(enc, []byte(body), &x); err != nil || resp.StatusCode != 200 || x.ClOrdID != c.want.ClOrdID || x.OrdStatus != order.Filled {
							t.Errorf("%s: %s %q (%v)", name, resp.Status, body, err)
						}
						if first != "" && body != first {
							t.Errorf("%s: again %q, first %q", name, body, first)
						}
						first = body
						if got := resp.Header; got.Get("Content-Type") != contentTypes[0] || got.Get(wire.RequestIDHeader) != "r-1" || got.Get("Cache-Control") != "no-store" {
							t.Errorf("%s: header %v", name, got)
						}
					}
				}
			}
		}
	}
}

// TestOrdersWithoutBody: GET and DELETE, whose ids stand in the path and whose
// answers are as Accept says.
func TestOrdersWithoutBody(t *testing.T) {
	d := newDesk()
	e := startWith(t, streams.Options{Desk: d})
	ids := []string{"a", "a/b", "//", "/x/", "..", ".", "a b", "100%", "%2F", "a+b", "?q", "#f", "é", "..%2f..", "execute", strings.Repeat("x", 10<<10)}
	accepts := map[string]wire.Encoding{
		"": wire.JSON, "*/*": wire.JSON, "text/html": wire.JSON, "application/json": wire.JSON,
		"application/x-protobuf": wire.Protobuf, "text/html, application/protobuf;q=0.9": wire.Protobuf,
	}
	for _, version := range versions {
		for _, id := range ids {
			path := "/v2/orders/" + strings.ReplaceAll(url.PathEscape(id), ".", "%2e")
			for accept, enc := range accepts {
				header := http.Header{"Accept": {accept}}
				resp, body := e.do(version, http.MethodDelete, path+"?account=acct-1&clOrdId="+url.QueryEscape(id), header)
				want := order.Request{Action: order.ActionCancel, Account: "acct-1", ClOrdID: id, OrigClOrdID: id}
				if asked := d.take(); len(asked) != 1 || asked[0] != want {
					t.Errorf("HTTP/%s DELETE %.40s: the desk was asked %+v", version, path, asked)
				}
				var x order.Execution
				if err := wire.UnmarshalExecution(enc, []byte(body), &x); err != nil || resp.StatusCode != 200 || x.OrigClOrdID != id {
					t.Errorf("HTTP/%s DELETE %.40s, Accept %q: %s %.80q (%v)", version, path, accept, resp.Status, body, err)
				}
				found, again := e.do(version, http.MethodGet, path+"?account=acct-1", header)
				if found.StatusCode != 200 || again != body || found.Header.Get("Content-Type") != kinds[enc][0] {
					t.Errorf("HTTP/%s GET %.40s, Accept %q: %s %.80q, want %.80q", version, path, accept, found.Status, again, body)
				}
			}
		}
		if _, body := e.do(version, http.MethodDelete, "/v2/orders/a", nil); len(body) == 0 {
			t.Error("a cancel without an id or an account has no answer")
		}
		if asked := d.take(); len(asked) != 1 || asked[0] != (order.Request{Action: order.ActionCancel, OrigClOrdID: "a"}) {
			t.Errorf("a cancel without an id or an account: the desk was asked %+v", asked)
		}
	}
	if got := e.Stats().Problems; got != 0 {
		t.Errorf("%d problems are counted", got)
	}
}

// TestNoDesk: an exchange that takes no orders says so, whatever the verb.
func TestNoDesk(t *testing.T) {
	e := start(t)
	for _, version := range versions {
		for method, path := range map[string]string{"POST": "/v2/orders/execute", "PUT": "/v2/orders/a", "GET": "/v2/orders/a", "DELETE": "/v2/orders/a"} {
			content := encode(t, wire.JSON, order.Request{Action: order.ActionReplace, ClOrdID: "b"})
			if method == "GET" || method == "DELETE" {
				content = ""
			}
			resp, body := e.send(version, method, path, http.Header{"Content-Type": {"application/json"}}, strings.NewReader(content))
			if resp.StatusCode != 400 || !strings.Contains(body, "UNSUPPORTED") || !strings.Contains(body, "takes no orders") {
				t.Errorf("HTTP/%s %s: %s %s", version, method, resp.Status, body)
			}
		}
	}
}
