package wire

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

func TestOrderJSONRefuses(t *testing.T) {
	for _, c := range []struct {
		action     order.Action
		data, want string
	}{
		{order.ActionExecute, ``, "decode JSON order: empty"},
		{order.ActionExecute, `null`, "want an object, got null"},
		{order.ActionExecute, `[]`, "want an object, got an array"},
		{order.ActionExecute, `{"clOrdId":"a","orderQ`, "unexpected EOF"},
		{order.ActionExecute, `{"clOrdId":"a"`, "unexpected EOF"},
		{order.ActionExecute, `{} {}`, "more after the JSON value"},
		{order.ActionExecute, `{"clOrdId":7}`, "clOrdId: want a string, got a number"},
		{order.ActionExecute, `{"clOrdId":null}`, "clOrdId: want a string, got null"},
		{order.ActionExecute, `{"cl_ord_id":"a"}`, "cl_ord_id: unknown member"},
		{order.ActionExecute, `{"origClOrdId":"a"}`, "origClOrdId: unknown member"},
		{order.ActionExecute, `{"orderId":"1"}`, "orderId: unknown member"},
		{order.ActionExecute, `{"price":1,"price":1}`, "price: stands twice"},
		{order.ActionExecute, `{"side":"HOLD"}`, `side: unknown value "HOLD", want one of UNSPECIFIED, BUY, SELL`},
		{order.ActionExecute, `{"side":1}`, "side: want a string, got a number"},
		{order.ActionExecute, `{"side":""}`, "side: unknown value"},
		{order.ActionExecute, `{"ordType":"STOP"}`, `ordType: unknown value "STOP", want one of UNSPECIFIED, LIMIT, MARKET`},
		{order.ActionExecute, `{"timeInForce":"GTC"}`, `timeInForce: unknown value "GTC", want one of UNSPECIFIED, DAY, IOC, FOK`},
		{order.ActionExecute, `{"timeInForce":"TIME_IN_FORCE_IOC"}`, "timeInForce: unknown value"},
		{order.ActionExecute, `{"padding":[]}`, "padding: want a string, got an array"},
		{order.ActionExecute, "{\"clOrdId\":\"\xff\"}", "clOrdId: invalid UTF-8"},
		{order.ActionExecute, `{"clOrdId":"\ud800"}`, "clOrdId"},
		{order.ActionCancel, `{"symbol":"A"}`, "symbol: unknown member"},
		{order.ActionCancel, `{"orderQty":1}`, "orderQty: unknown member"},
		{order.ActionCancel, `{"price":1}`, "price: unknown member"},
		{order.ActionReplace, `{"symbol":"A"}`, "symbol: unknown member"},
		{order.ActionReplace, `{"padding":"x"}`, "padding: unknown member"},
		{order.ActionNone, `{}`, "want exactly one of execute, cancel, replace"},
		{9, `{}`, "want exactly one of execute, cancel, replace"},
	} {
		wantError(t, UnmarshalOrder(JSON, []byte(c.data), c.action, &order.Request{}), c.want)
	}
	for data, want := range map[string]string{
		`{}`:                             "want exactly one of execute, cancel, replace",
		`{"execute":{},"cancel":{}}`:     "want exactly one of execute, cancel, replace",
		`{"execute":{},"execute":{}}`:    "execute: stands twice",
		`{"execute":null}`:               "execute: want an object, got null",
		`{"cancel":{"price":1}}`:         "cancel.price: unknown member",
		`{"subscribe":{}}`:               "subscribe: unknown member",
		`{"":{}}`:                        "unknown member",
		`{"execute":{},"new":1}`:         "new: unknown member",
		`{"replace":{"orderQty":"NaN"}}`: `replace.orderQty: "NaN" is no number`,
	} {
		wantError(t, UnmarshalOrderRequest(JSON, []byte(data), &order.Request{Action: order.ActionCancel}), want)
	}
	for data, want := range map[string]string{
		`{}`:                            "want exactly one of subscribe, unsubscribe, ping, execute, cancel, replace",
		`{"execute":{},"replace":{}}`:   "want exactly one of subscribe,",
		`{"execute":{},"ping":{}}`:      "want exactly one of subscribe,",
		`{"ping":{},"execute":{}}`:      "want exactly one of subscribe,",
		`{"ping":{},"unsubscribe":{}}`:  "want exactly one of subscribe,",
		`{"execute":{"side":"x"}}`:      "execute.side: unknown value",
		`{"order":{}}`:                  "order: unknown member",
		`{"subscribe":{"account":1}}`:   "subscribe.account: want a string, got a number",
		`{"subscribe":{"reportSeq":1}}`: "subscribe.reportSeq: unknown member",
	} {
		wantError(t, UnmarshalStreamRequest(JSON, []byte(data), &StreamRequest{}), want)
	}
	long := strings.Repeat("x", 10<<10)
	err := UnmarshalOrder(JSON, []byte(`{"side":"`+long+`"}`), order.ActionExecute, &order.Request{})
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("an error as long as the request: %.300v", err)
	}
	var q order.Request
	if err := UnmarshalOrder(JSON, []byte(`{"clOrdId":"`+long+`"}`), order.ActionExecute, &q); err != nil || q.ClOrdID != long {
		t.Errorf("a long id, which the desk refuses: %.300v", err)
	}
}

