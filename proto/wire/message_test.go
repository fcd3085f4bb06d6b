package wire

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want := drawEncoding(t), drawMessage(t)
		got := drawMessage(t) // decoding resets what was there
		data, err := AppendMessage([]byte("before"), enc, &want)
		data = must(t, data, err)
		if string(data[:6]) != "before" {
			t.Fatalf("did not append: %q", data)
		}
		if err := UnmarshalMessage(enc, data[6:], &got); err != nil {
			t.Fatalf("%v\n%q", err, data)
		}
		for i := range data {
			data[i] = '#' // nothing of it may have been kept
		}
		if !sameMessage(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

func TestRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want, got := drawEncoding(t), drawRequest(t), drawRequest(t)
		data, err := AppendRequest([]byte("before"), enc, &want)
		data = must(t, data, err)
		if err := UnmarshalRequest(enc, data[6:], &got); err != nil {
			t.Fatalf("%v\n%q", err, data)
		}
		for i := range data {
			data[i] = '#'
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

// TestMessageProtoIsGenerated holds what is written by hand to what the
// generated code writes.
func TestMessageProtoIsGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		got, err := AppendMessage(nil, Protobuf, &m)
		got = must(t, got, err)
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(messageToProto(&m))
		if string(got) != string(must(t, want, err)) {
			t.Fatalf("got %x\nwant %x", got, want)
		}
	})
}

