package grpcserver

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// A refusal of the desk is a status that carries the report. The desk counts it, so
// that it is no problem of the exchange's.
func TestRefusedOrders(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, _ := orderVenue(t, streams.Options{})
		cc := v.connect(t)
		for _, test := range []struct {
			reject order.RejectCode
			code   codes.Code
		}{
			{order.RejectBadRequest, codes.InvalidArgument},
			{order.RejectUnknownSymbol, codes.NotFound},
			{order.RejectBadID, codes.InvalidArgument},
			{order.RejectBadQty, codes.InvalidArgument},
			{order.RejectOffGrid, codes.InvalidArgument},
			{order.RejectDuplicate, codes.AlreadyExists},
			{order.RejectUnknownOrder, codes.NotFound},
			{order.RejectTooLate, codes.FailedPrecondition},
			{order.RejectBelowCum, codes.FailedPrecondition},
			{order.RejectTooManyOpen, codes.ResourceExhausted},
			{order.RejectShuttingDown, codes.Unavailable},
			{"NEW_WORD", codes.Internal},
		} {
			id := "refuse " + string(test.reject)
			for _, q := range []*order.Request{execute(id + " x"), replaceOf(id+" r", "a"), cancelOf(id+" c", "a")} {
				_, err := unary(t, cc, enc, q)
				wantStatus(t, err, test.code, string(test.reject)+": no: "+q.ClOrdID)
				q.Account = "acct-1"
				if e, ok := wire.RejectedExecution(err); !ok || e != rejected(*q, test.reject) {
					t.Errorf("%s: the details have %+v, want the report", test.reject, e)
				}
			}
		}
		stranger := execute("a")
		stranger.Account = "nobody"
		_, err := unary(t, cc, enc, stranger)
		wantStatus(t, err, codes.NotFound, "UNKNOWN_ACCOUNT: ")
		if n := v.exchange.Stats().Problems; n != 0 {
			t.Errorf("%d problems counted, want none", n)
		}
	})
}

// What a refusal quotes of a request that is all names does not make trailers that
// clients do not take.
func TestRefusalFitsTrailers(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, _ := orderVenue(t, streams.Options{})
		cc := v.connect(t)
		long := strings.Repeat("日本", 20_000)
		q := execute("refuse BAD_CL_ORD_ID " + long)
		q.Symbol = "Z" + long
		stranger := execute("a")
		stranger.Account = "nobody" + long
		for _, q := range []*order.Request{q, stranger, cancelOf("refuse BAD_CL_ORD_ID", long)} {
			var trailer metadata.MD
			_, err := unary(t, cc, enc, q, grpc.Trailer(&trailer))
			e, ok := wire.RejectedExecution(err)
			if !ok || !strings.HasPrefix(q.ClOrdID, strings.TrimSuffix(e.ClOrdID, "…")) || !strings.HasPrefix(q.Symbol, strings.TrimSuffix(e.Symbol, "…")) {
				t.Fatalf("%.60s…: no report with %.30v, or of another order", err, e)
			}
			size := 3 * len(err.Error()) // at worst, as a header
			for name, values := range trailer {
				size += len(name) + len(strings.Join(values, ""))*4/3
			}
			if size > 8<<10 {
				t.Errorf("trailers of about %d bytes, want at most 8 KB", size)
			}
		}
	})
}