func TestExecutionJSONRefuses(t *testing.T) {
	for data, want := range map[string]string{
		`{"execType":"FILL"}`:           `execType: unknown value "FILL", want one of UNSPECIFIED, NEW, TRADE, CANCELED, REPLACED, REJECTED`,
		`{"ordStatus":2}`:               "ordStatus: want a string, got a number",
		`{"avgPx":1e400}`:               "avgPx: ",
		`{"cumQty":0.000000001}`:        "cumQty: ",
		`{"transactTime":1.5}`:          "transactTime: ",
		`{"leavesQty":1,"leavesQty":1}`: "leavesQty: stands twice",
	} {
		wantError(t, UnmarshalExecution(JSON, []byte(data), &order.Execution{}), "decode JSON execution: "+want)
		wantError(t, UnmarshalStreamMessage(JSON, []byte(`{"execution":`+data+`}`), &StreamMessage{}), "decode JSON message: execution."+want)
	}
	wantError(t, UnmarshalStreamMessage(JSON, []byte(`{"execution":{},"hello":{}}`), &StreamMessage{}), "several of")
	wantError(t, UnmarshalStreamMessage(JSON, []byte(`{"ticks":[{}],"execution":{}}`), &StreamMessage{}), "several of")
	wantError(t, UnmarshalStreamMessage(JSON, []byte(`{"execution":{},"execution":{}}`), &StreamMessage{}), "execution: stands twice")
}

