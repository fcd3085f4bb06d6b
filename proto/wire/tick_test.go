package wire

import (
	"encoding/base64"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// TestHubEncoders holds each encoder to the generated code or to AppendMessage.
func TestHubEncoders(t *testing.T) {
	encoders := HubEncoders()
	rapid.Check(t, func(t *rapid.T) {
		tick := drawTick(t)
		encode := func(i int) string {
			out := encoders[i]([]byte("before"), "ab12", &tick)
			if string(out[:6]) != "before" {
				t.Fatalf("encoder %d did not append", i)
			}
			return string(out[6:])
		}
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.MarketDataMessage{Ticks: []*pb.Tick{TickToProto(&tick)}})
		if got := encode(TickProtobuf); got != string(must(t, want, err)) {
			t.Fatalf("protobuf %x\nwant %x", got, want)
		}
		head := fmt.Sprintf("event: tick\nid: ab12-%d\ndata: ", tick.HubSeq)
		if got := encode(EventProtobuf); got != head+base64.StdEncoding.EncodeToString(want)+"\n\n" {
			t.Fatalf("protobuf event %q", got)
		}
		text, err := AppendTick(nil, &tick)
		if got := encode(TickJSON); got != string(must(t, text, err)) {
			t.Fatalf("json %s\nwant %s", got, text)
		}
		if got := encode(EventJSON); got != head+`{"ticks":[`+string(text)+"]}\n\n" {
			t.Fatalf("json event %q", got)
		}
		if got := encode(FrameProtobuf); got != string(AppendFrame(nil, OpBinary, want)) {
			t.Fatalf("protobuf frame %x", got)
		}
		if got := encode(FrameJSON); got != string(AppendFrame(nil, OpText, []byte(`{"ticks":[`+string(text)+"]}"))) {
			t.Fatalf("json frame %q", got)
		}
		for enc, event := range map[Encoding]int{Protobuf: EventProtobuf, JSON: EventJSON} {
			var m feed.Message
			if err := UnmarshalEventData(enc, eventData(t, []byte(encode(event))), &m); err != nil {
				t.Fatalf("%v", err)
			}
			if !sameMessage(m, feed.Message{Ticks: []feed.Tick{tick}}) {
				t.Fatalf("%s event reads as %+v", enc, m)
			}
		}
	})
}

// What a tick takes is the same in an event as alone, whatever is in its symbol, and
// counting it allocates nothing.
func TestTickBytes(t *testing.T) {
	encoders := HubEncoders()
	rapid.Check(t, func(t *rapid.T) {
		tick := drawTick(t)
		for event, alone := range map[int]int{EventProtobuf: TickProtobuf, EventJSON: TickJSON, FrameProtobuf: TickProtobuf, FrameJSON: TickJSON} {
			want := len(encoders[alone](nil, "ab12", &tick))
			if got := TickBytes(alone, encoders[alone](nil, "ab12", &tick)); got != want {
				t.Fatalf("encoder %d: %d bytes, want %d", alone, got, want)
			}
			out := encoders[event](nil, "ab12", &tick)
			if got := TickBytes(event, out); got != want {
				t.Fatalf("encoder %d: %d bytes, want %d of %q", event, got, want, out)
			}
			if n := testing.AllocsPerRun(10, func() { TickBytes(event, out) }); n != 0 {
				t.Fatalf("encoder %d: %v allocations", event, n)
			}
		}
	})
}

func TestAppendTicks(t *testing.T) {
	encoders := HubEncoders()
	rapid.Check(t, func(t *rapid.T) {
		enc := drawEncoding(t)
		var want feed.Message
		var shared [][]byte
		for range rapid.IntRange(0, 5).Draw(t, "ticks") {
			tick := drawTick(t)
			want.Ticks = append(want.Ticks, tick)
			shared = append(shared, encoders[TickProtobuf+int(enc)](nil, "", &tick))
		}
		joined := AppendTicks([]byte("before"), enc, shared)
		if len(shared) > 0 {
			whole, err := AppendMessage([]byte("before"), enc, &want)
			if string(joined) != string(must(t, whole, err)) {
				t.Fatalf("joined %q\nwant %q", joined, whole)
			}
		}
		var got feed.Message
		if err := UnmarshalMessage(enc, joined[6:], &got); err != nil || !sameMessage(got, want) {
			t.Fatalf("joined reads as %+v, %v", got, err)
		}
	})
}

