package feed

import (
	"errors"
	"testing"
)

// subscribed returns a subscription whose answer has been taken.
func subscribed(t failer, h *Hub, queue int, req Subscribe) *Subscription {
	t.Helper()
	s := subscription(t, h, SubscriptionOptions{Queue: queue})
	if err := s.Subscribe(req); err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	take(t, s, 0)
	return s
}

func want(t failer, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s brings\n\t%s, want\n\t%s", what, got, want)
	}
}

func TestSubscribeAnswers(t *testing.T) {
	h := newHub(t, 3, HubOptions{})
	publish(h, "AAB")
	s := subscription(t, h, SubscriptionOptions{})
	if err := s.Subscribe(Subscribe{Symbols: []string{"A", "C", "B"}}); err != nil {
		t.Fatal(err)
	}
	publish(h, "CA")
	want(t, "a first subscribe", take(t, s, 9), "subscribed A2 C0 B1 conflate, snapshot A2, snapshot B1 after 3, C1@4, A3@5")
	want(t, "a second take", take(t, s, 9), "")
	publish(h, "BC")
	want(t, "a take of one", take(t, s, 1), "B2@6")
	want(t, "a take of the other", take(t, s, 1), "C2@7")

	quiet := subscription(t, newHub(t, 1, HubOptions{}), SubscriptionOptions{})
	if err := quiet.Subscribe(Subscribe{Symbols: []string{"A"}, Policy: PolicyDropOldest}); err != nil {
		t.Fatal(err)
	}
	want(t, "a symbol with no tick", take(t, quiet, 9), "subscribed A0 drop after 0")
}

func TestSecondSubscribe(t *testing.T) {
	h := newHub(t, 3, HubOptions{})
	publish(h, "AB")
	s := subscribed(t, h, 9, Subscribe{Symbols: []string{"A"}})
	publish(h, "AABA")
	if err := s.Subscribe(Subscribe{Symbols: []string{"B"}}); err != nil {
		t.Fatal(err)
	}
	publish(h, "BA")
	// What is said goes before what waits, so its cursor stands before the first waiting tick.
	want(t, "a second subscribe", take(t, s, 2), "subscribed B2 conflate, snapshot B2 after 2, A2@3, A3@4")
	want(t, "the rest", take(t, s, 9), "A4@6, B3@7, A5@8")
}

func TestRefusedRequestsChangeNothing(t *testing.T) {
	var cursor = Cursor{Epoch: "e"}.String()
	for _, c := range []struct {
		name        string
		subscribe   *Subscribe
		unsubscribe *Unsubscribe
		code        ProblemCode
		symbol      string
	}{
		{"nothing", &Subscribe{}, nil, CodeBadRequest, ""},
		{"an unknown symbol", &Subscribe{Symbols: []string{"Z"}}, nil, CodeUnknownSymbol, "Z"},
		{"an unknown symbol after a known", &Subscribe{Symbols: []string{"B", "Z"}}, nil, CodeUnknownSymbol, "Z"},
		{"an unknown symbol to resume", &Subscribe{Symbols: []string{"B", "Z"}, Cursor: cursor}, nil, CodeUnknownSymbol, "Z"},
		{"a symbol again", &Subscribe{Symbols: []string{"B", "A"}}, nil, CodeAlreadySubscribed, "A"},
		{"a symbol twice", &Subscribe{Symbols: []string{"B", "B"}}, nil, CodeAlreadySubscribed, "B"},
		{"no cursor", &Subscribe{Symbols: []string{"B"}, Cursor: "7"}, nil, CodeBadCursor, ""},
		{"another policy", &Subscribe{Symbols: []string{"B"}, Policy: PolicyConflate}, nil, CodeBadRequest, ""},
		{"to end nothing", nil, &Unsubscribe{}, CodeBadRequest, ""},
		{"to end an unknown symbol", nil, &Unsubscribe{Symbols: []string{"Z"}}, CodeNotSubscribed, "Z"},
		{"to end another symbol", nil, &Unsubscribe{Symbols: []string{"A", "B"}}, CodeNotSubscribed, "B"},
		{"to end a symbol twice", nil, &Unsubscribe{Symbols: []string{"A", "A"}}, CodeNotSubscribed, "A"},
	} {
		h := newHub(t, 3, HubOptions{Epoch: "e"})
		publish(h, "AB")
		s := subscribed(t, h, 9, Subscribe{Symbols: []string{"A"}, Policy: PolicyDropOldest})
		var err error
		if c.subscribe != nil {
			err = s.Subscribe(*c.subscribe)
		} else {
			err = s.Unsubscribe(*c.unsubscribe)
		}
		var p *Problem
		if !errors.As(err, &p) || p.Code != c.code || p.Symbol != c.symbol || p.Fatal || p.Message == "" {
			t.Errorf("%s: %+v, want a problem %s of symbol %q", c.name, err, c.code, c.symbol)
		}
		publish(h, "BA")
		want(t, c.name, take(t, s, 9), "A2@4")
		if err := s.Subscribe(Subscribe{Symbols: []string{"B"}, Policy: PolicyDropOldest}); err != nil {
			t.Errorf("after %s: %v", c.name, err)
		}
	}
}

