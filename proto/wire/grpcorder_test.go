package wire

import (
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// through marshals v and unmarshals it into to.
func through(t fatalf, enc Encoding, v, to any) {
	t.Helper()
	data, err := Codec(enc).Marshal(v)
	if err := Codec(enc).Unmarshal(must(t, data, err), to); err != nil {
		t.Fatalf("%s %T into %T: %v", enc, v, to, err)
	}
}

func TestCodecCarriesOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, q, e := drawEncoding(t), drawOrder(t), drawExecution(t)
		padding := drawPadding(t, &q)

		unary := AskedOrder{Unary: q.Action, Request: drawOrder(t), Err: errNoOrder}
		through(t, enc, &PaddedOrder{Request: q, Padding: padding}, &unary)
		streamed := AskedOrder{Request: drawOrder(t), Err: errNoOrder}
		through(t, enc, &PaddedOrder{Request: q, Padding: padding, Stream: true}, &streamed)
		var plain order.Request
		through(t, enc, &q, &plain)
		if unary.Err != nil || streamed.Err != nil || unary.Request != q || streamed.Request != q || plain != q {
			t.Fatalf("got %+v, %+v, %+v\nwant %+v", unary, streamed, plain, q)
		}

		before := feed.Now()
		var received ReceivedExecution
		through(t, enc, &e, &received)
		if now := feed.Now(); received.AtNS < before || received.AtNS > now || received.Execution != e {
			t.Fatalf("got %+v\nwant %+v between %d and %d", received, e, before, now)
		}
		var alone order.Execution
		through(t, enc, &e, &alone)
		if alone != e {
			t.Fatalf("got %+v\nwant %+v", alone, e)
		}
	})
}

// TestCodecCarriesStreams has the streams of market data with orders among them.
func TestCodecCarriesStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, q, m := drawEncoding(t), drawStreamRequest(t), drawStreamMessage(t)
		before := drawStreamRequest(t)
		asked := Asked{Request: before.Feed, Order: before.Order, Err: errNoOrder}
		through(t, enc, &q, &asked)
		if asked.Err != nil || !sameStreamRequest(StreamRequest{Feed: asked.Request, Order: asked.Order}, q) {
			t.Fatalf("got %+v\nwant %+v", asked, q)
		}
		gotQ := drawStreamRequest(t)
		through(t, enc, &q, &gotQ)
		if !sameStreamRequest(gotQ, q) {
			t.Fatalf("got %+v\nwant %+v", gotQ, q)
		}
		received := Received{Execution: &order.Execution{}}
		through(t, enc, &m, &received)
		gotM := drawStreamMessage(t)
		through(t, enc, &m, &gotM)
		if !sameStreamMessage(StreamMessage{Feed: received.Message, Execution: received.Execution}, m) || !sameStreamMessage(gotM, m) {
			t.Fatalf("got %+v and %+v\nwant %+v", received, gotM, m)
		}
	})
}

// TestCodecCarriesGeneratedOrders has what a plain generated client uses.
func TestCodecCarriesGeneratedOrders(t *testing.T) {
	after := uint64(0)
	type carried struct {
		message proto.Message
		json    string
	}
	messages := []carried{
		{&pb.GetOrderRequest{Account: "acct-1", ClOrdId: "a"}, `{"account":"acct-1","clOrdId":"a"}`},
		{&pb.GetOrderRequest{}, `{}`},
		{&pb.WatchExecutionsRequest{Account: "acct-1"}, `{"account":"acct-1"}`},
		{&pb.WatchExecutionsRequest{Account: "acct-1", AfterReportSeq: &after}, `{"account":"acct-1","afterReportSeq":"0"}`},
		{&pb.SubscribeRequest{Request: &pb.SubscribeRequest_Subscribe{Subscribe: &pb.Subscribe{AfterReportSeq: &after}}}, `{"subscribe":{"afterReportSeq":"0"}}`},
	}
	for _, g := range goldenExecutions {
		messages = append(messages, carried{ExecutionToProto(&g.execution), g.json},
			carried{streamMessageToProto(&StreamMessage{Execution: &g.execution}), `{"execution":` + g.json + `}`})
	}
	for _, g := range goldenOrders {
		union := `{"` + actionNames[g.request.Action] + `":` + g.json + `}`
		messages = append(messages, carried{unaryToProto(&g.request, g.padding), g.json}, carried{orderRequestToProto(&g.request, g.padding), union},
			carried{streamRequestToProto(&StreamRequest{Order: g.request, Padding: g.padding}), union})
	}
	for _, c := range messages {
		for _, enc := range Encodings() {
			data, err := Codec(enc).Marshal(c.message)
			data = must(t, data, err)
			if enc == JSON && string(data.Materialize()) != c.json {
				t.Errorf("%T as %s, want %s", c.message, data.Materialize(), c.json)
			}
			got := c.message.ProtoReflect().New().Interface()
			if err := Codec(enc).Unmarshal(data, got); err != nil || !proto.Equal(unpadded(got), unpadded(c.message)) {
				t.Errorf("%s %T reads as %v, %v", enc, c.message, got, err)
			}
		}
	}
}

