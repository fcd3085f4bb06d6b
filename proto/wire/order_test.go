package wire

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// spoil overwrites data, of which a decoder may have kept nothing.
func spoil(data []byte) {
	for i := range data {
		data[i] = '#'
	}
}

func TestOrderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want, got := drawEncoding(t), drawOrder(t), drawOrder(t)
		padding := drawPadding(t, &want)
		data, err := AppendOrder([]byte("before"), enc, &want, padding)
		data = must(t, data, err)
		if err := UnmarshalOrder(enc, data[6:], want.Action, &got); err != nil {
			t.Fatalf("%v\n%q", err, data)
		}
		spoil(data)
		if string(data[:6]) != "######" || got != want {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		data, err = AppendOrderRequest(data[:6], enc, &want, padding)
		got = drawOrder(t)
		if err := UnmarshalOrderRequest(enc, must(t, data, err)[6:], &got); err != nil || got != want {
			t.Fatalf("%s: got %+v, %v\nwant %+v", enc, got, err, want)
		}
	})
}

func TestExecutionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want, got := drawEncoding(t), drawExecution(t), drawExecution(t)
		data, err := AppendExecution([]byte("before"), enc, &want)
		data = must(t, data, err)
		if err := UnmarshalExecution(enc, data[6:], &got); err != nil {
			t.Fatalf("%v\n%q", err, data)
		}
		spoil(data)
		if got != want {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		if got, err := ExecutionFromProto(ExecutionToProto(&want)); err != nil || got != want {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
	})
	if got, err := ExecutionFromProto(nil); err != nil || got != (order.Execution{}) {
		t.Errorf("nil reads as %+v, %v", got, err)
	}
}

// TestOrdersAreGenerated holds what is written by hand to the generated code.
func TestOrdersAreGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, q := drawExecution(t), drawOrder(t)
		padding := drawPadding(t, &q)
		same := func(got []byte, err error, generated proto.Message) {
			t.Helper()
			want, wantErr := proto.MarshalOptions{Deterministic: true}.Marshal(generated)
			if string(must(t, got, err)) != string(must(t, want, wantErr)) {
				t.Fatalf("%T\ngot  %x\nwant %x", generated, got, want)
			}
		}
		got, err := AppendExecution(nil, Protobuf, &e)
		same(got, err, ExecutionToProto(&e))
		got, err = AppendExecutionMessage(nil, Protobuf, &e)
		same(got, err, streamMessageToProto(&StreamMessage{Execution: &e}))
		got, err = AppendOrder(nil, Protobuf, &q, padding)
		same(got, err, unaryToProto(&q, padding))
		got, err = AppendOrderRequest(nil, Protobuf, &q, padding)
		same(got, err, orderRequestToProto(&q, padding))
		s := StreamRequest{Order: q, Padding: padding}
		got, err = AppendStreamRequest(nil, Protobuf, &s)
		same(got, err, streamRequestToProto(&s))
	})
}

func TestOrderFromProto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawOrderOf(t, order.ActionExecute)
		if got, err := OrderFromProto(executeToProto(&q, "padding")); err != nil || got != q {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, q)
		}
	})
	_, err := OrderFromProto(&pb.Order{OrdType: 3})
	wantError(t, err, "ordType: unknown value 3, want one of 0 UNSPECIFIED, 1 LIMIT, 2 MARKET")
	if got, err := OrderFromProto(nil); err != nil || got != (order.Request{Action: order.ActionExecute}) {
		t.Errorf("nil reads as %+v, %v", got, err)
	}
}

