package wire

import (
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

var goldenOrders = []struct {
	request order.Request
	padding string
	json    string
}{
	{order.Request{Action: order.ActionExecute, Account: "acct-1", ClOrdID: "a-1", Symbol: "BTC/USD", Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 1_00000000, Price: 61837_630000000}, "",
		`{"account":"acct-1","clOrdId":"a-1","symbol":"BTC/USD","side":"BUY","ordType":"LIMIT","timeInForce":"IOC","orderQty":"1","price":"61837.63"}`},
	{order.Request{Action: order.ActionExecute, ClOrdID: `a"2`, Symbol: "Ü", Side: feed.SideSell, Type: order.Market, TimeInForce: order.FOK, OrderQty: 1}, "",
		`{"clOrdId":"a\"2","symbol":"Ü","side":"SELL","ordType":"MARKET","timeInForce":"FOK","orderQty":"0.00000001"}`},
	{order.Request{Action: order.ActionExecute, ClOrdID: "a-3", Type: order.Limit, TimeInForce: order.Day, OrderQty: -1_50000000, Price: -1}, "xxxx",
		`{"clOrdId":"a-3","ordType":"LIMIT","timeInForce":"DAY","orderQty":"-1.5","price":"-0.000000001","padding":"xxxx"}`},
	{order.Request{Action: order.ActionExecute}, "", `{}`},
	{order.Request{Action: order.ActionCancel, Account: "acct-1", ClOrdID: "c-1", OrigClOrdID: "a-1"}, "",
		`{"account":"acct-1","clOrdId":"c-1","origClOrdId":"a-1"}`},
	{order.Request{Action: order.ActionCancel}, "", `{}`},
	{order.Request{Action: order.ActionReplace, Account: "acct-1", ClOrdID: "r-1", OrigClOrdID: "a-1", OrderQty: 2_00000000, Price: 61837_640000000}, "",
		`{"account":"acct-1","clOrdId":"r-1","origClOrdId":"a-1","orderQty":"2","price":"61837.64"}`},
	{order.Request{Action: order.ActionReplace, ClOrdID: "r-1", OrderQty: 2_00000000, Price: 1_000000000}, "",
		`{"clOrdId":"r-1","orderQty":"2","price":"1"}`},
}

var goldenExecutions = []struct {
	execution order.Execution
	json      string
}{
	{order.Execution{Account: "acct-1", ClOrdID: "a-1", OrigClOrdID: "a-0", Symbol: "BTC/USD", Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.Day, OrderQty: 3_00000000, Price: 61837_630000000, OrderID: 9007199254740993, ExecID: 18446744073709551615, ReportSeq: 7,
		ExecType: order.ExecTrade, OrdStatus: order.PartiallyFilled, LastQty: 1_50000000, LastPx: 61837_620000000, CumQty: 2_00000000,
		LeavesQty: 1_00000000, AvgPx: 61837_625000001, TransactTimeNS: 1_767_225_600_000_000_001, ServiceNS: 100_000},
		`{"account":"acct-1","clOrdId":"a-1","origClOrdId":"a-0","symbol":"BTC/USD","side":"BUY","ordType":"LIMIT","timeInForce":"DAY",` +
			`"orderQty":"3","price":"61837.63","orderId":"9007199254740993","execId":"18446744073709551615","reportSeq":"7",` +
			`"execType":"TRADE","ordStatus":"PARTIALLY_FILLED","lastQty":"1.5","lastPx":"61837.62","cumQty":"2","leavesQty":"1",` +
			`"avgPx":"61837.625000001","transactTime":"1767225600000000001","serviceNs":"100000"}`},
	{order.Execution{Account: "acct-1", ClOrdID: "a-2", Symbol: "A", Side: feed.SideSell, Type: order.Market, TimeInForce: order.IOC, OrderQty: 1_00000000,
		OrderID: 2, ExecID: 3, ReportSeq: 8, ExecType: order.ExecCanceled, OrdStatus: order.Canceled},
		`{"account":"acct-1","clOrdId":"a-2","symbol":"A","side":"SELL","ordType":"MARKET","timeInForce":"IOC","orderQty":"1",` +
			`"orderId":"2","execId":"3","reportSeq":"8","execType":"CANCELED","ordStatus":"CANCELED","cumQty":"0","leavesQty":"0"}`},
	{order.Execution{ClOrdID: "a-3", OrderQty: 1000000_00000001, ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: order.RejectBadQty,
		Text: "orderQty: 1000000.00000001 is above 1000000"},
		`{"clOrdId":"a-3","orderQty":"1000000.00000001","execType":"REJECTED","ordStatus":"REJECTED","cumQty":"0","leavesQty":"0",` +
			`"ordRejReason":"BAD_ORDER_QTY","text":"orderQty: 1000000.00000001 is above 1000000"}`},
	{order.Execution{}, `{"orderQty":"0","cumQty":"0","leavesQty":"0"}`},
}

func TestGoldenOrders(t *testing.T) {
	for _, g := range goldenOrders {
		union := `{"` + actionNames[g.request.Action] + `":` + g.json + `}`
		data, err := AppendOrder(nil, JSON, &g.request, g.padding)
		if string(must(t, data, err)) != g.json {
			t.Errorf("got  %s\nwant %s", data, g.json)
		}
		data, err = AppendOrderRequest(nil, JSON, &g.request, g.padding)
		if string(must(t, data, err)) != union {
			t.Errorf("got  %s\nwant %s", data, union)
		}
		data, err = AppendStreamRequest(nil, JSON, &StreamRequest{Order: g.request, Padding: g.padding})
		if string(must(t, data, err)) != union {
			t.Errorf("got  %s\nwant %s", data, union)
		}
		var q, in order.Request
		if err := UnmarshalOrder(JSON, []byte(g.json), g.request.Action, &q); err != nil || q != g.request {
			t.Errorf("%s: got %+v, %v", g.json, q, err)
		}
		if err := UnmarshalOrderRequest(JSON, []byte(union), &in); err != nil || in != g.request {
			t.Errorf("%s: got %+v, %v", union, in, err)
		}
		var s StreamRequest
		if err := UnmarshalStreamRequest(JSON, []byte(union), &s); err != nil || s.Order != g.request || s.Feed != (feed.Request{}) {
			t.Errorf("%s: got %+v, %v", union, s, err)
		}
	}
}

func TestGoldenExecutions(t *testing.T) {
	for _, g := range goldenExecutions {
		data, err := AppendExecution(nil, JSON, &g.execution)
		if string(must(t, data, err)) != g.json {
			t.Errorf("got  %s\nwant %s", data, g.json)
		}
		var e order.Execution
		if err := UnmarshalExecution(JSON, []byte(g.json), &e); err != nil || e != g.execution {
			t.Errorf("%s: got %+v, %v", g.json, e, err)
		}
		whole := `{"execution":` + g.json + `}`
		data, err = AppendExecutionMessage(nil, JSON, &g.execution)
		if string(must(t, data, err)) != whole {
			t.Errorf("got  %s\nwant %s", data, whole)
		}
		data, err = AppendExecutionEvent([]byte("before"), JSON, &g.execution)
		if string(must(t, data, err)) != "beforeevent: execution\ndata: "+whole+"\n\n" {
			t.Errorf("event %q", data)
		}
		var m StreamMessage
		if err := UnmarshalStreamMessage(JSON, []byte(whole), &m); err != nil || m.Execution == nil || *m.Execution != g.execution {
			t.Errorf("%s: got %+v, %v", whole, m.Execution, err)
		}
	}
	event, err := AppendExecutionEvent(nil, Protobuf, &order.Execution{ClOrdID: "a", ReportSeq: 5})
	if string(must(t, event, err)) != "event: execution\ndata: SgUSAWFYBQ==\n\n" {
		t.Errorf("event %q", event)
	}
}
