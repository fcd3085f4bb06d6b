package feed

import (
	"fmt"
	"strings"
	"testing"
)

// TestResume resumes A and B, of which a ring of two has evicted A2@3 last and
// nothing of B.
func TestResume(t *testing.T) {
	for _, c := range []struct{ cursor, want string }{
		{"e-6", "subscribed A4 B2 conflate after 6"},
		{"e-5", "subscribed A4 B2 conflate after 5, A4@6"},
		{"e-4", "subscribed A4 B2 conflate after 4, B2@5, A4@6"},
		{"e-3", "subscribed A4 B2 conflate after 3, A3@4, B2@5, A4@6"},
		{"e-2", "subscribed A4 B2 conflate after 2, skipped A0-4 gap, snapshot A4 after 4, B2@5"},
		{"e-1", "subscribed A4 B2 conflate after 1, skipped A0-4 gap, snapshot A4 after 1, B1@2, B2@5"},
		{"e-0", "subscribed A4 B2 conflate after 0, skipped A0-4 gap, snapshot A4 after 1, B1@2, B2@5"},
		{"e-7", "subscribed A4 B2 conflate, skipped A0-4 gap, skipped B0-2 gap, snapshot A4, snapshot B2 after 6"},
		{"e-18446744073709551615", "subscribed A4 B2 conflate, skipped A0-4 gap, skipped B0-2 gap, snapshot A4, snapshot B2 after 6"},
		{"f-3", "subscribed A4 B2 conflate, skipped A0-4 epoch, skipped B0-2 epoch, snapshot A4, snapshot B2 after 6"},
		{"f-9", "subscribed A4 B2 conflate, skipped A0-4 epoch, skipped B0-2 epoch, snapshot A4, snapshot B2 after 6"},
	} {
		h := newHub(t, 2, HubOptions{Epoch: "e", Ring: 2})
		publish(h, "ABAABA")
		s := subscription(t, h, SubscriptionOptions{Queue: 1})
		if err := s.Subscribe(Subscribe{Symbols: []string{"A", "B"}, Cursor: c.cursor}); err != nil {
			t.Fatal(err)
		}
		want(t, "to resume after "+c.cursor, take(t, s, 9), c.want)
		publish(h, "BA")
		want(t, "live after "+c.cursor, take(t, s, 9), "B3@7, A5@8")
	}
}

func TestResumeSymbolWithNoTick(t *testing.T) {
	for cursor, answer := range map[string]string{
		"e-0": "subscribed C0 conflate after 1",
		"e-1": "subscribed C0 conflate after 1",
		"e-2": "subscribed C0 conflate, skipped C0-0 gap after 1",
		"f-0": "subscribed C0 conflate, skipped C0-0 epoch after 1",
	} {
		h := newHub(t, 3, HubOptions{Epoch: "e"})
		publish(h, "A")
		s := subscription(t, h, SubscriptionOptions{})
		if err := s.Subscribe(Subscribe{Symbols: []string{"C"}, Cursor: cursor}); err != nil {
			t.Fatal(err)
		}
		want(t, "to resume after "+cursor, take(t, s, 9), answer)
	}
}

// TestResumeBesideLiveSymbols resumes B on a stream on which ticks of A wait.
func TestResumeBesideLiveSymbols(t *testing.T) {
	h := newHub(t, 2, HubOptions{Epoch: "e"})
	s := subscribed(t, h, 9, Subscribe{Symbols: []string{"A"}})
	publish(h, "ABBABA")
	take(t, s, 1)
	if err := s.Subscribe(Subscribe{Symbols: []string{"B"}, Cursor: "e-2"}); err != nil {
		t.Fatal(err)
	}
	publish(h, "AB")
	want(t, "the stream", take(t, s, 9), "subscribed B3 conflate after 2, B2@3, A2@4, B3@5, A3@6, A4@7, B4@8")
}