func TestOrderProtobufRefuses(t *testing.T) {
	bytes := func(m proto.Message) []byte {
		data, err := proto.Marshal(m)
		return must(t, data, err)
	}
	for _, number := range []int32{-1, 6, 256, 257} { // the last two would be fine as a byte
		for want, o := range map[string]*pb.Order{
			"side: unknown value":        {Side: pb.Side(number)},
			"ordType: unknown value":     {OrdType: pb.OrdType(number)},
			"timeInForce: unknown value": {TimeInForce: pb.TimeInForce(number)},
		} {
			wantError(t, UnmarshalOrder(Protobuf, bytes(o), order.ActionExecute, &order.Request{}), "decode protobuf order: "+want)
			wantError(t, UnmarshalOrderRequest(Protobuf, bytes(&pb.OrderRequest{Request: &pb.OrderRequest_Execute{Execute: o}}), &order.Request{}),
				"decode protobuf order: execute."+want)
			wantError(t, UnmarshalStreamRequest(Protobuf, bytes(&pb.SubscribeRequest{Request: &pb.SubscribeRequest_Execute{Execute: o}}), &StreamRequest{}),
				"decode protobuf request: execute."+want)
		}
		for want, e := range map[string]*pb.Execution{
			"side: ":                    {Side: pb.Side(number)},
			"execType: unknown value":   {ExecType: pb.ExecType(number)},
			"ordStatus: unknown value ": {OrdStatus: pb.OrdStatus(number)},
		} {
			wantError(t, UnmarshalExecution(Protobuf, bytes(e), &order.Execution{}), "decode protobuf execution: "+want)
			wantError(t, UnmarshalStreamMessage(Protobuf, bytes(&pb.MarketDataMessage{Event: &pb.MarketDataMessage_Execution{Execution: e}}), &StreamMessage{}),
				"decode protobuf message: execution."+want)
		}
	}
	for _, action := range []order.Action{order.ActionExecute, order.ActionCancel, order.ActionReplace} {
		for _, data := range []string{"\xff", "\x12\x05ab", "\x12\x01\xff", "\x08\x01"} { // no tag, cut off, no UTF-8, not a string
			wantErr := UnmarshalOrder(Protobuf, []byte(data), action, &order.Request{})
			if data == "\x08\x01" { // a field of another type is unknown to protobuf
				if wantErr != nil {
					t.Errorf("%q: %v", data, wantErr)
				}
				continue
			}
			wantError(t, wantErr, "decode protobuf order: ")
		}
	}
	wantError(t, UnmarshalOrder(Protobuf, nil, order.ActionNone, &order.Request{}), "exactly one of execute")
	wantError(t, UnmarshalOrderRequest(Protobuf, nil, &order.Request{}), "exactly one of execute")
	wantError(t, UnmarshalStreamRequest(Protobuf, nil, &StreamRequest{}), "ping, execute, cancel, replace")
	wantError(t, UnmarshalStreamMessage(Protobuf, bytes(&pb.MarketDataMessage{Ticks: []*pb.Tick{{Seq: 1}},
		Event: &pb.MarketDataMessage_Execution{Execution: &pb.Execution{}}}), &StreamMessage{}), "several of")
	wantError(t, UnmarshalExecution(Protobuf, []byte("\xba\x01\x01\xff"), &order.Execution{}), "UTF-8")
}

// TestOrderJSONReadsLeniently has what must be taken although it is not written so.
func TestOrderJSONReadsLeniently(t *testing.T) {
	var q order.Request
	body := `{"side":"buy","ordType":"Limit","timeInForce":"ioc","orderQty":2,"price":"1e1","symbol":"\u0041","padding":"x\ny","clOrdId":"a"}`
	want := order.Request{Action: order.ActionExecute, ClOrdID: "a", Symbol: "A", Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 2_00000000, Price: 10_000000000}
	if err := UnmarshalOrder(JSON, []byte(body), order.ActionExecute, &q); err != nil || q != want {
		t.Errorf("got %+v, %v", q, err)
	}
	var e order.Execution
	if err := UnmarshalExecution(JSON, []byte(`{"new":[{"x":null}],"ordStatus":"partially-filled","account":"a"}`), &e); err != nil ||
		e != (order.Execution{OrdStatus: order.PartiallyFilled, Account: "a"}) {
		t.Errorf("got %+v, %v", e, err)
	}
}

// TestOrderNamesOfTheContract has every field of the .proto known to the reader of
// its message.
func TestOrderNamesOfTheContract(t *testing.T) {
	for _, c := range []struct {
		message proto.Message
		read    func(data []byte) error
	}{
		{&pb.Execution{}, func(data []byte) error { return UnmarshalExecution(JSON, data, &order.Execution{}) }},
		{&pb.Order{}, func(data []byte) error { return UnmarshalOrder(JSON, data, order.ActionExecute, &order.Request{}) }},
		{&pb.CancelRequest{}, func(data []byte) error { return UnmarshalOrder(JSON, data, order.ActionCancel, &order.Request{}) }},
		{&pb.ReplaceRequest{}, func(data []byte) error { return UnmarshalOrder(JSON, data, order.ActionReplace, &order.Request{}) }},
		{&pb.OrderRequest{}, func(data []byte) error { return UnmarshalOrderRequest(JSON, data, &order.Request{}) }},
		{&pb.SubscribeRequest{}, func(data []byte) error { return UnmarshalStreamRequest(JSON, data, &StreamRequest{}) }},
		{&pb.MarketDataMessage{}, func(data []byte) error { return UnmarshalStreamMessage(JSON, data, &StreamMessage{}) }},
	} {
		fields := c.message.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			name := fields.Get(i).JSONName()
			wantError(t, c.read([]byte(`{"`+name+`":true}`)), name+": want a")
		}
	}
}
