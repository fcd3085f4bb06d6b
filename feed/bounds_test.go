package feed

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// A resume over many symbols replays a bounded number of ticks, and says of the
// rest that they are missing.
func TestReplayIsBounded(t *testing.T) {
	const symbols, each = 100, 256
	var listed []Symbol
	var names []string
	for i := range symbols {
		names = append(names, fmt.Sprintf("S%d", i))
		listed = append(listed, Symbol{Name: names[i], TickSize: 1})
	}
	h, err := NewHub(listed, HubOptions{Ring: each, Encoders: []Encoder{func(dst []byte, _ string, _ *Tick) []byte { return dst }}})
	if err != nil {
		t.Fatal(err)
	}
	for range each {
		for i := range symbols {
			h.Publish(&Update{Symbol: i, LastPx: 1}, 0)
		}
	}
	s, err := h.NewSubscription(SubscriptionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Subscribe(Subscribe{Symbols: names, Cursor: Cursor{Epoch: h.Epoch()}.String()}); err != nil {
		t.Fatal(err)
	}
	if got := s.Waiting(); got != maxReplay {
		t.Errorf("%d ticks are replayed, want %d", got, maxReplay)
	}
	var b Batch
	if err := s.Take(&b, symbols*each); err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for _, m := range b.Control {
		if m.Skipped != nil && m.Skipped.Reason == SkipGap && m.Skipped.ToSeq == each {
			skipped++
		}
	}
	if skipped != symbols-maxReplay/each {
		t.Errorf("%d symbols are told a gap, want the %d that were not replayed", skipped, symbols-maxReplay/each)
	}
}

// What a client sent does not come back whole.
func TestProblemsQuoteLittle(t *testing.T) {
	long := strings.Repeat("é", 1<<19)
	h, err := NewHub([]Symbol{{Name: "A", TickSize: 1}}, HubOptions{Encoders: []Encoder{nil}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.NewSubscription(SubscriptionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, err := range map[string]error{
		"subscribe":   s.Subscribe(Subscribe{Symbols: []string{long}}),
		"unsubscribe": s.Unsubscribe(Unsubscribe{Symbols: []string{long}}),
		"cursor":      s.Subscribe(Subscribe{Symbols: []string{"A"}, Cursor: long}),
	} {
		var p *Problem
		if !errors.As(err, &p) || len(p.Message)+len(p.Symbol) > 500 || !utf8.ValidString(p.Message+p.Symbol) {
			t.Errorf("%s: a problem of %d bytes", name, len(fmt.Sprint(err)))
		}
	}
	p := (&Problem{Message: long, Symbol: long}).Bounded()
	if len(p.Message) > maxProblemText+len("…") || len(p.Symbol) > maxProblemText+len("…") || !utf8.ValidString(p.Message) {
		t.Errorf("bounded to %d and %d bytes", len(p.Message), len(p.Symbol))
	}
}
