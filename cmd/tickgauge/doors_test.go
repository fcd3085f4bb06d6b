package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order/desk"
	"github.com/tickgauge/tickgauge/streams"
)

// rest sends a request to the venue and returns status, code, text and the body.
func (v *venue) rest(t *testing.T, method, path, contentType, body string) (status int, code, message, all string) {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+v.http+path, r)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	defer http.DefaultClient.CloseIdleConnections()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Code, Message, RequestID string }
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(b, &answer); err != nil {
			t.Errorf("%s %s: body %q: %v", method, path, b, err)
		}
	}
	if resp.StatusCode >= 400 && (answer.RequestID == "" || answer.Message == "") {
		t.Errorf("%s %s: %d without a request id or a message: %s", method, path, resp.StatusCode, b)
	}
	return resp.StatusCode, answer.Code, answer.Message, string(b)
}

// orderJSON is a good order with some members replaced, or taken out where they are
// empty.
func orderJSON(id string, replaced map[string]string) string {
	members := map[string]string{
		"account": `"acct-1"`, "clOrdId": `"` + id + `"`, "symbol": `"A"`, "side": `"BUY"`, "ordType": `"LIMIT"`,
		"timeInForce": `"IOC"`, "orderQty": `"1"`, "price": `"101"`,
	}
	var out []string
	for name, value := range members {
		if r, ok := replaced[name]; ok {
			value = r
		}
		if value != "" {
			out = append(out, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

// badOrders are bodies that no door takes, the code each gets, and a word that the
// message names the fault with.
var badOrders = []struct {
	name     string
	replaced map[string]string
	code     string
	says     string
}{
	{"quantity 0", map[string]string{"orderQty": `"0"`}, "BAD_ORDER_QTY", "order_qty"},
	{"negative quantity", map[string]string{"orderQty": `"-1"`}, "BAD_ORDER_QTY", "order_qty"},
	{"quantity beyond the bound", map[string]string{"orderQty": `"1000000.00000001"`}, "BAD_ORDER_QTY", "1000000"},
	{"quantity too fine", map[string]string{"orderQty": `"0.000000001"`}, "BAD_REQUEST", "orderQty"},
	{"quantity NaN", map[string]string{"orderQty": `NaN`}, "BAD_REQUEST", ""},
	{"quantity \"NaN\"", map[string]string{"orderQty": `"NaN"`}, "BAD_REQUEST", "orderQty"},
	{"quantity Inf", map[string]string{"orderQty": `"Infinity"`}, "BAD_REQUEST", "orderQty"},
	{"quantity 1e400", map[string]string{"orderQty": `1e400`}, "BAD_REQUEST", "orderQty"},
	{"price 0", map[string]string{"price": `0`}, "BAD_PRICE", "price"},
	{"negative price", map[string]string{"price": `"-1"`}, "BAD_PRICE", "price"},
	{"price NaN", map[string]string{"price": `"NaN"`}, "BAD_REQUEST", "price"},
	{"price Inf", map[string]string{"price": `-Inf`}, "BAD_REQUEST", ""},
	{"price 1e400", map[string]string{"price": `1e400`}, "BAD_REQUEST", "price"},
	{"price off the grid", map[string]string{"price": `100.005`}, "PRICE_OFF_GRID", "0.01"},
	{"empty id", map[string]string{"clOrdId": `""`}, "BAD_CL_ORD_ID", "cl_ord_id"},
	{"no id", map[string]string{"clOrdId": ``}, "BAD_CL_ORD_ID", "cl_ord_id"},
	{"id of 10 KB", map[string]string{"clOrdId": `"` + strings.Repeat("x", 10<<10) + `"`}, "BAD_CL_ORD_ID", "10240 bytes"},
	{"id with control characters", map[string]string{"clOrdId": `"a\u0000b"`}, "BAD_CL_ORD_ID", "control"},
	{"unknown account", map[string]string{"account": `"acct-99"`}, "UNKNOWN_ACCOUNT", "acct-99"},
	{"unknown symbol", map[string]string{"symbol": `"Z"`}, "UNKNOWN_SYMBOL", "Z"},
	{"unknown side", map[string]string{"side": `"SHORT"`}, "BAD_REQUEST", "side"},
	{"no side", map[string]string{"side": ``}, "BAD_SIDE", "side"},
	{"unknown type", map[string]string{"ordType": `"STOP"`}, "BAD_REQUEST", "ordType"},
	{"no type", map[string]string{"ordType": ``}, "BAD_ORD_TYPE", "ord_type"},
	{"market with a price", map[string]string{"ordType": `"MARKET"`}, "BAD_PRICE", "market"},
	{"limit without", map[string]string{"price": ``}, "BAD_PRICE", "limit"},
	{"unknown member", map[string]string{"price": `"101","stopPx":"1"`}, "BAD_REQUEST", "stopPx"},
}

func TestBadOrdersOverREST(t *testing.T) {
	v := orderVenue(t, streams.Options{}, desk.Options{})
	for i, c := range badOrders {
		status, code, message, _ := v.rest(t, "POST", "/v2/orders/execute", "application/json", orderJSON(fmt.Sprint("o", i), c.replaced))
		if code != c.code || status < 400 || status > 409 || !strings.Contains(message, c.says) {
			t.Errorf("%s: %d %s %q, want %s with %q", c.name, status, code, message, c.code, c.says)
		}
	}
	for _, c := range []struct {
		name, method, path, contentType, body string
		status                                int
		code                                  string
	}{
		{"no body", "POST", "/v2/orders/execute", "application/json", "", 400, "BAD_REQUEST"},
		{"half a body", "POST", "/v2/orders/execute", "application/json", `{"clOrdId":"a"`, 400, "BAD_REQUEST"},
		{"a form", "POST", "/v2/orders/execute", "application/x-www-form-urlencoded", "a=b", 400, "UNSUPPORTED"},
		{"another charset", "POST", "/v2/orders/execute", "application/json; charset=utf-16", "{}", 400, "UNSUPPORTED"},
		{"no type", "POST", "/v2/orders/execute", "", "{}", 400, "UNSUPPORTED"},
		{"a query", "POST", "/v2/orders/execute?account=acct-1", "application/json", "{}", 400, "BAD_REQUEST"},
		{"no protobuf", "POST", "/v2/orders/execute", "application/x-protobuf", "\xff\xff", 400, "BAD_REQUEST"},
		{"too large", "POST", "/v2/orders/execute", "application/json", strings.Repeat(" ", streams.DefaultMaxMessageBytes+1), 413, "MESSAGE_TOO_LARGE"},
		{"another method", "PATCH", "/v2/orders/a", "application/json", "{}", 405, "METHOD_NOT_ALLOWED"},
		{"GET of an unknown order", "GET", "/v2/orders/a", "", "", 404, "UNKNOWN_ORDER"},
		{"GET of an unknown account", "GET", "/v2/orders/a?account=x", "", "", 404, "UNKNOWN_ACCOUNT"},
		{"GET with an unknown parameter", "GET", "/v2/orders/a?acount=x", "", "", 400, "BAD_REQUEST"},
		{"DELETE of an unknown order", "DELETE", "/v2/orders/a", "", "", 404, "UNKNOWN_ORDER"},
		{"DELETE of control characters", "DELETE", "/v2/orders/a%00b", "", "", 400, "BAD_CL_ORD_ID"},
		{"DELETE with a body", "DELETE", "/v2/orders/a", "application/json", "{}", 400, "BAD_REQUEST"},
		{"PUT of an unknown order", "PUT", "/v2/orders/a", "application/json", `{"clOrdId":"b","orderQty":1,"price":100}`, 404, "UNKNOWN_ORDER"},
		{"PUT that names two orders", "PUT", "/v2/orders/a", "application/json", `{"clOrdId":"b","origClOrdId":"c","orderQty":1,"price":100}`, 400, "BAD_REQUEST"},
		{"PUT that names two accounts", "PUT", "/v2/orders/a?account=acct-1", "application/json", `{"account":"acct-2","clOrdId":"b","orderQty":1,"price":100}`, 400, "BAD_REQUEST"},
	} {
		if status, code, message, _ := v.rest(t, c.method, c.path, c.contentType, c.body); status != c.status || code != c.code {
			t.Errorf("%s: %d %s %q, want %d %s", c.name, status, code, message, c.status, c.code)
		}
	}
}

// TestOrderLifeOverREST takes orders through all four verbs, with ids that a path
// must escape, and numbers above 2^53.
func TestOrderLifeOverREST(t *testing.T) {
	v := orderVenue(t, streams.Options{}, desk.Options{})
	rest := func(name, method, path, body string, status int, says ...string) string {
		t.Helper()
		contentType := ""
		if body != "" {
			contentType = "application/json"
		}
		got, _, _, all := v.rest(t, method, path, contentType, body)
		if got != status {
			t.Errorf("%s: %d %s, want %d", name, got, all, status)
		}
		for _, s := range says {
			if !strings.Contains(all, s) {
				t.Errorf("%s: %s lacks %s", name, all, s)
			}
		}
		return all
	}
	day := map[string]string{"timeInForce": `"DAY"`, "price": `"99.5"`, "orderQty": `"10"`}
	first := rest("rest", "POST", "/v2/orders/execute", orderJSON("a/b", day), 200, `"ordStatus":"NEW"`, `"leavesQty":"10"`, `"clOrdId":"a/b"`)
	if again := rest("again", "POST", "/v2/orders/execute", orderJSON("a/b", day), 200); again != first {
		t.Errorf("the same order again got %s, first %s", again, first)
	}
	rest("find", "GET", "/v2/orders/a%2Fb?account=acct-1", "", 200, `"ordStatus":"NEW"`)
	rest("another account's", "GET", "/v2/orders/a%2Fb?account=acct-2", "", 404)
	rest("cancel another account's", "DELETE", "/v2/orders/a%2Fb?account=acct-2", "", 404, "UNKNOWN_ORDER")
	rest("replace another account's", "PUT", "/v2/orders/a%2Fb?account=acct-2", `{"clOrdId":"x","orderQty":1,"price":99}`, 404, "UNKNOWN_ORDER")
	rest("replace", "PUT", "/v2/orders/a%2Fb", `{"clOrdId":"c","orderQty":"12.5","price":"99.25"}`, 200, `"execType":"REPLACED"`, `"orderQty":"12.5"`, `"origClOrdId":"a/b"`)
	v.desk.Quote(0, 99e9, 1000*lot, 99_250_000_000, 2*lot) // comes down on it
	rest("filled in part", "GET", "/v2/orders/c", "", 200, `"ordStatus":"PARTIALLY_FILLED"`, `"cumQty":"2"`, `"avgPx":"99.25"`)
	rest("replace below what is filled", "PUT", "/v2/orders/c", `{"clOrdId":"d","orderQty":1,"price":99.25}`, 409, "QTY_BELOW_CUM_QTY")
	rest("cancel", "DELETE", "/v2/orders/c?clOrdId=e", "", 200, `"ordStatus":"CANCELED"`, `"leavesQty":"0"`)
	rest("cancel the canceled", "DELETE", "/v2/orders/c?clOrdId=f", "", 409, "TOO_LATE")
	rest("replace the canceled", "PUT", "/v2/orders/c", `{"clOrdId":"g","orderQty":20,"price":99.25}`, 409, "TOO_LATE")
	rest("an id above 2^53 as a number", "POST", "/v2/orders/execute", orderJSON("", map[string]string{"clOrdId": `9007199254740993`}), 400, "BAD_REQUEST", "clOrdId")
	rest("the id as text", "POST", "/v2/orders/execute", orderJSON("9007199254740993", map[string]string{"price": `"99.25"`}), 200, `"clOrdId":"9007199254740993"`)
}

// TestBodyCutOff: half a body is no order, and the exchange goes on.
func TestBodyCutOff(t *testing.T) {
	v := orderVenue(t, streams.Options{}, desk.Options{})
	c, err := net.Dial("tcp", v.http)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	body := orderJSON("a", nil)
	_, err = fmt.Fprintf(c, "POST /v2/orders/execute HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body)+1, body)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	answer, _ := io.ReadAll(c) // the server may close without more words
	if len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
		t.Errorf("half a body got %q", answer)
	}
	if got := v.desk.Stats(); got.Requests != 0 {
		t.Errorf("the desk was asked: %+v", got)
	}
	if status, _, _, all := v.rest(t, "POST", "/v2/orders/execute", "application/json", body); status != 200 {
		t.Errorf("the order after it: %d %s", status, all)
	}
}

// TestBadOrdersOnWebSocket: a bad order is answered and the stream goes on.
func TestBadOrdersOnWebSocket(t *testing.T) {
	v := orderVenue(t, streams.Options{}, desk.Options{})
	ws, _, err := websocket.Dial(t.Context(), "ws://"+v.http+"/v2/stream", &websocket.DialOptions{Subprotocols: []string{"tickgauge.v1.json"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	read := func() string {
		_, b, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if hello := read(); !strings.Contains(hello, `"hello"`) {
		t.Fatalf("first came %s", hello)
	}
	// All at once: the answers come in the order of the orders.
	for i, c := range badOrders {
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"execute":`+orderJSON(fmt.Sprint("o", i), c.replaced)+"}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"execute":`+orderJSON("good", nil)+"}")); err != nil {
		t.Fatal(err)
	}
	for _, c := range badOrders {
		if got := read(); !strings.Contains(got, `"`+c.code+`"`) || !strings.Contains(got, c.says) {
			t.Errorf("%s: %.300s, want %s with %q", c.name, got, c.code, c.says)
		}
	}
	if got := read(); !strings.Contains(got, `"execution":{`) || !strings.Contains(got, `"clOrdId":"good"`) || !strings.Contains(got, `"FILLED"`) {
		t.Errorf("the good order got %s", got)
	}
}

// TestManyIDs: 200,000 ids through a door leave no more than the desk remembers,
// and the oldest one may be used anew.
func TestManyIDs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	v := orderVenue(t, streams.Options{}, desk.Options{IDs: 1000, Reports: 100})
	p, err := findPath("grpc-stream", "")
	if err != nil {
		t.Fatal(err)
	}
	e := v.enter(t, p, 0, 0)
	for i := range 200_000 {
		req := ioc(fmt.Sprint("id", i), feed.SideBuy, 1, 101e9)
		if _, err := e.Execute(t.Context(), &req); err != nil {
			t.Fatal(err)
		}
	}
	if n := v.desk.Remembered(); n > 1000 {
		t.Errorf("%d ids are remembered", n)
	}
	if got := execute(t, e, ioc("id0", feed.SideSell, 2, 100e9)); got.Reject != "" {
		t.Errorf("the oldest id anew: %+v", got)
	}
}
