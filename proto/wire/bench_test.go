package wire

import (
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// benchTick is a tick of the size that the synthetic source makes.
func benchTick() feed.Tick {
	return feed.Tick{Symbol: "SYM0042", Seq: 123_456, HubSeq: 12_345_678, DueNS: 987_654_321_012_345,
		PublishNS: 987_654_321_054_321, ExchangeTSNS: 1_767_225_600_123_456_789,
		BidPx: 61_837_630_000_000, BidSz: 12_50000000, AskPx: 61_837_640_000_000, AskSz: 7_25000000,
		LastPx: 61_837_630_000_000, Origin: feed.OriginSchedule}
}

func BenchmarkHubEncoders(b *testing.B) {
	for i, name := range []string{"TickProtobuf", "TickJSON", "EventProtobuf", "EventJSON", "FrameProtobuf", "FrameJSON"} {
		b.Run(name, func(b *testing.B) {
			encode, t, dst := HubEncoders()[i], benchTick(), make([]byte, 0, 1024)
			b.ReportAllocs()
			for b.Loop() {
				dst = encode(dst[:0], "0123456789abcdef", &t)
			}
			b.ReportMetric(float64(len(dst)), "bytes/tick")
		})
	}
}

func BenchmarkAppendTicks(b *testing.B) {
	for _, enc := range Encodings() {
		b.Run(enc.String()+"/16", func(b *testing.B) {
			t := benchTick()
			ticks, dst := make([][]byte, 16), make([]byte, 0, 1<<14)
			for i := range ticks {
				ticks[i] = HubEncoders()[int(enc)](nil, "", &t)
			}
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendTicks(dst[:0], enc, ticks)
			}
		})
	}
}

func BenchmarkAppendMessage(b *testing.B) {
	for _, enc := range Encodings() {
		b.Run(enc.String()+"/tick", func(b *testing.B) {
			m, dst := feed.Message{Ticks: []feed.Tick{benchTick()}}, make([]byte, 0, 1024)
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = AppendMessage(dst[:0], enc, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnmarshalMessage(b *testing.B) {
	for _, enc := range Encodings() {
		b.Run(enc.String()+"/tick", func(b *testing.B) {
			data, err := AppendMessage(nil, enc, &feed.Message{Ticks: []feed.Tick{benchTick()}})
			if err != nil {
				b.Fatal(err)
			}
			var m feed.Message
			b.ReportAllocs()
			for b.Loop() {
				if err := UnmarshalMessage(enc, data, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnmarshalEventData(b *testing.B) {
	for _, enc := range Encodings() {
		b.Run(enc.String()+"/tick", func(b *testing.B) {
			t := benchTick()
			data := eventData(b, HubEncoders()[EventProtobuf+int(enc)](nil, "ab", &t))
			var m feed.Message
			b.ReportAllocs()
			for b.Loop() {
				if err := UnmarshalEventData(enc, data, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCodec(b *testing.B) {
	for _, enc := range Encodings() {
		t, c := benchTick(), Codec(enc)
		one := HubEncoders()[int(enc)](nil, "", &t)
		ready := Ready{one, one, one, one}
		b.Run(enc.String()+"/marshal-4", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Marshal(ready); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(enc.String()+"/unmarshal-4", func(b *testing.B) {
			out, err := c.Marshal(ready)
			if err != nil {
				b.Fatal(err)
			}
			var r Received
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Unmarshal(out, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