// TestOrderRefusals has what no encoding writes: it would be lost or misread.
func TestOrderRefusals(t *testing.T) {
	const execute, cancel, replace = order.ActionExecute, order.ActionCancel, order.ActionReplace
	for _, c := range []struct {
		want    string
		request order.Request
		padding string
	}{
		{"want exactly one of execute, cancel, replace", order.Request{}, ""},
		{"want exactly one of", order.Request{Action: 4}, ""},
		{"execute has no origClOrdId", order.Request{Action: execute, OrigClOrdID: "a"}, ""},
		{"cancel has account, clOrdId and origClOrdId alone", order.Request{Action: cancel, Symbol: "A"}, ""},
		{"cancel has", order.Request{Action: cancel, OrderQty: 1}, ""},
		{"cancel has", order.Request{Action: cancel}, "x"},
		{"replace has account, clOrdId, origClOrdId, orderQty and price alone", order.Request{Action: replace, Side: feed.SideBuy}, ""},
		{"replace has", order.Request{Action: replace}, "x"},
		{"account: ", order.Request{Action: cancel, Account: "\xff"}, ""},
		{"clOrdId: ", order.Request{Action: cancel, ClOrdID: "\xff"}, ""},
		{"origClOrdId: ", order.Request{Action: cancel, OrigClOrdID: "\xff"}, ""},
		{"symbol: ", order.Request{Action: execute, Symbol: "\xff"}, ""},
		{"padding: ", order.Request{Action: execute}, "\xff"},
		{"side: unknown value 3", order.Request{Action: execute, Side: 3}, ""},
		{"ordType: unknown value 3", order.Request{Action: execute, Type: 3}, ""},
		{"timeInForce: unknown value 4", order.Request{Action: execute, TimeInForce: 4}, ""},
	} {
		for _, enc := range Encodings() {
			got, err := AppendOrder([]byte("before"), enc, &c.request, c.padding)
			wantError(t, err, c.want)
			_, err = AppendOrderRequest(nil, enc, &c.request, c.padding)
			wantError(t, err, c.want)
			if c.request.Action != order.ActionNone {
				_, err = AppendStreamRequest(nil, enc, &StreamRequest{Order: c.request, Padding: c.padding})
				wantError(t, err, c.want)
			}
			if string(got) != "before" {
				t.Errorf("%s: dst came back as %q", c.want, got)
			}
		}
	}
	for want, e := range map[string]order.Execution{
		"side: unknown value 3":                     {Side: 3},
		"ordType: ":                                 {Type: 3},
		"timeInForce: ":                             {TimeInForce: 4},
		"execType: unknown value 6":                 {ExecType: 6},
		"ordStatus: unknown value 6":                {OrdStatus: 6},
		"clOrdId: \"\\xff\" is not UTF-8":           {ClOrdID: "\xff"},
		"text: ":                                    {Text: "\xff", ExecType: order.ExecNew},
		"timeInForce: unknown value 9, want one of": {TimeInForce: 9, ExecType: order.ExecRejected, Text: "\xff"},
	} {
		for _, enc := range Encodings() {
			_, err := AppendExecution(nil, enc, &e)
			wantError(t, err, want)
			_, err = AppendExecutionMessage(nil, enc, &e)
			wantError(t, err, "execution."+want)
			got, err := AppendExecutionEvent([]byte("before"), enc, &e)
			wantError(t, err, want)
			if string(got) != "before" {
				t.Errorf("%s: dst came back as %q", want, got)
			}
		}
	}
}

// TestRefusedOrderIsMended: the id that a client sent must not keep it from
// hearing that it was no id.
func TestRefusedOrderIsMended(t *testing.T) {
	e := order.Execution{ClOrdID: "a\xffb", ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: order.RejectBadID, Text: "clOrdId \xff"}
	want := e
	want.ClOrdID, want.Text = "a\uFFFDb", "clOrdId \uFFFD"
	for _, enc := range Encodings() {
		data, err := AppendExecution(nil, enc, &e)
		var got order.Execution
		if err := UnmarshalExecution(enc, must(t, data, err), &got); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", enc, got, err)
		}
	}
	if e.ClOrdID != "a\xffb" {
		t.Error("the report itself was changed")
	}
}

func TestUnknownEncodingOfOrders(t *testing.T) {
	const none Encoding = 2
	q, e := order.Request{Action: order.ActionCancel}, order.Execution{}
	for i, call := range []func() ([]byte, error){
		func() ([]byte, error) { return AppendOrder(nil, none, &q, "") },
		func() ([]byte, error) { return AppendOrderRequest(nil, none, &q, "") },
		func() ([]byte, error) { return AppendStreamRequest(nil, none, &StreamRequest{Order: q}) },
		func() ([]byte, error) { return AppendExecution(nil, none, &e) },
		func() ([]byte, error) { return AppendExecutionMessage(nil, none, &e) },
		func() ([]byte, error) { return nil, UnmarshalOrder(none, nil, q.Action, &q) },
		func() ([]byte, error) { return nil, UnmarshalOrderRequest(none, nil, &q) },
		func() ([]byte, error) { return nil, UnmarshalStreamRequest(none, nil, &StreamRequest{}) },
		func() ([]byte, error) { return nil, UnmarshalStreamMessage(none, nil, &StreamMessage{}) },
		func() ([]byte, error) { return nil, UnmarshalExecution(none, nil, &e) },
	} {
		if _, err := call(); err == nil {
			t.Errorf("call %d takes an encoding that is none", i)
		}
	}
}

func TestOrderPadding(t *testing.T) {
	q := order.Request{Action: order.ActionExecute, ClOrdID: "a-1", Symbol: "A", Side: feed.SideBuy, Type: order.Limit, OrderQty: 1e8, Price: 1e9}
	for _, enc := range Encodings() {
		for _, size := range []int{0, 1, 20, 100, 150, 255, 256, 300, 1024, 100_000} {
			padding := OrderPadding(enc, &q, size)
			bare, _ := AppendOrder(nil, enc, &q, "")
			b, err := AppendOrder(nil, enc, &q, padding)
			if err != nil {
				t.Fatal(err)
			}
			if want := max(size, len(bare)); len(b) > want || len(b) < want-len(`,"padding":""`) || size >= len(bare)+16 && len(b) < size-2 {
				t.Errorf("%s: asked for %d bytes it has %d, %d without padding", enc, size, len(b), len(bare))
			}
		}
	}
}
