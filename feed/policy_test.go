package feed

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		name      string
		policy    Policy
		queue     int
		symbols   string
		published string
		want      string
	}{
		{"not full", PolicyConflate, 3, "A", "AAA", "A1@1, A2@2, A3@3"},
		{"a newer tick replaces the oldest of its symbol", PolicyConflate, 3, "A", "AAAAA", "skipped A1-2 conflated, A3@3, A4@4, A5@5"},
		{"a symbol with none waiting displaces one that has two", PolicyConflate, 3, "ABC", "ABAC", "skipped A1-1 conflated, B1@2, A2@3, C1@4"},
		{"the newest of each stays", PolicyConflate, 1, "ABC", "CBACCCBBBA", "skipped C1-3 conflated, skipped B1-3 conflated, skipped A1-1 conflated, C4@6, B4@9, A2@10"},
		{"the newest goes to the back", PolicyConflate, 2, "AB", "ABA", "skipped A1-1 conflated, B1@2, A2@3"},
		{"the default", PolicyNone, 1, "A", "AA", "skipped A1-1 conflated, A2@2"},
		{"the oldest goes", PolicyDropOldest, 3, "A", "AAAAA", "skipped A1-2 dropped, A3@3, A4@4, A5@5"},
		{"the oldest goes, whatever its symbol", PolicyDropOldest, 2, "AB", "ABBB", "skipped A1-1 dropped, skipped B1-1 dropped, B2@3, B3@4"},
		{"a place for every symbol", PolicyDropOldest, 1, "ABC", "ABCA", "skipped A1-1 dropped, B1@2, C1@3, A2@4"},
		{"full is not too many", PolicyDisconnect, 3, "AB", "ABA", "A1@1, B1@2, A2@3"},
	} {
		h := newHub(t, 3, HubOptions{})
		s := subscribed(t, h, c.queue, Subscribe{Symbols: strings.Split(c.symbols, ""), Policy: c.policy})
		publish(h, c.published)
		want(t, c.name, take(t, s, 99), c.want)
		got := h.Stats()
		if sum := got.Conflated + got.Dropped + int64(strings.Count(c.want, "@")); got.Enqueued != int64(len(c.published)) || got.Enqueued != sum {
			t.Errorf("%s: stats %+v do not add up", c.name, got)
		}
	}
}

// TestSkippedIsWidened has one Skipped for all that went between two takes, told
// before what waits, with the due time of the first.
func TestSkippedIsWidened(t *testing.T) {
	for policy, reason := range map[Policy]string{PolicyConflate: "conflated", PolicyDropOldest: "dropped"} {
		h := newHub(t, 1, HubOptions{})
		s := subscribed(t, h, 2, Subscribe{Symbols: []string{"A"}, Policy: policy})
		var b Batch
		for _, step := range []struct {
			published, want string
			take            int
			first           uint64
		}{
			{"AAAA", "skipped A1-2 " + reason, 0, 1},
			{"AA", "skipped A3-4 " + reason + ", A5@5", 1, 3},
			{"AA", "skipped A6-6 " + reason + ", A7@7, A8@8", 9, 6},
			{"AAAAAAA", "skipped A9-13 " + reason + ", A14@14, A15@15", 9, 9},
		} {
			publish(h, step.published)
			if err := s.Take(&b, step.take); err != nil {
				t.Fatal(err)
			}
			want(t, "a take", render(h, &b), step.want)
			if got := b.Control[0].Skipped.FirstDueNS; got != dueOf("A", step.first) {
				t.Errorf("%s: the first was due at %d, want %d", step.want, got, dueOf("A", step.first))
			}
		}
	}
}

func TestDisconnect(t *testing.T) {
	h := newHub(t, 2, HubOptions{})
	var ends []*Problem
	s := subscription(t, h, SubscriptionOptions{Queue: 2, OnEnd: func(p *Problem) { ends = append(ends, p) }})
	other := subscribed(t, h, 9, Subscribe{Symbols: []string{"A"}})
	if err := s.Subscribe(Subscribe{Symbols: []string{"A", "B"}, Policy: PolicyDisconnect}); err != nil {
		t.Fatal(err)
	}
	<-s.Ready()
	publish(h, "AB")
	if len(ends) != 0 {
		t.Fatalf("ended while the queue is just full: %v", ends[0])
	}
	publish(h, "BAAB")
	select {
	case <-s.Ready():
	default:
		t.Error("the reader is not told of the end")
	}
	var p *Problem
	for range 2 {
		if err := s.Take(new(Batch), 9); !errors.As(err, &p) || p.Code != CodeSlowConsumer || !p.Fatal {
			t.Errorf("take after the end: %v", err)
		}
	}
	if !slices.Equal(ends, []*Problem{p}) {
		t.Errorf("OnEnd was called with %v, want %v once", ends, p)
	}
	if err := s.Subscribe(Subscribe{Symbols: []string{"A"}}); problemCode(err) != CodeSlowConsumer {
		t.Errorf("subscribe after the end: %v", err)
	}
	if err := s.Unsubscribe(Unsubscribe{Symbols: []string{"A"}}); problemCode(err) != CodeSlowConsumer {
		t.Errorf("unsubscribe after the end: %v", err)
	}
	if got := s.Waiting(); got != 0 {
		t.Errorf("%d ticks wait after the end", got)
	}
	want(t, "another subscription", take(t, other, 9), "A1@1, A2@4, A3@5")
	stats := HubStats{Published: 6, Enqueued: 2 + 3, Disconnected: 1, Subscriptions: 2}
	if got := h.Stats(); got != stats {
		t.Errorf("stats %+v, want %+v", got, stats)
	}
	s.Close()
	if err := s.Take(new(Batch), 9); !errors.Is(err, ErrClosed) {
		t.Errorf("take after close: %v, want %v", err, ErrClosed)
	}
	stats.Subscriptions = 1
	if got := h.Stats(); got != stats || len(ends) != 1 {
		t.Errorf("stats after close %+v, want %+v; OnEnd was called %d times", got, stats, len(ends))
	}
}