func TestHubEncodersDoNotAllocate(t *testing.T) {
	tick, dst := benchTick(), make([]byte, 0, 1024)
	for i, encode := range HubEncoders() {
		if n := testing.AllocsPerRun(100, func() { dst = encode(dst[:0], "0123456789abcdef", &tick) }); n != 0 {
			t.Errorf("encoder %d: %v allocations", i, n)
		}
	}
}

// TestHubSharesBytes: several encoded ticks of a hub are one message.
func TestHubSharesBytes(t *testing.T) {
	hub, err := feed.NewHub([]feed.Symbol{{Name: "A", TickSize: 1}}, feed.HubOptions{Encoders: HubEncoders(), Epoch: "ab"})
	if err != nil {
		t.Fatal(err)
	}
	hub.Publish(&feed.Update{Quote: true, BidPx: 5, Origin: feed.OriginSchedule}, 1)
	tick, ok, err := hub.Newest("A")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	encoded := HubEncoders()[TickProtobuf](nil, hub.Epoch(), &tick)
	var m feed.Message
	if err := UnmarshalMessage(Protobuf, append(encoded, encoded...), &m); err != nil || len(m.Ticks) != 2 || m.Ticks[1] != tick {
		t.Errorf("got %+v, %v", m, err)
	}
}

// TestNumbersOfTheContract holds the enumerations and the field numbers that are
// written by hand to the .proto.
func TestNumbersOfTheContract(t *testing.T) {
	for _, e := range []struct {
		enum   protoreflect.Enum
		prefix string
		names  []string
	}{
		{pb.Side(0), "SIDE_", sideNames},
		{pb.Origin(0), "ORIGIN_", originNames},
		{pb.Policy(0), "POLICY_", policyNames},
		{pb.SkipReason(0), "SKIP_REASON_", reasonNames},
		{pb.OrdType(0), "ORD_TYPE_", ordTypeNames},
		{pb.TimeInForce(0), "TIME_IN_FORCE_", tifNames},
		{pb.ExecType(0), "EXEC_TYPE_", execTypeNames},
		{pb.OrdStatus(0), "ORD_STATUS_", statusNames},
	} {
		values := e.enum.Descriptor().Values()
		if values.Len() != len(e.names) {
			t.Errorf("%s has %d values, want %d", e.prefix, values.Len(), len(e.names))
			continue
		}
		for i, name := range e.names {
			if v := values.ByNumber(protoreflect.EnumNumber(i)); v == nil || string(v.Name()) != e.prefix+name {
				t.Errorf("value %d is %v, want %s%s", i, v, e.prefix, name)
			}
		}
	}
	for _, same := range []bool{
		int(feed.SideSell) == int(pb.Side_SIDE_SELL), int(feed.OriginOrder) == int(pb.Origin_ORIGIN_ORDER),
		int(feed.PolicyDisconnect) == int(pb.Policy_POLICY_DISCONNECT), int(feed.SkipEpoch) == int(pb.SkipReason_SKIP_REASON_EPOCH),
		int(feed.OriginCapture) == int(pb.Origin_ORIGIN_CAPTURE), int(feed.PolicyDropOldest) == int(pb.Policy_POLICY_DROP_OLDEST),
		int(order.Market) == int(pb.OrdType_ORD_TYPE_MARKET), int(order.FOK) == int(pb.TimeInForce_TIME_IN_FORCE_FOK),
		int(order.IOC) == int(pb.TimeInForce_TIME_IN_FORCE_IOC), int(order.ExecTrade) == int(pb.ExecType_EXEC_TYPE_TRADE),
		int(order.ExecReplaced) == int(pb.ExecType_EXEC_TYPE_REPLACED), int(order.ExecRejected) == int(pb.ExecType_EXEC_TYPE_REJECTED),
		int(order.PartiallyFilled) == int(pb.OrdStatus_ORD_STATUS_PARTIALLY_FILLED), int(order.Rejected) == int(pb.OrdStatus_ORD_STATUS_REJECTED),
		int(order.Canceled) == int(pb.OrdStatus_ORD_STATUS_CANCELED),
		int(feed.SkipDropped) == int(pb.SkipReason_SKIP_REASON_DROPPED), int(feed.SkipGap) == int(pb.SkipReason_SKIP_REASON_GAP),
	} {
		if !same {
			t.Error("the domain numbers an enumeration otherwise than the .proto")
		}
	}
}
