package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// TestPaddingIsPassedOver: a padded tick is read as the bare one, alone and beside
// others.
func TestPaddingIsPassedOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tick := drawTick(t)
		tick.Symbol = rapid.StringMatching(`[A-Z0-9/]{0,12}`).Draw(t, "listed")
		size := rapid.SampledFrom([]int{1, 90, 127, 128, 129, 300, 511, 1024, 16384, 16500, MaxTickBytes}).Draw(t, "size")
		encoders := PaddedHubEncoders(size)
		for _, enc := range Encodings() {
			bare := HubEncoders()[enc](nil, "ab", &tick)
			padded := encoders[enc](nil, "ab", &tick)
			if d := size - len(padded); len(bare) < size-len(paddingMember)-4 && (d < -2 || d > 4) || len(padded) > max(size+2, len(bare)) {
				t.Fatalf("%s: %d bytes, bare %d, want about %d", enc, len(padded), len(bare), size)
			}
			want := feed.Message{Ticks: []feed.Tick{tick, tick}}
			var got feed.Message
			if err := UnmarshalMessage(enc, AppendTicks(nil, enc, [][]byte{padded, bare}), &got); err != nil || !slices.Equal(got.Ticks, want.Ticks) {
				t.Fatalf("%s: %+v, %v", enc, got, err)
			}
			event := encoders[EventProtobuf+int(enc)](nil, "ab", &tick)
			data := event[bytes.LastIndex(event, []byte("\ndata: "))+len("\ndata: ") : len(event)-2]
			if err := UnmarshalEventData(enc, data, &got); err != nil || !slices.Equal(got.Ticks, want.Ticks[:1]) {
				t.Fatalf("%s: event %+v, %v", enc, got, err)
			}
		}
	})
}

// TestPaddingIsOfTheContract: the generated code knows the field, and what other
// JSON readers take for its bytes is base64.
func TestPaddingIsOfTheContract(t *testing.T) {
	tick := benchTick()
	encoders := PaddedHubEncoders(1024)
	var m pb.MarketDataMessage
	if err := proto.Unmarshal(encoders[TickProtobuf](nil, "", &tick), &m); err != nil || len(m.GetTicks()[0].GetPadding()) < 900 || len(m.GetTicks()[0].ProtoReflect().GetUnknown()) > 0 {
		t.Errorf("%v, %v", &m, err)
	}
	var object struct{ Padding string }
	if err := json.Unmarshal(encoders[TickJSON](nil, "", &tick), &object); err != nil {
		t.Fatal(err)
	}
	if raw, err := base64.StdEncoding.DecodeString(object.Padding); err != nil || len(raw) < 500 {
		t.Errorf("padding of %d bytes, %v", len(raw), err)
	}
	if again := PaddedHubEncoders(1024); !bytes.Equal(again[TickJSON](nil, "", &tick), encoders[TickJSON](nil, "", &tick)) {
		t.Error("another padding in another exchange")
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(encoders[TickProtobuf](nil, "", &tick)); err != nil || z.Close() != nil || zipped.Len() < 1000 {
		t.Errorf("compressed to %d bytes, %v", zipped.Len(), err)
	}
}

func TestNoPadding(t *testing.T) {
	tick := benchTick()
	for _, size := range []int{-5, 0, 10} {
		for i, encode := range PaddedHubEncoders(size) {
			if got, want := encode(nil, "ab", &tick), HubEncoders()[i](nil, "ab", &tick); !bytes.Equal(got, want) {
				t.Errorf("size %d, encoder %d: %s", size, i, fmt.Sprint(len(got), " bytes, want ", len(want)))
			}
		}
	}
	if got := len(PaddedHubEncoders(1 << 30)[TickProtobuf](nil, "", &tick)); got > MaxTickBytes+2 {
		t.Errorf("%d bytes", got)
	}
}