func TestPolicyIsThatOfTheFirstSubscribe(t *testing.T) {
	h := newHub(t, 3, HubOptions{})
	s := subscription(t, h, SubscriptionOptions{})
	steps := []struct {
		req  Subscribe
		code ProblemCode
	}{
		// What is refused does not count as the first one.
		{Subscribe{Symbols: []string{"Z"}, Policy: PolicyDisconnect}, CodeUnknownSymbol},
		{Subscribe{Symbols: []string{"A"}, Policy: PolicyDropOldest}, ""},
		{Subscribe{Symbols: []string{"B"}, Policy: PolicyDisconnect}, CodeBadRequest},
		{Subscribe{Symbols: []string{"B"}, Policy: PolicyDropOldest}, ""},
		{Subscribe{Symbols: []string{"C"}}, ""},
	}
	for _, step := range steps {
		if err := s.Subscribe(step.req); problemCode(err) != step.code {
			t.Errorf("subscribe %+v: %v, want %q", step.req, err, step.code)
		}
	}
	want(t, "the stream", take(t, s, 9), "subscribed A0 drop after 0, subscribed B0 drop after 0, subscribed C0 drop after 0")

	// The policy stays when the symbols have gone, and the default is one too.
	d := subscribed(t, h, 9, Subscribe{Symbols: []string{"A"}})
	if err := d.Unsubscribe(Unsubscribe{Symbols: []string{"A"}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Subscribe(Subscribe{Symbols: []string{"A"}, Policy: PolicyDropOldest}); problemCode(err) != CodeBadRequest {
		t.Errorf("the default policy was changed: %v", err)
	}
}

func TestUnsubscribe(t *testing.T) {
	h := newHub(t, 3, HubOptions{})
	s := subscribed(t, h, 9, Subscribe{Symbols: []string{"A", "B", "C"}})
	publish(h, "ABCABC")
	take(t, s, 1)
	if err := s.Unsubscribe(Unsubscribe{Symbols: []string{"B", "A"}}); err != nil {
		t.Fatal(err)
	}
	publish(h, "ABC")
	// B had its first tick waiting, A its second: they are forgotten, C's are not.
	want(t, "an unsubscribe", take(t, s, 9), "unsubscribed B0 A1, C1@3, C2@6, C3@9")
	if got := s.Waiting(); got != 0 {
		t.Errorf("%d ticks wait, want none", got)
	}
	if err := s.Subscribe(Subscribe{Symbols: []string{"A"}}); err != nil {
		t.Fatal(err)
	}
	publish(h, "BA")
	want(t, "another subscribe", take(t, s, 9), "subscribed A3 conflate, snapshot A3 after 9, A4@11")
}

// TestUnsubscribeAfterASkip has the skip of the old life before its end, and the
// new life start with none.
func TestUnsubscribeAfterASkip(t *testing.T) {
	h := newHub(t, 1, HubOptions{})
	s := subscribed(t, h, 1, Subscribe{Symbols: []string{"A"}})
	publish(h, "AAA")
	if err := s.Unsubscribe(Unsubscribe{Symbols: []string{"A"}}); err != nil {
		t.Fatal(err)
	}
	publish(h, "A")
	if err := s.Subscribe(Subscribe{Symbols: []string{"A"}}); err != nil {
		t.Fatal(err)
	}
	publish(h, "AA")
	want(t, "the stream", take(t, s, 9),
		"skipped A1-2 conflated, unsubscribed A2, subscribed A4 conflate, snapshot A4 after 4, skipped A5-5 conflated, A6@6")
}

func TestClose(t *testing.T) {
	h := newHub(t, 2, HubOptions{})
	s := subscribed(t, h, 9, Subscribe{Symbols: []string{"A", "B"}})
	other := subscribed(t, h, 9, Subscribe{Symbols: []string{"A"}})
	<-s.Ready()
	s.Close()
	select {
	case <-s.Ready():
	default:
		t.Error("the reader is not told of the end")
	}
	publish(h, "AB")
	for name, err := range map[string]error{
		"take": s.Take(new(Batch), 1), "subscribe": s.Subscribe(Subscribe{Symbols: []string{"A"}}),
		"unsubscribe": s.Unsubscribe(Unsubscribe{Symbols: []string{"A"}}),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s of a closed subscription: %v, want %v", name, err, ErrClosed)
		}
	}
	s.Close()
	want(t, "another subscription", take(t, other, 9), "A1@1")
	if got, want := h.Stats(), (HubStats{Published: 2, Enqueued: 1, Subscriptions: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}
