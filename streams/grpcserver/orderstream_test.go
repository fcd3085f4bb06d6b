package grpcserver

import (
	"context"
	"errors"
	"io"
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

// trader is a client of StreamOrders or WatchExecutions that reads when it is told
// to.
type trader struct {
	t      testing.TB
	stream grpc.ClientStream
	cancel context.CancelFunc
}

// orders opens a StreamOrders and waits for its headers.
func (v *venue) orders(t testing.TB, cc *grpc.ClientConn, enc wire.Encoding) *trader {
	t.Helper()
	return newTrader(t, cc, enc, 0, pb.OrderEntry_StreamOrders_FullMethodName)
}

// watch opens a WatchExecutions and waits for its headers.
func (v *venue) watch(t testing.TB, cc *grpc.ClientConn, enc wire.Encoding, req any) *trader {
	t.Helper()
	c := newTrader(t, cc, enc, 1, pb.OrderEntry_WatchExecutions_FullMethodName)
	c.send(req)
	if err := c.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.stream.Header(); err != nil {
		t.Fatal(err)
	}
	return c
}

func newTrader(t testing.TB, cc *grpc.ClientConn, enc wire.Encoding, desc int, method string) *trader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	stream, err := cc.NewStream(ctx, &pb.OrderEntry_ServiceDesc.Streams[desc], method, in(enc))
	if err == nil && desc == 0 {
		_, err = stream.Header()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &trader{t: t, stream: stream, cancel: cancel}
}

// send sends a *order.Request, or bytes as they are.
func (c *trader) send(request any) {
	c.t.Helper()
	if err := c.stream.SendMsg(request); err != nil {
		c.t.Fatal(err)
	}
}

func (c *trader) next() (e order.Execution) {
	c.t.Helper()
	if err := c.stream.RecvMsg(&e); err != nil {
		c.t.Fatal(err)
	}
	return e
}

// end reads to the end and returns its status; nil is OK.
func (c *trader) end() error {
	c.t.Helper()
	for {
		switch err := c.stream.RecvMsg(new(order.Execution)); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// Answers come in the order of what was asked, also to what is refused or no order
// at all, and after the client's side has closed.
func TestStreamOrders(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, d := orderVenue(t, streams.Options{})
		s := v.orders(t, v.connect(t), enc)
		stranger := execute("s")
		stranger.Account = "nobody"
		steps := []struct {
			send   any
			reject order.RejectCode
			text   string
		}{
			{execute("a"), "", ""},
			{replaceOf("b", "a"), "", ""},
			{[]byte("\xff"), order.RejectBadRequest, "decode"},
			{[]byte{}, order.RejectBadRequest, "decode"},
			{cancelOf("c", "b"), "", ""},
			{execute("refuse PRICE_OFF_GRID"), order.RejectOffGrid, "no: "},
			{stranger, order.RejectUnknownAccount, "no: "},
			{execute("a"), "", ""}, // again
			{cancelOf("a", "b"), order.RejectDuplicate, "no: "},
			{execute("slow"), "", ""}, // in flight when the side closes
			{[]byte(strings.Repeat("\xff", 1<<10)), order.RejectBadRequest, "decode"},
			{execute("z"), "", ""},
		}
		for _, step := range steps {
			s.send(step.send)
		}
		<-d.arrived
		if err := s.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		close(d.release)
		for i, step := range steps {
			e, want := s.next(), ""
			if q, ok := step.send.(*order.Request); ok {
				want = q.ClOrdID
			}
			if e.ClOrdID != want || e.Reject != step.reject || !strings.Contains(e.Text, step.text) || (e.ExecType == order.ExecRejected) != (step.reject != "") {
				t.Errorf("answer %d to %+v: %+v", i, step.send, e)
			}
		}
		if err := s.end(); err != nil {
			t.Errorf("the end is %v, want OK", err)
		}
		v.noSessions(t)
		if n := v.exchange.Stats().Problems; n != 3 {
			t.Errorf("%d problems counted, want the 3 that are no orders", n)
		}
	})
}

// What cannot be read is told by the member at fault.
func TestUnreadableOnStream(t *testing.T) {
	v, d := orderVenue(t, streams.Options{})
	s := v.orders(t, v.connect(t), wire.JSON)
	for _, test := range []struct{ body, says string }{
		{`{"execute":{"orderQty":1e400}}`, "orderQty"},
		{`{"replace":{"price":NaN}}`, "price"},
		{`{"execute":{"clOrdId":9007199254740993}}`, "clOrdId"},
		{`{"execute":{},"cancel":{}}`, ""},
		{`{}`, "execute"},
		{`{"` + strings.Repeat("m", 100_000) + `":{}}`, "unknown member"},
	} {
		s.send([]byte(test.body))
		if e := s.next(); e.Reject != order.RejectBadRequest || e.OrdStatus != order.Rejected || !strings.Contains(e.Text, test.says) || len(e.Text) > 2000 {
			t.Errorf("%.60s: %.300v, want it to say %q", test.body, e, test.says)
		}
	}
	if n := d.count(); n != 0 {
		t.Errorf("the desk was asked %d times", n)
	}
}

// A message beyond the limit ends its stream, and nothing else.
func TestOversizeOrder(t *testing.T) {
	v, _ := orderVenue(t, streams.Options{})
	cc := v.connect(t)
	s, other := v.orders(t, cc, wire.Protobuf), v.orders(t, cc, wire.Protobuf)
	_ = s.stream.SendMsg(make([]byte, 2<<20))                          // may find the stream ended
	wantStatus(t, s.end(), codes.ResourceExhausted, "larger than max") // grpc-go has said so itself
	other.send(execute("a"))
	other.next()
	if got := v.exchange.Stats(); got.Problems != 1 {
		t.Errorf("stats %+v, want one problem", got)
	}
}

// Streams of orders and of executions count with those of market data.
func TestTooManyOrderStreams(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, _ := orderVenue(t, streams.Options{Limits: feed.Limits{MaxStreams: 3}})
		cc := v.connect(t)
		v.subscriber(t, cc, enc)
		v.watch(t, cc, enc, &pb.WatchExecutionsRequest{})
		s := v.orders(t, cc, enc)
		wantStatus(t, v.orders(t, cc, enc).end(), codes.ResourceExhausted, "TOO_MANY_STREAMS: ")
		wantStatus(t, v.watch(t, cc, enc, &pb.WatchExecutionsRequest{}).end(), codes.ResourceExhausted, "TOO_MANY_STREAMS: ")
		s.cancel()
		eventually(t, "a place for another", func() bool { return v.exchange.Stats().Open == 2 })
		s = v.orders(t, cc, enc)
		s.send(execute("a"))
		s.next()
	})
}
