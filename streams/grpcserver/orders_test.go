package grpcserver

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// orderVenue is a venue whose exchange takes orders.
func orderVenue(t testing.TB, opts streams.Options) (*venue, *desk) {
	t.Helper()
	d := newDesk()
	opts.Desk = d
	return newVenue(t, opts), d
}

func execute(id string) *order.Request {
	return &order.Request{Action: order.ActionExecute, ClOrdID: id, Symbol: "A", Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 1e8, Price: 61837_640000000}
}

func cancelOf(id, orig string) *order.Request {
	return &order.Request{Action: order.ActionCancel, ClOrdID: id, OrigClOrdID: orig}
}

func replaceOf(id, orig string) *order.Request {
	return &order.Request{Action: order.ActionReplace, ClOrdID: id, OrigClOrdID: orig, OrderQty: 2e8, Price: 61837_630000000}
}

// unary calls with a *order.Request, a generated message or bytes as they are; where
// it goes follows from the action, else it is ExecuteOrder.
func unary(t testing.TB, cc *grpc.ClientConn, enc wire.Encoding, request any, opts ...grpc.CallOption) (e order.Execution, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	method := pb.OrderEntry_ExecuteOrder_FullMethodName
	switch q := request.(type) {
	case *order.Request:
		method = methods[q.Action]
		request = &wire.PaddedOrder{Request: *q}
	case *pb.GetOrderRequest:
		method = pb.OrderEntry_GetOrder_FullMethodName
	}
	return e, cc.Invoke(ctx, method, request, &e, append(opts, in(enc))...)
}

var methods = map[order.Action]string{
	order.ActionExecute: pb.OrderEntry_ExecuteOrder_FullMethodName,
	order.ActionCancel:  pb.OrderEntry_CancelOrder_FullMethodName,
	order.ActionReplace: pb.OrderEntry_ReplaceOrder_FullMethodName,
}

// Each call takes its own message to the desk whole, and brings back the desk's
// answer whole.
func TestUnaryOrders(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, d := orderVenue(t, streams.Options{})
		cc := v.connect(t)
		for i, q := range []*order.Request{execute("a"), replaceOf("b", "a"), cancelOf("c", "b"), cancelOf("", "b")} {
			got, err := unary(t, cc, enc, q)
			if err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
			q.Account = "acct-1"
			if asked := d.asked[i]; asked != *q {
				t.Errorf("the desk was asked %+v, want %+v", asked, q)
			}
			want := d.answers["acct-1/"+q.ClOrdID].execution
			if got != want || got.ExecType == order.ExecNone {
				t.Errorf("answer\n%+v\nthe desk's\n%+v", got, want)
			}
			if found, err := unary(t, cc, enc, &pb.GetOrderRequest{ClOrdId: q.ClOrdID}); err != nil || found != want {
				t.Errorf("GetOrder %q: %+v, %v", q.ClOrdID, found, err)
			}
		}
		_, err := unary(t, cc, enc, &pb.GetOrderRequest{ClOrdId: "z"})
		wantStatus(t, err, codes.NotFound, "UNKNOWN_ORDER: ")
		_, err = unary(t, cc, enc, &pb.GetOrderRequest{Account: "nobody", ClOrdId: "a"})
		wantStatus(t, err, codes.NotFound, "UNKNOWN_ACCOUNT: ")
		if n := v.exchange.Stats().Problems; n != 2 {
			t.Errorf("%d problems counted, want 2", n)
		}
	})
}

// A client of the generated code gets what the .proto says.
func TestGeneratedClient(t *testing.T) {
	v, d := orderVenue(t, streams.Options{})
	client := pb.NewOrderEntryClient(v.connect(t))
	got, err := client.ExecuteOrder(t.Context(), &pb.Order{Account: "acct-2", ClOrdId: "a", Symbol: "A", Side: pb.Side_SIDE_SELL,
		OrdType: pb.OrdType_ORD_TYPE_MARKET, OrderQty: 3, Padding: strings.Repeat("x", 900)})
	if err != nil {
		t.Fatal(err)
	}
	want := order.Request{Action: order.ActionExecute, Account: "acct-2", ClOrdID: "a", Symbol: "A", Side: feed.SideSell, Type: order.Market, OrderQty: 3}
	if d.asked[0] != want || got.GetOrdStatus() != pb.OrdStatus_ORD_STATUS_FILLED || got.GetReportSeq() != 1 {
		t.Errorf("asked %+v, answered %v", d.asked[0], got)
	}
	_, err = client.CancelOrder(t.Context(), &pb.CancelRequest{ClOrdId: "refuse TOO_LATE", OrigClOrdId: "a"})
	if e, ok := wire.RejectedExecution(err); !ok || e.OrigClOrdID != "a" {
		t.Errorf("%v has %+v", err, e)
	}
}

// An order that comes twice at the same instant, over two connections, has one
// answer, the same bytes for both; another body with its id has none.
func TestSameOrderTwice(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, d := orderVenue(t, streams.Options{})
		type got struct {
			body []byte
			err  error
		}
		answers := make(chan got, 2)
		for range 2 {
			cc := v.connect(t)
			go func() {
				var body []byte
				err := cc.Invoke(context.Background(), methods[order.ActionExecute], &wire.PaddedOrder{Request: *execute("slow")}, &body, in(enc))
				answers <- got{body, err}
			}()
		}
		<-d.arrived
		<-d.arrived
		close(d.release)
		one, two := <-answers, <-answers
		if one.err != nil || two.err != nil || len(one.body) == 0 || !bytes.Equal(one.body, two.body) {
			t.Errorf("answers\n%q, %v\n%q, %v", one.body, one.err, two.body, two.err)
		}
		other := execute("slow")
		other.OrderQty++
		_, err := unary(t, v.connect(t), enc, other)
		wantStatus(t, err, codes.AlreadyExists, "DUPLICATE_CL_ORD_ID: ")
	})
}

// A call that ends before its answer is no problem of the exchange's.
func TestCallerThatLeaves(t *testing.T) {
	v, d := orderVenue(t, streams.Options{})
	defer close(d.release)
	cc := v.connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 2)
	for range 2 { // the second waits for the answer of the first
		go func() {
			left <- cc.Invoke(ctx, methods[order.ActionExecute], &wire.PaddedOrder{Request: *execute("slow")}, new(order.Execution), in(wire.Protobuf))
		}()
		<-d.arrived
	}
	cancel()
	for range 2 {
		wantStatus(t, <-left, codes.Canceled, "")
	}
	wantStatus(t, (&orderEntry{market: &marketData{exchange: v.exchange}}).ask(ctx, execute("slow")), codes.Canceled, "")
	if n := v.exchange.Stats().Problems; n != 0 {
		t.Errorf("%d problems counted, want none", n)
	}
}

// ask submits without a client.
func (o *orderEntry) ask(ctx context.Context, q *order.Request) error {
	_, err := o.submit(ctx, q.Action, func(asked any) error {
		asked.(*wire.AskedOrder).Request = *q
		return nil
	})
	return err
}
