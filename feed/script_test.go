package feed

import (
	"fmt"
	"strings"
)

// failer is what *testing.T, *testing.B and *rapid.T have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// newHub returns a hub of n symbols named A, B, C and so on.
func newHub(t failer, n int, opts HubOptions) *Hub {
	t.Helper()
	if opts.Encoders == nil {
		opts.Encoders = []Encoder{textEncoder}
	}
	symbols := make([]Symbol, n)
	for i := range symbols {
		symbols[i] = Symbol{Name: symbolName(i), TickSize: 1e7}
	}
	h, err := NewHub(symbols, opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return h
}

func symbolName(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("S%03d", i)
}

func textEncoder(dst []byte, epoch string, t *Tick) []byte {
	return fmt.Appendf(dst, "%s %s:%d@%d due %d", epoch, t.Symbol, t.Seq, t.HubSeq, t.DueNS)
}

// dueOf is when the tests have a tick due.
func dueOf(symbol string, seq uint64) int64 { return int64(symbol[0])*1_000_000 + int64(seq) }

// publish publishes a tick for each letter of symbols. Nobody else may publish
// these symbols at the same time.
func publish(h *Hub, symbols string) {
	for _, s := range []byte(symbols) {
		i := int(s - 'A')
		px := Price(h.lastSeq(i)+1) * 1e9
		h.Publish(&Update{Symbol: i, Origin: OriginSchedule, Quote: true, BidPx: px, AskPx: px + 1e7, ExchangeTSNS: 1}, dueOf(string(s), h.lastSeq(i)+1))
	}
}

func subscription(t failer, h *Hub, opts SubscriptionOptions) *Subscription {
	t.Helper()
	s, err := h.NewSubscription(opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// take takes up to n ticks and returns the whole batch in the words of render.
func take(t failer, s *Subscription, n int) string {
	t.Helper()
	var b Batch
	if err := s.Take(&b, n); err != nil {
		t.Fatalf("take: %v", err)
	}
	return render(s.hub, &b)
}

func render(h *Hub, b *Batch) string {
	var out []string
	for i := range b.Control {
		out = append(out, renderMessage(h, &b.Control[i]))
	}
	for _, f := range b.Frames {
		out = append(out, fmt.Sprintf("%s%d@%d", f.Tick.Symbol, f.Tick.Seq, f.Tick.HubSeq))
	}
	return strings.Join(out, ", ")
}

func renderMessage(h *Hub, m *Message) string {
	switch {
	case m.Subscribed != nil:
		return fmt.Sprintf("subscribed%s %s%s", renderSeqs(m.Subscribed.Symbols), policyNames[m.Subscribed.Policy], renderCursor(h, m.Subscribed.Cursor))
	case m.Unsubscribed != nil:
		return "unsubscribed" + renderSeqs(m.Unsubscribed.Symbols)
	case m.Snapshot != nil:
		return fmt.Sprintf("snapshot %s%d%s", m.Snapshot.Tick.Symbol, m.Snapshot.Tick.Seq, renderCursor(h, m.Snapshot.Cursor))
	case m.Skipped != nil:
		k := m.Skipped
		return fmt.Sprintf("skipped %s%d-%d %s%s", k.Symbol, k.FromSeq, k.ToSeq, reasonNames[k.Reason], renderCursor(h, k.Cursor))
	}
	return fmt.Sprintf("%+v", *m)
}

func renderCursor(h *Hub, text string) string {
	if text == "" {
		return ""
	}
	return " after " + strings.TrimPrefix(text, h.Epoch()+"-")
}

var (
	policyNames = [...]string{"none", "conflate", "drop", "disconnect"}
	reasonNames = [...]string{"none", "conflated", "dropped", "gap", "epoch"}
)

func renderSeqs(list []SymbolSeq) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, " %s%d", s.Symbol, s.Seq)
	}
	return b.String()
}
