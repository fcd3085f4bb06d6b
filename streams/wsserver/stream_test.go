package wsserver

import (
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// eachEncoding runs a test over both subprotocols.
func eachEncoding(t *testing.T, test func(t *testing.T, enc wire.Encoding)) {
	for _, enc := range wire.Encodings() {
		t.Run(enc.String(), func(t *testing.T) { test(t, enc) })
	}
}

func TestSubscribe(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		s := v.subscriber(t, enc)
		answer := s.subscribed(feed.Subscribe{Symbols: []string{"B"}})
		if len(answer.Symbols) != 1 || answer.Symbols[0] != (feed.SymbolSeq{Symbol: "B", Seq: 1}) || answer.Policy != feed.PolicyConflate {
			t.Errorf("subscribed %+v, want B live after 1 with policy conflate", answer)
		}
		if m := s.next(); m.Snapshot == nil || m.Snapshot.Tick.Symbol != "B" || m.Snapshot.Tick.Seq != 1 || m.Snapshot.Cursor == "" {
			t.Fatalf("after subscribed: %+v, want the snapshot of B at 1 with a cursor", m)
		}
		v.publish(0) // A is not subscribed
		for range 5 {
			v.publish(1)
		}
		want := uint64(2)
		for want <= 6 {
			for _, tick := range s.next().Ticks {
				if tick.Symbol != "B" || tick.Seq != want || tick.BidPx != 1e9 {
					t.Fatalf("tick %+v, want B at %d", tick, want)
				}
				want++
			}
		}
		s.send(feed.Request{Ping: &feed.Ping{ID: 7}})
		if m := s.next(); m.Heartbeat == nil || m.Heartbeat.PingID != 7 {
			t.Errorf("answer to ping 7: %+v", m)
		}
		s.send(feed.Request{Unsubscribe: &feed.Unsubscribe{Symbols: []string{"B"}}})
		if m := s.next(); m.Unsubscribed == nil {
			t.Errorf("answer to unsubscribe: %+v", m)
		}
		if err := s.ws.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Errorf("close: %v", err)
		}
		eventually(t, "the session has ended", func() bool { return v.exchange.Stats().Open == 0 })
	})
}

func TestResume(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		s := v.subscriber(t, enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A", "C"}})
		var cursor string
		for cursor == "" {
			m := s.next()
			if m.Snapshot == nil {
				t.Fatalf("%+v, want snapshots until the cursor", m)
			}
			cursor = m.Snapshot.Cursor
		}
		_ = s.ws.CloseNow()
		missed := []uint64{v.publish(0), v.publish(2), v.publish(0)}
		v.publish(1) // not of this stream

		s = v.subscriber(t, enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A", "C"}, Cursor: cursor})
		missed = append(missed, v.publish(2)) // live
		for len(missed) > 0 {
			for _, tick := range s.next().Ticks {
				if tick.HubSeq != missed[0] {
					t.Fatalf("tick %+v, want hub_seq %d", tick, missed[0])
				}
				missed = missed[1:]
			}
		}
	})
}

// What cannot be understood is told on the stream, and the stream goes on.
func TestRefusedRequests(t *testing.T) {
	other := map[websocket.MessageType]websocket.MessageType{
		websocket.MessageText: websocket.MessageBinary, websocket.MessageBinary: websocket.MessageText}
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		s := v.subscriber(t, enc)
		good, err := wire.AppendRequest(nil, enc, &feed.Request{Ping: &feed.Ping{ID: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name   string
			frames websocket.MessageType
			data   []byte
			says   string
		}{
			{"malformed", s.frames, []byte("\xff{ping"), "decode"},
			{"empty", s.frames, nil, "decode"},
			{"cut short", s.frames, good[:len(good)-1], "decode"},
			{"wrong frame", other[s.frames], good, s.subprotocol + " takes " + kind(s.frames) + " frames"},
		} {
			s.sendRaw(test.frames, test.data)
			m := s.next()
			if p := m.Problem; p == nil || p.Code != feed.CodeBadRequest || p.Fatal || !strings.Contains(p.Message, test.says) {
				t.Errorf("%s: %+v, want %s that says %q", test.name, p, feed.CodeBadRequest, test.says)
			}
		}
		s.send(feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{"A", "nobody"}}})
		if p := s.next().Problem; p == nil || p.Code != feed.CodeUnknownSymbol || p.Symbol != "nobody" || p.Fatal {
			t.Errorf("unknown symbol: %+v", p)
		}
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
	})
}

func TestOversize(t *testing.T) {
	const limit = 1000
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{Limits: feed.Limits{MaxMessageBytes: limit}})
		s := v.subscriber(t, enc)
		s.sendRaw(s.frames, []byte(strings.Repeat(" ", limit)))
		if p := s.next().Problem; p == nil || p.Code != feed.CodeBadRequest {
			t.Errorf("a message of the limit: %+v, want it read", p)
		}
		sent := make(chan struct{})
		go func() { // it is still being sent when the answer comes
			defer close(sent)
			s.sendRaw(s.frames, make([]byte, 100*limit))
		}()
		told, end := s.ended()
		if told == nil || told.Code != feed.CodeTooLarge || end.Code != websocket.StatusMessageTooBig {
			t.Errorf("told %+v, closed with %v, want %s and 1009", told, end, feed.CodeTooLarge)
		}
		<-sent
	})
}
