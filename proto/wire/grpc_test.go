package wire

import (
	"testing"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

func TestCodecsAreRegistered(t *testing.T) {
	for name, enc := range map[string]Encoding{"proto": Protobuf, "json": JSON} {
		if c := encoding.GetCodecV2(name); c != Codec(enc) || c.Name() != name {
			t.Errorf("%s is a %T called %s", name, c, c.Name())
		}
	}
	if !registered {
		t.Error("not registered")
	}
}

func TestCodecCarriesTheDomain(t *testing.T) {
	tick := benchTick()
	for _, enc := range Encodings() {
		c := Codec(enc)
		bytes, err := c.Marshal(&feed.Message{Ticks: []feed.Tick{tick}})
		before := feed.Now()
		var r Received
		if err := c.Unmarshal(must(t, bytes, err), &r); err != nil || len(r.Message.Ticks) != 1 || r.Message.Ticks[0] != tick {
			t.Errorf("%s: %+v, %v", enc, r, err)
		}
		if now := feed.Now(); r.AtNS < before || r.AtNS > now {
			t.Errorf("%s: received at %d, not in %d to %d", enc, r.AtNS, before, now)
		}
		var m feed.Message
		if err := c.Unmarshal(bytes, &m); err != nil || !sameMessage(m, r.Message) {
			t.Errorf("%s: %+v, %v", enc, m, err)
		}

		bytes, err = c.Marshal(&feed.Request{Ping: &feed.Ping{ID: 3}})
		var q feed.Request
		if err := c.Unmarshal(must(t, bytes, err), &q); err != nil || q.Ping == nil || q.Ping.ID != 3 {
			t.Errorf("%s: %+v, %v", enc, q, err)
		}
		asked := Asked{Err: errNoRequest}
		if err := c.Unmarshal(bytes, &asked); err != nil || asked.Err != nil || asked.Request.Ping == nil {
			t.Errorf("%s: %+v, %v", enc, asked, err)
		}
		if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer("\xff")}, &asked); err != nil {
			t.Errorf("%s: %v", enc, err)
		}
		wantError(t, asked.Err, "decode "+map[Encoding]string{Protobuf: "protobuf", JSON: "JSON"}[enc]+" request")
	}
}

func TestCodecSharesReadyTicks(t *testing.T) {
	for i, enc := range Encodings() {
		tick := benchTick()
		one := HubEncoders()[TickProtobuf+i](nil, "", &tick)
		out, err := Codec(enc).Marshal(Ready{one, one, one})
		out = must(t, out, err)
		var r Received
		if err := Codec(enc).Unmarshal(out, &r); err != nil || len(r.Message.Ticks) != 3 || r.Message.Ticks[2] != tick {
			t.Errorf("%s: %+v, %v", enc, r, err)
		}
		if enc == Protobuf && (len(out) != 3 || &out[2].ReadOnlyData()[0] != &one[0]) {
			t.Error("protobuf was copied")
		}
		if enc == JSON && string(out[0].ReadOnlyData()) != string(AppendTicks(nil, JSON, [][]byte{one, one, one})) {
			t.Errorf("json %s", out[0].ReadOnlyData())
		}
		out, err = Codec(enc).Marshal(Ready{})
		if err := Codec(enc).Unmarshal(must(t, out, err), &r); err != nil || len(r.Message.Ticks) != 0 {
			t.Errorf("%s of no ticks: %+v, %v", enc, r, err)
		}
	}
}

// TestCodecCarriesGenerated has the messages of the unary calls, the streams as
// a plain generated client uses them, and one of another package.
func TestCodecCarriesGenerated(t *testing.T) {
	tick := benchTick()
	for _, g := range []struct {
		message proto.Message
		json    string
	}{
		{TickToProto(&goldenTrade), tradeJSON},
		{SymbolsToProto([]feed.Symbol{{Name: "A", TickSize: 10_000_000}}), `{"symbols":[{"name":"A","tickSize":"0.01"}]}`},
		{&pb.SymbolList{}, `{"symbols":[]}`},
		{&pb.GetQuoteRequest{Symbol: "A"}, `{"symbol":"A"}`},
		{&pb.ListSymbolsRequest{}, `{}`},
		{&pb.MarketDataMessage{Event: &pb.MarketDataMessage_Heartbeat{Heartbeat: &pb.Heartbeat{SentNs: 5}}}, `{"heartbeat":{"sentNs":"5"}}`},
		{&pb.MarketDataMessage{Ticks: []*pb.Tick{TickToProto(&goldenQuote)}}, `{"ticks":[` + quoteJSON + `]}`},
		{requestToProto(&feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{"A"}}}), `{"subscribe":{"symbols":["A"]}}`},
		{wrapperspb.String("other"), `"other"`},
	} {
		for _, enc := range Encodings() {
			data, err := Codec(enc).Marshal(g.message)
			data = must(t, data, err)
			if enc == JSON && string(data.Materialize()) != g.json {
				t.Errorf("%T as %s, want %s", g.message, data.Materialize(), g.json)
			}
			got := proto.Clone(TickToProto(&tick)) // decoding resets it
			if got.ProtoReflect().Descriptor() != g.message.ProtoReflect().Descriptor() {
				got = g.message.ProtoReflect().New().Interface()
			}
			if err := Codec(enc).Unmarshal(data, got); err != nil || !proto.Equal(got, g.message) {
				t.Errorf("%s %T reads as %v, %v", enc, g.message, got, err)
			}
		}
	}
}

func TestCodecRefuses(t *testing.T) {
	for _, enc := range Encodings() {
		_, err := Codec(enc).Marshal("text")
		wantError(t, err, "no codec for a string")
		wantError(t, Codec(enc).Unmarshal(nil, new(string)), "no codec for a *string")
		_, err = Codec(enc).Marshal(&feed.Request{})
		wantError(t, err, "exactly one of")
		_, err = Codec(enc).Marshal(&pb.GetQuoteRequest{Symbol: "\xff"})
		wantError(t, err, "UTF-8")
	}
	for _, g := range []struct {
		message proto.Message
		want    string
	}{
		{&pb.Tick{Origin: 9}, "tick.origin: unknown value 9"},
		{&pb.SubscribeRequest{}, "exactly one of"},
		{&pb.MarketDataMessage{Ticks: []*pb.Tick{{Origin: 9}}}, "ticks[0].origin"},
		{&pb.SymbolList{Symbols: []*pb.ListedSymbol{{Name: "\xff"}}}, "symbols[0].name"},
	} {
		_, err := Codec(JSON).Marshal(g.message)
		wantError(t, err, g.want)
	}
	read := func(data string, v any) error {
		return Codec(JSON).Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, v)
	}
	wantError(t, read(`{"symbl":"A"}`, &pb.GetQuoteRequest{}), "symbl")
	wantError(t, read(`{"bidPx":1e400}`, &pb.Tick{}), "tick.bidPx")
	wantError(t, read(`{"symbols":[{"tickSize":"x"}]}`, &pb.SymbolList{}), "symbols[0].tickSize")
	wantError(t, read(`{"x":[],"subscribe":{}}`, &pb.SubscribeRequest{}), "x: unknown member")
	wantError(t, read(`{"ticks":1}`, &pb.MarketDataMessage{}), "ticks: want an array")
}