// unpadded returns a copy without the padding, which decoding JSON does not keep.
func unpadded(m proto.Message) proto.Message {
	m = proto.Clone(m)
	switch m := m.(type) {
	case *pb.Order:
		m.Padding = ""
	case *pb.OrderRequest:
		if o := m.GetExecute(); o != nil {
			o.Padding = ""
		}
	case *pb.SubscribeRequest:
		if o := m.GetExecute(); o != nil {
			o.Padding = ""
		}
	}
	return m
}

func TestCodecRefusesOrders(t *testing.T) {
	for _, enc := range Encodings() {
		_, err := Codec(enc).Marshal(&order.Request{})
		wantError(t, err, "want exactly one of execute, cancel, replace")
		_, err = Codec(enc).Marshal(&order.Execution{ExecType: 9})
		wantError(t, err, "execType: unknown value 9")
		asked := Asked{}
		bad := AskedOrder{Unary: order.ActionCancel}
		for _, v := range []any{&asked, &bad} {
			if err := Codec(enc).Unmarshal(mem.BufferSlice{mem.SliceBuffer("\xff")}, v); err != nil {
				t.Errorf("%s into %T ends the stream: %v", enc, v, err)
			}
		}
		wantError(t, asked.Err, "request: ")
		wantError(t, bad.Err, "order: ")
	}
	for _, c := range []struct {
		message proto.Message
		want    string
	}{
		{&pb.Order{Side: 9}, "encode json order: side: unknown value 9"},
		{&pb.OrderRequest{}, "encode json order: want exactly one of execute"},
		{&pb.OrderRequest{Request: &pb.OrderRequest_Execute{}}, ""},
		{&pb.Execution{OrdStatus: 9}, "ordStatus: unknown value 9"},
		{&pb.MarketDataMessage{Event: &pb.MarketDataMessage_Execution{Execution: &pb.Execution{ExecType: 9}}}, "execution.execType"},
		{&pb.CancelRequest{OrigClOrdId: "\xff"}, "origClOrdId"},
		{&pb.ReplaceRequest{ClOrdId: "\xff"}, "clOrdId"},
		{&pb.GetOrderRequest{ClOrdId: "\xff"}, "clOrdId"},
		{&pb.WatchExecutionsRequest{Account: "\xff"}, "account"},
	} {
		if _, err := Codec(JSON).Marshal(c.message); c.want != "" {
			wantError(t, err, c.want)
		} else if err != nil {
			t.Errorf("%v: %v", c.message, err)
		}
	}
	for _, c := range []struct {
		data, want string
		into       proto.Message
	}{
		{`{"cl_ord_id":"a"}`, "cl_ord_id: unknown member", &pb.GetOrderRequest{}},
		{`{"afterReportSeq":1}`, "afterReportSeq: unknown member", &pb.GetOrderRequest{}},
		{`{"afterReportSeq":1e3}`, "afterReportSeq: ", &pb.WatchExecutionsRequest{}},
		{`{"clOrdId":"a"}`, "clOrdId: unknown member", &pb.WatchExecutionsRequest{}},
		{`{"account":1}`, "decode JSON request: account: want a string", &pb.WatchExecutionsRequest{}},
		{`{"orderQty":1e400}`, "orderQty: ", &pb.Order{}},
		{`{"orderQty":1e400}`, "orderQty: ", &pb.ReplaceRequest{}},
		{`{"orderQty":1}`, "orderQty: unknown member", &pb.CancelRequest{}},
		{`{}`, "want exactly one of execute", &pb.OrderRequest{}},
		{`{"avgPx":"x"}`, "avgPx: ", &pb.Execution{}},
	} {
		wantError(t, Codec(JSON).Unmarshal(mem.BufferSlice{mem.SliceBuffer(c.data)}, c.into), c.want)
	}
}
