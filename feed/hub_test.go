package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNewHubRefuses(t *testing.T) {
	good := []Symbol{{Name: "A", TickSize: 1}}
	for _, c := range []struct {
		name    string
		symbols []Symbol
		opts    HubOptions
	}{
		{"no symbols", nil, HubOptions{}},
		{"no name", []Symbol{{TickSize: 1}}, HubOptions{}},
		{"no grid", []Symbol{{Name: "A"}}, HubOptions{}},
		{"a negative grid", []Symbol{{Name: "A", TickSize: -1}}, HubOptions{}},
		{"a name twice", []Symbol{{Name: "A", TickSize: 1}, {Name: "A", TickSize: 1}}, HubOptions{}},
		{"a negative ring", good, HubOptions{Ring: -1}},
		{"an epoch that is no hexadecimal", good, HubOptions{Epoch: "xyz"}},
		{"an epoch with a dash", good, HubOptions{Epoch: "a-1"}},
		{"a long epoch", good, HubOptions{Epoch: strings.Repeat("a", 33)}},
	} {
		if h, err := NewHub(c.symbols, c.opts); err == nil || h != nil {
			t.Errorf("%s: NewHub = %v, %v, want an error", c.name, h, err)
		}
	}
	h := newHub(t, 1, HubOptions{})
	for _, opts := range []SubscriptionOptions{{Encoding: -1}, {Encoding: 1}, {Queue: -1}} {
		if _, err := h.NewSubscription(opts); err == nil {
			t.Errorf("NewSubscription(%+v) gives no error", opts)
		}
	}
	if got := h.Stats(); got != (HubStats{}) {
		t.Errorf("refused subscriptions are counted: %+v", got)
	}
}

func TestPublishCarriesForward(t *testing.T) {
	h := newHub(t, 2, HubOptions{Epoch: "e"})
	if _, ok, err := h.Newest("A"); ok || err != nil {
		t.Errorf("a symbol without ticks has a newest one: %t, %v", ok, err)
	}
	before := Now()
	for _, u := range []Update{
		{Origin: OriginSchedule, Quote: true, BidPx: 10, BidSz: 1, AskPx: 12, AskSz: 2, ExchangeTSNS: 7},
		{Symbol: 1, ExchangeTSNS: 7},
		{Origin: OriginOrder, LastPx: 11, LastSz: 3, TradeID: 9, Aggressor: SideSell, ExchangeTSNS: 8},
		{Origin: OriginCapture, Quote: true, BidPx: 11, BidSz: 4, ExchangeTSNS: 9},
	} {
		h.Publish(&u, 100+u.ExchangeTSNS)
	}
	got, ok, err := h.Newest("A")
	if !ok || err != nil || got.PublishNS < before || got.PublishNS > Now() {
		t.Fatalf("newest is %+v, %t, %v, published after %d", got, ok, err, before)
	}
	got.PublishNS = 0
	// The side that the last quote has not is gone; the last price stays, its trade does not.
	want := Tick{Symbol: "A", Seq: 3, HubSeq: 4, DueNS: 109, ExchangeTSNS: 9, BidPx: 11, BidSz: 4, LastPx: 11, Origin: OriginCapture}
	if got != want {
		t.Errorf("newest is\n%+v, want\n%+v", got, want)
	}
	if got := h.LastSeqs(); !slices.Equal(got, []uint64{3, 1}) {
		t.Errorf("last sequences %d, want 3 and 1", got)
	}
	if _, _, err := h.Newest("Z"); problemCode(err) != CodeUnknownSymbol {
		t.Errorf("newest of an unknown symbol: %v", err)
	}
	if got := h.Symbols(); !slices.Equal(got, []Symbol{{"A", 1e7}, {"B", 1e7}}) {
		t.Errorf("symbols %v", got)
	}
}

func TestPublishNumbersAndStamps(t *testing.T) {
	h := newHub(t, 2, HubOptions{})
	for i, symbol := range []int{0, 1, 1, 0} {
		wall := Now() + WallOffset()
		seq, hubSeq, at := h.Publish(&Update{Symbol: symbol}, 5)
		got, _, _ := h.Newest(symbolName(symbol))
		if seq != got.Seq || hubSeq != got.HubSeq || at != got.PublishNS || hubSeq != uint64(i+1) || got.DueNS != 5 {
			t.Errorf("publish says %d, %d, %d, the tick %+v", seq, hubSeq, at, got)
		}
		// Nobody gave a venue's time, so it is the wall clock's. The two clocks may
		// drift by little while the test runs.
		if off := got.ExchangeTSNS - wall; off < -1e9 || off > 60e9 {
			t.Errorf("the exchange's time is %d ns from the wall clock", off)
		}
	}
}

// TestEncodeOnce has encodings with and without subscriptions.
func TestEncodeOnce(t *testing.T) {
	var calls [3]int
	encoders := make([]Encoder, len(calls))
	for i := range encoders {
		encoders[i] = func(dst []byte, epoch string, tick *Tick) []byte {
			calls[i]++
			return fmt.Appendf(textEncoder(dst, epoch, tick), " %d", i)
		}
	}
	h := newHub(t, 1, HubOptions{Epoch: "e", Encoders: encoders})
	var subs []*Subscription
	for i := range 9 {
		s := subscription(t, h, SubscriptionOptions{Encoding: i % 2})
		if err := s.Subscribe(Subscribe{Symbols: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
		subs = append(subs, s)
	}
	publish(h, "AAA")
	if calls != [3]int{3, 3, 0} {
		t.Errorf("3 ticks were encoded %d times, want 3, 3, 0", calls)
	}
	frames := make([]*Frame, 0, 3)
	for i, s := range subs {
		var b Batch
		if err := s.Take(&b, 10); err != nil {
			t.Fatal(err)
		}
		for j, f := range b.Frames {
			want := fmt.Sprintf("e A:%d@%d due %d %d", j+1, j+1, dueOf("A", uint64(j+1)), i%2)
			if got := string(s.Encoded(f)); got != want {
				t.Errorf("subscription %d has %q, want %q", i, got, want)
			}
			if i < 2 {
				continue
			}
			if &s.Encoded(f)[0] != &subs[i%2].Encoded(f)[0] {
				t.Error("two subscriptions of an encoding do not share its bytes")
			}
		}
		frames = append(frames[:0], b.Frames...)
	}
	// A frame of the ring is encoded when somebody comes for it, and then once.
	for range 2 {
		if got := string(h.Encoded(frames[2], 2)); !strings.HasSuffix(got, " 2") {
			t.Errorf("encoded later: %q", got)
		}
	}
	if calls != [3]int{3, 3, 1} {
		t.Errorf("encoded %d times, want 3, 3, 1", calls)
	}
	for _, s := range subs {
		if s.encoding == 1 {
			s.Close()
			s.Close()
		}
	}
	publish(h, "A")
	if calls != [3]int{4, 3, 1} {
		t.Errorf("encoded %d times after the last one of an encoding has closed, want 4, 3, 1", calls)
	}
	if got := h.Stats().Subscriptions; got != 5 {
		t.Errorf("%d subscriptions are open, want 5", got)
	}
}