// TestResumeIsSafeInTheMiddleOfTheAnswer is the counterexample that put a cursor
// on Subscribed: a client that has A up to 5, resumes B and C of an older stream
// and loses the connection after the answer's first message. Going on from A's
// last tick it would miss B2, which the answer had still to bring.
func TestResumeIsSafeInTheMiddleOfTheAnswer(t *testing.T) {
	h := newHub(t, 3, HubOptions{Epoch: "e", Ring: 1})
	publish(h, "BCC")
	s := subscribed(t, h, 9, Subscribe{Symbols: []string{"A"}})
	publish(h, "BA")
	want(t, "the stream of A", take(t, s, 9), "A1@5")
	if err := s.Subscribe(Subscribe{Symbols: []string{"B", "C"}, Cursor: "e-1"}); err != nil {
		t.Fatal(err)
	}
	want(t, "to resume B and C", take(t, s, 9), "subscribed B2 C2 conflate after 1, skipped C0-2 gap, snapshot C2 after 3, B2@4")

	// Where a tick of A waits that is older than the cursor, it goes no further.
	publish(h, "ACC")
	if err := s.Unsubscribe(Unsubscribe{Symbols: []string{"B", "C"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Subscribe(Subscribe{Symbols: []string{"B", "C"}, Cursor: "e-6"}); err != nil {
		t.Fatal(err)
	}
	want(t, "to resume from ahead of A", take(t, s, 9), "unsubscribed B2 C2, subscribed B2 C4 conflate after 5, skipped C0-4 gap, snapshot C4 after 5, A2@6")
}

// TestReplayHasPlaces has a replay that is longer than the queue, and the policy
// wait until both are full.
func TestReplayHasPlaces(t *testing.T) {
	h := newHub(t, 1, HubOptions{Epoch: "e", Ring: 4})
	publish(h, "AAAA")
	s := subscription(t, h, SubscriptionOptions{Queue: 2})
	if err := s.Subscribe(Subscribe{Symbols: []string{"A"}, Cursor: "e-0", Policy: PolicyDropOldest}); err != nil {
		t.Fatal(err)
	}
	publish(h, "AAA")
	want(t, "a full queue", take(t, s, 9), "subscribed A4 drop after 0, skipped A1-1 dropped, A2@2, A3@3, A4@4, A5@5, A6@6, A7@7")
	publish(h, "AAA")
	want(t, "the queue without a replay", take(t, s, 9), "skipped A8-8 dropped, A9@9, A10@10")
}

// TestQueueIsBounded resumes again and again without reading, which must not
// give the queue more places each time.
func TestQueueIsBounded(t *testing.T) {
	for _, policy := range []Policy{PolicyConflate, PolicyDropOldest} {
		const queue, ring = 4, 8
		h := newHub(t, 2, HubOptions{Epoch: "e", Ring: ring})
		s := subscribed(t, h, queue, Subscribe{Symbols: []string{"A"}, Policy: policy})
		for range 50 {
			publish(h, "BBBBBBBB")
			if err := s.Subscribe(Subscribe{Symbols: []string{"B"}, Cursor: fmt.Sprintf("e-%d", h.hubSeq-ring)}); err != nil {
				t.Fatal(err)
			}
			publish(h, strings.Repeat("A", 8*ring)) // enough to displace all of B
			if got, most := s.Waiting(), queue+3*ring; got > most {
				t.Fatalf("policy %d: %d ticks wait, want at most %d", policy, got, most)
			}
			if err := s.Unsubscribe(Unsubscribe{Symbols: []string{"B"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestControlIsBounded(t *testing.T) {
	h := newHub(t, 1, HubOptions{})
	publish(h, "A")
	s := subscription(t, h, SubscriptionOptions{})
	var err error
	requests := 0
	for ; err == nil && requests < 2*maxControl; requests++ {
		if requests%2 == 0 {
			err = s.Subscribe(Subscribe{Symbols: []string{"A"}})
		} else {
			err = s.Unsubscribe(Unsubscribe{Symbols: []string{"A"}})
		}
	}
	if problemCode(err) != CodeRateLimited {
		t.Fatalf("after %d requests that nobody read: %v, want %s", requests, err, CodeRateLimited)
	}
	var b Batch
	if err := s.Take(&b, 1); err != nil || len(b.Control) > maxControl+2 {
		t.Fatalf("%d answers waited, %v; want at most %d", len(b.Control), err, maxControl+2)
	}
	// Read, it takes requests again.
	if requests%2 == 1 {
		err = s.Subscribe(Subscribe{Symbols: []string{"A"}})
	} else {
		err = s.Unsubscribe(Unsubscribe{Symbols: []string{"A"}})
	}
	if err != nil {
		t.Errorf("after the answers were read: %v", err)
	}
}
