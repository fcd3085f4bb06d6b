package grpcserver

import (
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestSubscribe(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		s := v.subscriber(t, v.connect(t), enc)
		answer := s.subscribed(feed.Subscribe{Symbols: []string{"B"}})
		if len(answer.Symbols) != 1 || answer.Symbols[0] != (feed.SymbolSeq{Symbol: "B", Seq: 1}) || answer.Policy != feed.PolicyConflate {
			t.Errorf("subscribed %+v, want B live after 1 with policy conflate", answer)
		}
		if m := s.next(); m.Snapshot == nil || m.Snapshot.Tick.Symbol != "B" || m.Snapshot.Tick.Seq != 1 || m.Snapshot.Cursor == "" {
			t.Fatalf("after subscribed: %+v, want the snapshot of B at 1 with a cursor", m)
		}
		v.publish(0, 1) // A is not subscribed
		v.publish(1, 5)
		want := uint64(2)
		for want <= 6 {
			for _, tick := range s.next().Ticks {
				if tick.Symbol != "B" || tick.Seq != want || tick.BidPx != 61837_630000000 || tick.PublishNS < tick.DueNS {
					t.Fatalf("tick %+v, want B at %d", tick, want)
				}
				want++
			}
		}
		s.send(&feed.Request{Ping: &feed.Ping{ID: 7}})
		if m := s.next(); m.Heartbeat == nil || m.Heartbeat.PingID != 7 || m.Heartbeat.SentNS == 0 {
			t.Errorf("answer to ping 7: %+v", m)
		}
		s.send(&feed.Request{Unsubscribe: &feed.Unsubscribe{Symbols: []string{"B"}}})
		if m := s.next(); m.Unsubscribed == nil || m.Unsubscribed.Symbols[0] != (feed.SymbolSeq{Symbol: "B", Seq: 6}) {
			t.Errorf("answer to unsubscribe: %+v", m)
		}
	})
}

func TestSymbolWithoutATick(t *testing.T) {
	v := newVenue(t, streams.Options{})
	s := v.subscriber(t, v.connect(t), wire.Protobuf)
	if answer := s.subscribed(feed.Subscribe{Symbols: []string{"QUIET"}}); answer.Symbols[0].Seq != 0 || answer.Cursor == "" {
		t.Errorf("subscribed %+v, want QUIET live after 0 with a cursor", answer)
	}
	v.publish(3, 1)
	if m := s.next(); len(m.Ticks) != 1 || m.Ticks[0].Seq != 1 {
		t.Errorf("%+v, want QUIET's first tick", m)
	}
}

// What is ready together leaves together, in order of hub_seq.
func TestResume(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		cursor := func(hubSeq uint64) string { return feed.Cursor{Epoch: v.hub.Epoch(), HubSeq: hubSeq}.String() }
		v.publish(0, 2) // hub_seq 4, 5
		v.publish(1, 1)
		v.publish(2, 2)
		v.publish(0, 1)
		s := v.subscriber(t, v.connect(t), enc)
		if answer := s.subscribed(feed.Subscribe{Symbols: []string{"A", "C"}, Cursor: cursor(4)}); answer.Cursor != cursor(4) {
			t.Errorf("subscribed %+v, want it to resume from the cursor again", answer)
		}
		ticks := s.next().Ticks
		var got []uint64
		for _, tick := range ticks {
			got = append(got, tick.HubSeq)
		}
		if len(got) != 4 || got[0] != 5 || got[1] != 7 || got[2] != 8 || got[3] != 9 || ticks[1].Symbol != "C" {
			t.Errorf("replayed hub_seq %v in one message, want 5, 7, 8, 9", got)
		}
		v.publish(2, 1)
		if m := s.next(); len(m.Ticks) != 1 || m.Ticks[0].HubSeq != 10 {
			t.Errorf("%+v, want hub_seq 10 live", m)
		}
	})
}

func TestCursors(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		cc := v.connect(t)
		v.publish(0, ring+1)
		for _, test := range []struct {
			name, cursor string
			reason       feed.SkipReason
		}{
			{"another run", "abc123-1", feed.SkipEpoch},
			{"from the future", v.hub.Epoch() + "-99999", feed.SkipGap},
			{"too old", v.hub.Epoch() + "-2", feed.SkipGap},
		} {
			s := v.subscriber(t, cc, enc)
			s.subscribed(feed.Subscribe{Symbols: []string{"A"}, Cursor: test.cursor})
			if k := s.next().Skipped; k == nil || k.Symbol != "A" || k.FromSeq != 0 || k.ToSeq != ring+2 || k.Reason != test.reason {
				t.Errorf("%s: skipped %+v, want all of A for reason %d", test.name, k, test.reason)
			}
			if m := s.next(); m.Snapshot == nil || m.Snapshot.Tick.Seq != ring+2 || m.Snapshot.Cursor == "" {
				t.Errorf("%s: %+v, want the snapshot with a cursor", test.name, m)
			}
		}
		s := v.subscriber(t, cc, enc)
		s.send(&feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{"A"}, Cursor: "yesterday"}})
		_ = s.refused(feed.CodeBadCursor)
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
	})
}

// A client that has closed its side, as grpcurl does at the end of its input,
// goes on receiving.
func TestHalfClose(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		s := v.subscriber(t, v.connect(t), enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
		s.next() // the snapshot
		if err := s.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		for seq := uint64(2); seq < 5; seq++ {
			v.publish(0, 1)
			if m := s.next(); len(m.Ticks) != 1 || m.Ticks[0].Seq != seq {
				t.Fatalf("%+v, want A at %d", m, seq)
			}
		}
		s.cancel()
		v.noSessions(t)
	})
}

func TestThousandStreamsOnOneConnection(t *testing.T) {
	const many = 1000
	v := newVenue(t, streams.Options{})
	cc := v.connect(t)
	all := make([]*subscriber, many)
	for i := range all {
		all[i] = v.subscriber(t, cc, wire.Encodings()[i%2])
		all[i].subscribed(feed.Subscribe{Symbols: []string{"A"}})
		all[i].next() // the snapshot
	}
	if n := v.exchange.Stats().Open; n != many {
		t.Errorf("%d sessions, want %d", n, many)
	}
	v.publish(0, 1)
	for i, s := range all {
		if m := s.next(); len(m.Ticks) != 1 || m.Ticks[0].Seq != 2 {
			t.Fatalf("stream %d: %+v, want A at 2", i, m)
		}
	}
	_ = cc.Close()
	v.noSessions(t)
}