// What cannot be read is the client's fault, told by the member at fault, and never
// reaches the desk.
func TestUnreadableOrders(t *testing.T) {
	v, d := orderVenue(t, streams.Options{})
	cc := v.connect(t)
	generated := func(m any) []byte {
		data, err := wire.Codec(wire.Protobuf).Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data.Materialize()
	}
	good := generated(&pb.Order{ClOrdId: "a", Symbol: "A", OrderQty: 1})
	for i, test := range []struct {
		enc  wire.Encoding
		body string
		says string
	}{
		{wire.JSON, `{"orderQty":NaN}`, "orderQty"},
		{wire.JSON, `{"orderQty":"NaN"}`, "orderQty"},
		{wire.JSON, `{"price":"Infinity"}`, "price"},
		{wire.JSON, `{"price":-Inf}`, "price"},
		{wire.JSON, `{"orderQty":1e400}`, "orderQty"},
		{wire.JSON, `{"price":1e400}`, "price"},
		{wire.JSON, `{"orderQty":1000000.000000001}`, "orderQty"},
		{wire.JSON, `{"clOrdId":9007199254740993}`, "clOrdId"},
		{wire.JSON, `{"side":"SHORT"}`, "side"},
		{wire.JSON, `{"ordType":"STOP"}`, "ordType"},
		{wire.JSON, `{"timeInForce":"GTC"}`, "timeInForce"},
		{wire.JSON, `{"stopPx":"1"}`, "stopPx"},
		{wire.JSON, `{"` + strings.Repeat("日", 100_000) + `":1}`, "unknown member"},
		{wire.JSON, `{"clOrdId":"a","clOrdId":"b"}`, "clOrdId"},
		{wire.JSON, `{"clOrdId":"a"`, "decode JSON order"},
		{wire.JSON, ``, "decode JSON order"},
		{wire.JSON, `null`, "decode JSON order"},
		{wire.JSON, `{}{}`, "decode JSON order"},
		{wire.JSON, string(good), "decode JSON order"},
		{wire.Protobuf, string(generated(&pb.Order{Side: 9})), "side"},
		{wire.Protobuf, string(generated(&pb.Order{OrdType: 9})), "ordType"},
		{wire.Protobuf, string(generated(&pb.Order{TimeInForce: -1})), "timeInForce"},
		{wire.Protobuf, string(good[:len(good)-1]), "decode protobuf order"},
		{wire.Protobuf, "\x12\x01\xff", "decode protobuf order"}, // an id that is not UTF-8
		{wire.Protobuf, "{}", "decode protobuf order"},
	} {
		_, err := unary(t, cc, test.enc, []byte(test.body))
		wantStatus(t, err, codes.InvalidArgument, test.says)
		if len(err.Error()) > 2000 || !strings.Contains(err.Error(), "BAD_REQUEST: ") {
			t.Errorf("%.100q: %.200v, want a short BAD_REQUEST", test.body, err)
		}
		if n := v.exchange.Stats().Problems; n != int64(i+1) {
			t.Fatalf("%d problems counted after %d", n, i+1)
		}
	}
	if n := d.count(); n != 0 {
		t.Errorf("the desk was asked %d times", n)
	}
	// Numbers count by their digits, the padding not at all.
	if _, err := unary(t, cc, wire.JSON, []byte(`{"clOrdId":"9007199254740993","orderQty":1000000.00000001,"price":61837.640,"padding":"xx"}`)); err != nil {
		t.Fatal(err)
	}
	if q := d.asked[0]; q.ClOrdID != "9007199254740993" || q.OrderQty != 1000000_00000001 || q.Price != 61837_640000000 {
		t.Errorf("the desk was asked %+v", q)
	}
}

func TestNoDesk(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		cc := v.connect(t)
		for i, request := range []any{execute("a"), replaceOf("b", "a"), cancelOf("c", "a"), &pb.GetOrderRequest{ClOrdId: "a"}} {
			_, err := unary(t, cc, enc, request)
			wantStatus(t, err, codes.Unimplemented, "UNSUPPORTED: this exchange takes no orders")
			if n := v.exchange.Stats().Problems; n != int64(i+1) {
				t.Errorf("%d problems counted after %d", n, i+1)
			}
		}
		s := v.orders(t, cc, enc)
		s.send(execute("a"))
		wantStatus(t, s.end(), codes.Unimplemented, "UNSUPPORTED: ")
		wantStatus(t, v.watch(t, cc, enc, &pb.WatchExecutionsRequest{}).end(), codes.Unimplemented, "UNSUPPORTED: ")
		v.noSessions(t)
		if n := v.exchange.Stats().Problems; n != 6 {
			t.Errorf("%d problems counted, want 6", n)
		}
	})
}
