package wire

import (
	"encoding/base64"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// As in the fuzzing of market data: any bytes, no panic, and what is taken encodes
// to something that decodes to the same.

func FuzzOrderProtobuf(f *testing.F) { fuzzOrder(f, Protobuf) }
func FuzzOrderJSON(f *testing.F)     { fuzzOrder(f, JSON) }

func fuzzOrder(f *testing.F, enc Encoding) {
	for _, g := range goldenOrders {
		data, err := AppendOrder(nil, enc, &g.request, g.padding)
		f.Add(must(f, data, err), byte(g.request.Action))
	}
	f.Add([]byte(`{"orderQty":1e400,"price":"NaN"}`), byte(order.ActionReplace))
	f.Fuzz(func(t *testing.T, data []byte, action byte) {
		q := order.Request{Account: "acct-1", Symbol: "A", OrigClOrdID: "before"}
		if UnmarshalOrder(enc, data, order.Action(action), &q) != nil {
			return
		}
		again, err := AppendOrder(nil, enc, &q, "")
		var got order.Request
		if err := UnmarshalOrder(enc, must(t, again, err), q.Action, &got); err != nil || got != q {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, q, got, err)
		}
	})
}

func FuzzOrderRequestProtobuf(f *testing.F) { fuzzOrderRequest(f, Protobuf) }
func FuzzOrderRequestJSON(f *testing.F)     { fuzzOrderRequest(f, JSON) }

func fuzzOrderRequest(f *testing.F, enc Encoding) {
	for _, g := range goldenOrders {
		data, err := AppendOrderRequest(nil, enc, &g.request, g.padding)
		f.Add(must(f, data, err))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q := order.Request{Action: order.ActionCancel, Account: "acct-1", Symbol: "A", OrigClOrdID: "before"}
		if UnmarshalOrderRequest(enc, data, &q) != nil {
			return
		}
		again, err := AppendOrderRequest(nil, enc, &q, "")
		var got order.Request
		if err := UnmarshalOrderRequest(enc, must(t, again, err), &got); err != nil || got != q {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, q, got, err)
		}
	})
}

func FuzzStreamRequestProtobuf(f *testing.F) { fuzzStreamRequest(f, Protobuf) }
func FuzzStreamRequestJSON(f *testing.F)     { fuzzStreamRequest(f, JSON) }

func fuzzStreamRequest(f *testing.F, enc Encoding) {
	for _, g := range goldenOrders {
		data, err := AppendStreamRequest(nil, enc, &StreamRequest{Order: g.request, Padding: g.padding})
		f.Add(must(f, data, err))
	}
	for _, g := range goldenRequests {
		data, err := AppendRequest(nil, enc, &g.request)
		f.Add(must(f, data, err))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q := StreamRequest{Feed: feed.Request{Ping: &feed.Ping{}}, Order: order.Request{Action: order.ActionCancel, OrigClOrdID: "before"}}
		var plain feed.Request
		plainErr := UnmarshalRequest(enc, data, &plain)
		if err := UnmarshalStreamRequest(enc, data, &q); err != nil {
			if plainErr == nil {
				t.Fatalf("%q: %v, but it is a request", data, err)
			}
			return
		}
		if (plainErr == nil) != (q.Order.Action == order.ActionNone) {
			t.Fatalf("%q: %+v, but alone: %v", data, q, plainErr)
		}
		again, err := AppendStreamRequest(nil, enc, &q)
		var got StreamRequest
		if err := UnmarshalStreamRequest(enc, must(t, again, err), &got); err != nil || !sameStreamRequest(got, q) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, q, got, err)
		}
	})
}

func FuzzExecutionProtobuf(f *testing.F) { fuzzExecution(f, Protobuf) }
func FuzzExecutionJSON(f *testing.F)     { fuzzExecution(f, JSON) }

func fuzzExecution(f *testing.F, enc Encoding) {
	for _, g := range goldenExecutions {
		data, err := AppendExecution(nil, enc, &g.execution)
		f.Add(must(f, data, err))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := order.Execution{Account: "acct-1", Symbol: "A", Text: "before"}
		if UnmarshalExecution(enc, data, &e) != nil {
			return
		}
		again, err := AppendExecution(nil, enc, &e)
		var got order.Execution
		if err := UnmarshalExecution(enc, must(t, again, err), &got); err != nil || got != e {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, e, got, err)
		}
	})
}

func FuzzStreamMessageProtobuf(f *testing.F) { fuzzStreamMessage(f, Protobuf) }
func FuzzStreamMessageJSON(f *testing.F)     { fuzzStreamMessage(f, JSON) }

func fuzzStreamMessage(f *testing.F, enc Encoding) {
	for _, g := range goldenExecutions {
		data, err := AppendExecutionMessage(nil, enc, &g.execution)
		f.Add(must(f, data, err))
	}
	for _, g := range goldenMessages {
		data, err := AppendMessage(nil, enc, &g.message)
		f.Add(must(f, data, err))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := StreamMessage{Execution: &order.Execution{Text: "before"}}
		if UnmarshalStreamMessage(enc, data, &m) != nil {
			return
		}
		again, err := AppendStreamMessage(nil, enc, &m)
		var got StreamMessage
		if err := UnmarshalStreamMessage(enc, must(t, again, err), &got); err != nil || !sameStreamMessage(got, m) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, m, got, err)
		}
	})
}

func FuzzStreamEventData(f *testing.F) {
	for _, g := range goldenExecutions {
		data, err := AppendExecutionMessage(nil, Protobuf, &g.execution)
		f.Add(base64.StdEncoding.AppendEncode(nil, must(f, data, err)), false)
		f.Add([]byte(`{"execution":`+g.json+`}`), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, json bool) {
		enc := Protobuf
		if json {
			enc = JSON
		}
		var m, got StreamMessage
		if UnmarshalStreamEventData(enc, data, &m) != nil || m.Execution == nil {
			return
		}
		event, err := AppendExecutionEvent(nil, enc, m.Execution)
		if err := UnmarshalStreamEventData(enc, eventData(t, must(t, event, err)), &got); err != nil || !sameStreamMessage(got, m) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, m.Execution, got.Execution, err)
		}
	})
}

func FuzzRejection(f *testing.F) {
	for _, g := range goldenExecutions {
		data, err := AppendRejection(nil, &feed.Problem{Code: "BAD_SIDE", Message: "no", RequestID: "r"}, &g.execution)
		f.Add(must(f, data, err))
	}
	f.Add([]byte(`{"code":"NOT_FOUND","message":"no"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p, gotP feed.Problem
		var e, gotE order.Execution
		if refused, err := UnmarshalRejection(data, &p, &e); err != nil || !refused {
			return
		}
		again, err := AppendRejection(nil, &p, &e)
		refused, err := UnmarshalRejection(must(t, again, err), &gotP, &gotE)
		if err != nil || !refused || gotP != p || gotE != e {
			t.Fatalf("%q\nreads as %+v %+v\nthen as  %+v %+v, %v", data, p, e, gotP, gotE, err)
		}
	})
}
