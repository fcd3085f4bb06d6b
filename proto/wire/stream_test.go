package wire

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func TestStreamRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want, got := drawEncoding(t), drawStreamRequest(t), drawStreamRequest(t)
		got.Padding = "of before"
		data, err := AppendStreamRequest([]byte("before"), enc, &want)
		data = must(t, data, err)
		if err := UnmarshalStreamRequest(enc, data[6:], &got); err != nil {
			t.Fatalf("%v\n%q", err, data)
		}
		spoil(data)
		if !sameStreamRequest(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		plain, err := AppendRequest(nil, enc, &want.Feed)
		if want.Order.Action == order.ActionNone {
			again, err := AppendStreamRequest(nil, enc, &want)
			if string(must(t, again, err)) != string(must(t, plain, err)) {
				t.Fatalf("market data is otherwise: %q and %q", again, plain)
			}
		} else if err == nil {
			t.Fatalf("an order was taken for %+v", want.Feed)
		}
	})
}

func TestStreamMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want, got := drawEncoding(t), drawStreamMessage(t), drawStreamMessage(t)
		before := got.Execution
		var kept order.Execution
		if before != nil {
			kept = *before
		}
		data, err := AppendStreamMessage([]byte("before"), enc, &want)
		data = must(t, data, err)
		if err := UnmarshalStreamMessage(enc, data[6:], &got); err != nil {
			t.Fatalf("%v\n%q", err, data)
		}
		spoil(data)
		if !sameStreamMessage(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		if before != nil && *before != kept {
			t.Fatalf("an execution of before became %+v", *before)
		}
	})
}

func TestExecutionEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want, got := drawEncoding(t), drawExecution(t), drawStreamMessage(t)
		event, err := AppendExecutionEvent(nil, enc, &want)
		data := eventData(t, must(t, event, err))
		if err := UnmarshalStreamEventData(enc, data, &got); err != nil || !sameStreamMessage(got, StreamMessage{Execution: &want}) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		var m feed.Message
		if err := UnmarshalEventData(enc, data, &m); err != nil || !sameMessage(m, feed.Message{}) {
			t.Fatalf("where there is no place for one: %+v, %v", m, err)
		}
	})
	m := StreamMessage{Execution: &order.Execution{}}
	wantError(t, UnmarshalStreamEventData(Protobuf, []byte("?"), &m), "base64")
	if m.Execution != nil {
		t.Error("an execution of before was left")
	}
}

func TestStreamRefuses(t *testing.T) {
	e := order.Execution{}
	for _, enc := range Encodings() {
		for want, q := range map[string]StreamRequest{
			"want exactly one of subscribe, unsubscribe, ping, execute, cancel, replace": {},
			"want exactly one of subscribe,":                                             {Feed: feed.Request{Ping: &feed.Ping{}}, Order: order.Request{Action: order.ActionCancel}},
			"want exactly one of":                                                        {Feed: feed.Request{Ping: &feed.Ping{}, Subscribe: &feed.Subscribe{}}},
			"afterReportSeq":                                                             {Feed: feed.Request{Subscribe: &feed.Subscribe{AfterReportSeq: 3}}},
		} {
			got, err := AppendStreamRequest([]byte("before"), enc, &q)
			wantError(t, err, want)
			if string(got) != "before" {
				t.Errorf("%s: dst came back as %q", want, got)
			}
		}
		for _, m := range []feed.Message{{Ticks: []feed.Tick{{}}}, {Problem: &feed.Problem{}}} {
			_, err := AppendStreamMessage(nil, enc, &StreamMessage{Feed: m, Execution: &e})
			wantError(t, err, "several of")
		}
	}
}