func TestDecodeReusesTicks(t *testing.T) {
	for _, enc := range Encodings() {
		m := feed.Message{Ticks: make([]feed.Tick, 0, 4)}
		place := &m.Ticks[:1][0]
		data, err := AppendMessage(nil, enc, &feed.Message{Ticks: []feed.Tick{{Symbol: "A"}, {Symbol: "B"}}})
		if err := UnmarshalMessage(enc, must(t, data, err), &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Ticks) != 2 || &m.Ticks[0] != place {
			t.Errorf("%s: ticks went to %d new places", enc, len(m.Ticks))
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	tick := feed.Tick{Symbol: "A"}
	messages := map[string]feed.Message{
		"several of ticks":          {Ticks: []feed.Tick{tick}, Hello: &feed.Hello{}},
		"several of ticks, hello":   {Hello: &feed.Hello{}, Heartbeat: &feed.Heartbeat{}},
		"ticks[1].symbol":           {Ticks: []feed.Tick{tick, {Symbol: "\xff"}}},
		"ticks[0].aggressorSide":    {Ticks: []feed.Tick{{Aggressor: 3}}},
		"ticks[0].origin":           {Ticks: []feed.Tick{{Origin: 4}}},
		"snapshot.tick.origin":      {Snapshot: &feed.Snapshot{Tick: feed.Tick{Origin: 4}}},
		"snapshot.cursor":           {Snapshot: &feed.Snapshot{Cursor: "\xff"}},
		"subscribed.policy":         {Subscribed: &feed.Subscribed{Policy: 4}},
		"subscribed.symbols[0]":     {Subscribed: &feed.Subscribed{Symbols: []feed.SymbolSeq{{Symbol: "\xff"}}}},
		"unsubscribed.symbols[0]":   {Unsubscribed: &feed.Unsubscribed{Symbols: []feed.SymbolSeq{{Symbol: "\xff"}}}},
		"skipped.reason":            {Skipped: &feed.Skipped{Reason: 5}},
		"hello.bootId":              {Hello: &feed.Hello{BootID: "\xff"}},
		"hello.limits.maxStreams":   {Hello: &feed.Hello{Limits: feed.Limits{MaxStreams: -1}}},
		"hello.limits.queueTicks":   {Hello: &feed.Hello{Limits: feed.Limits{QueueTicks: 1 << 32}}},
		"is not in 0 to 4294967295": {Hello: &feed.Hello{Limits: feed.Limits{MaxMessageBytes: 1 << 32}}},
	}
	requests := map[string]feed.Request{
		"exactly one of subscribe, unsubscribe, ping": {},
		"exactly one of": {Subscribe: &feed.Subscribe{}, Ping: &feed.Ping{}},
		"subscribe.policy: unknown value 7, want one of 0 UNSPECIFIED": {Subscribe: &feed.Subscribe{Policy: 7}},
		"subscribe.symbols[1]":                         {Subscribe: &feed.Subscribe{Symbols: []string{"A", "\xff"}}},
		"subscribe.afterReportSeq: set without Resume": {Subscribe: &feed.Subscribe{AfterReportSeq: 1}},
		"subscribe.account":                            {Subscribe: &feed.Subscribe{Account: "\xff"}},
		"unsubscribe.symbols[0]":                       {Unsubscribe: &feed.Unsubscribe{Symbols: []string{"\xff"}}},
	}
	for _, enc := range Encodings() {
		for want, m := range messages {
			got, err := AppendMessage([]byte("before"), enc, &m)
			wantError(t, err, want)
			if string(got) != "before" {
				t.Errorf("%s: dst came back as %q", want, got)
			}
		}
		for want, q := range requests {
			_, err := AppendRequest(nil, enc, &q)
			wantError(t, err, want)
		}
	}
}

// TestProblemIsMended: what a problem quotes of a bad request must not keep it
// from being told.
func TestProblemIsMended(t *testing.T) {
	for _, enc := range Encodings() {
		data, err := AppendMessage(nil, enc, &feed.Message{Problem: &feed.Problem{Code: "X", Symbol: "a\xffb"}})
		var m feed.Message
		if err := UnmarshalMessage(enc, must(t, data, err), &m); err != nil {
			t.Fatal(err)
		}
		if m.Problem.Symbol != "a\uFFFDb" {
			t.Errorf("%s: symbol %q", enc, m.Problem.Symbol)
		}
	}
}

func TestProtobufRefuses(t *testing.T) {
	messages := map[string]*pb.MarketDataMessage{
		"several of ticks":           {Ticks: []*pb.Tick{{Seq: 1}}, Event: &pb.MarketDataMessage_Hello{Hello: &pb.Hello{}}},
		"ticks[1].origin":            {Ticks: []*pb.Tick{{}, {Origin: 99}}},
		"ticks[0].aggressorSide":     {Ticks: []*pb.Tick{{AggressorSide: -1}}},
		"snapshot.tick.origin":       {Event: &pb.MarketDataMessage_Snapshot{Snapshot: &pb.Snapshot{Tick: &pb.Tick{Origin: 4}}}},
		"subscribed.policy":          {Event: &pb.MarketDataMessage_Subscribed{Subscribed: &pb.Subscribed{Policy: 4}}},
		"skipped.reason":             {Event: &pb.MarketDataMessage_Skipped{Skipped: &pb.Skipped{Reason: 5}}},
		"unknown value 5, want one ": {Event: &pb.MarketDataMessage_Skipped{Skipped: &pb.Skipped{Reason: 5}}},
	}
	for want, p := range messages {
		data, err := proto.Marshal(p)
		wantError(t, UnmarshalMessage(Protobuf, must(t, data, err), &feed.Message{}), want)
	}
	for _, number := range []pb.Policy{-1, 4, 256, 257} { // the last two would be fine as a byte
		data, err := proto.Marshal(&pb.SubscribeRequest{Request: &pb.SubscribeRequest_Subscribe{
			Subscribe: &pb.Subscribe{Policy: number}}})
		wantError(t, UnmarshalRequest(Protobuf, must(t, data, err), &feed.Request{}), "subscribe.policy: unknown value")
	}
	wantError(t, UnmarshalRequest(Protobuf, nil, &feed.Request{}), "exactly one of")
	wantError(t, UnmarshalRequest(Protobuf, []byte("\x22\x00"), &feed.Request{}), "exactly one of subscribe, unsubscribe, ping") // an order
	wantError(t, UnmarshalRequest(Protobuf, []byte{0xff}, &feed.Request{}), "decode protobuf request")
	wantError(t, UnmarshalMessage(Protobuf, []byte{0xff}, &feed.Message{}), "decode protobuf message")
	wantError(t, UnmarshalMessage(2, nil, &feed.Message{}), "encoding(2)")
	wantError(t, UnmarshalRequest(2, nil, &feed.Request{}), "encoding(2)")
}

// TestUnknownEventIsNothing: what a newer exchange may say reads as no message, and
// an execution as none where there is no place for one.
func TestUnknownEventIsNothing(t *testing.T) {
	for _, c := range []struct {
		enc  Encoding
		data string
	}{
		{Protobuf, "\xa2\x06\x02\x0a\x00"}, {Protobuf, "\x4a\x02\x48\x01"},
		{JSON, `{"later":{"orderId":"1"}}`}, {JSON, `{"execution":{"orderId":"1"}}`},
	} {
		var m feed.Message
		if err := UnmarshalMessage(c.enc, []byte(c.data), &m); err != nil || !sameMessage(m, feed.Message{}) {
			t.Errorf("%s %q: %+v, %v", c.enc, c.data, m, err)
		}
	}
}
