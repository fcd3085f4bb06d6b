package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestStreamSaysHelloSubscribedSnapshotThenLive(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA", "BBB"}, 0, streams.Options{Version: "v-test"})
		v.publish(0, 3)
		want, _, _ := v.hub.Newest("AAA")
		j := newJournal()
		before := feed.Now()
		if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: []string{"AAA", "BBB"}}); err != nil {
			t.Fatal(err)
		}
		j.await(t, "snapshot", func(j *journal) bool { return len(j.messages) >= 3 })
		v.publish(0, 2)
		v.publish(1, 1)
		j.await(t, "live ticks", func(j *journal) bool { return len(j.ticks("AAA")) == 2 && len(j.ticks("BBB")) == 1 })
		j.mu.Lock()
		defer j.mu.Unlock()
		hello := j.messages[0].Hello
		if hello == nil || hello.Version != "v-test" || hello.Epoch != v.hub.Epoch() || hello.BootID != feed.BootID() || hello.Limits.MaxSymbolsPerStream != streams.DefaultMaxSymbolsPerStream {
			t.Fatalf("first message %+v, want the hello", j.messages[0])
		}
		subscribed := j.messages[1].Subscribed
		if subscribed == nil || !reflect.DeepEqual(subscribed.Symbols, []feed.SymbolSeq{{Symbol: "AAA", Seq: 3}, {Symbol: "BBB"}}) || subscribed.Policy != feed.PolicyConflate {
			t.Fatalf("second message %+v, want subscribed", j.messages[1])
		}
		snapshot := j.messages[2].Snapshot
		if snapshot == nil || snapshot.Tick != want {
			t.Fatalf("third message %+v, want the snapshot %+v", j.messages[2], want)
		}
		if c := (feed.Cursor{Epoch: v.hub.Epoch(), HubSeq: 3}).String(); snapshot.Cursor != c {
			t.Errorf("snapshot's cursor %q, want %q", snapshot.Cursor, c)
		}
		ticks := j.ticks("AAA")
		if ticks[0].Seq != 4 || ticks[1].Seq != 5 {
			t.Errorf("live ticks %d and %d, want 4 and 5", ticks[0].Seq, ticks[1].Seq)
		}
		newest, _, _ := v.hub.Newest("AAA")
		if ticks[1] != newest {
			t.Errorf("live tick %+v, the hub has %+v", ticks[1], newest)
		}
		for i, s := range j.stamps {
			if s.ReceivedNS < before || s.DecodedNS < s.ReceivedNS || s.DecodedNS > feed.Now() {
				t.Errorf("message %d: received at %d, decoded at %d", i, s.ReceivedNS, s.DecodedNS)
			}
		}
	})
}

func TestStrangeSymbolNames(t *testing.T) {
	names := []string{"BTC/USD", "A,B", "two words", "100%", "a+b&c=d?e#f", "../up", "Ünï", "%2F"}
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, names, 0, streams.Options{})
		for i := range names {
			v.publish(i, i+1)
		}
		listed, err := tr.listSymbols(t.Context(), v.target(tr), nil)
		if err != nil || len(listed) != len(names) {
			t.Fatalf("listed %v, %v", listed, err)
		}
		j := newJournal()
		if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: names}); err != nil {
			t.Fatal(err)
		}
		j.await(t, "snapshots", func(j *journal) bool { return len(j.messages) == 2+len(names) })
		for i, name := range names {
			if s := j.messages[2+i].Snapshot; s == nil || s.Tick.Symbol != name || s.Tick.Seq != uint64(i+1) {
				t.Errorf("snapshot %d is %+v, want %q", i, j.messages[2+i], name)
			}
		}
	})
}

func TestRefusedSubscribes(t *testing.T) {
	cases := []struct {
		name string
		req  feed.Subscribe
		code feed.ProblemCode
	}{
		{"unknown symbol", feed.Subscribe{Symbols: []string{"AAA", "NOPE"}}, feed.CodeUnknownSymbol},
		{"same symbol twice", feed.Subscribe{Symbols: []string{"AAA", "AAA"}}, feed.CodeAlreadySubscribed},
		{"malformed cursor", feed.Subscribe{Symbols: []string{"AAA"}, Cursor: "yesterday"}, feed.CodeBadCursor},
		{"too many symbols", feed.Subscribe{Symbols: []string{"AAA", "BBB", "CCC"}}, feed.CodeTooManySymbols},
	}
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA", "BBB", "CCC"}, 0, streams.Options{Limits: feed.Limits{MaxSymbolsPerStream: 2}})
		for _, c := range cases {
			if p := refusal(t, v, tr, enc, c.req); p.Code != c.code {
				t.Errorf("%s: %v, want %s", c.name, p, c.code)
			}
		}
		j := newJournal() // the exchange goes on
		if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
			t.Fatal(err)
		}
		v.publish(0, 1)
		j.await(t, "tick", func(j *journal) bool { return len(j.ticks("AAA")) == 1 })
	})
}

func TestLimitOfStreams(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{Limits: feed.Limits{MaxStreams: 1}})
		req := feed.Subscribe{Symbols: []string{"AAA"}}
		if _, err := open(t, v, tr, enc, newJournal(), req); err != nil {
			t.Fatal(err)
		}
		_, err := open(t, v, tr, enc, newJournal(), req)
		if err == nil {
			t.Fatal("a second stream opened, the limit is 1")
		}
		if got := v.exchange.Stats(); got.Refused != 1 || got.Open != 1 {
			t.Errorf("stats %+v, want one refused and one open (error was %v)", got, err)
		}
	})
}

func TestResume(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA", "BBB"}, 4, streams.Options{})
		v.publish(0, 2) // hub_seq 1, 2
		v.publish(1, 3) // 3, 4, 5
		cursor := func(hubSeq uint64) string { return feed.Cursor{Epoch: v.hub.Epoch(), HubSeq: hubSeq}.String() }
		both := []string{"AAA", "BBB"}
		resume := func(c string, done func(j *journal) bool) *journal {
			j := newJournal()
			if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: both, Cursor: c}); err != nil {
				t.Fatal(err)
			}
			j.await(t, "resumed ticks", done)
			return j
		}
		j := resume(cursor(1), func(j *journal) bool { return len(j.ticks("AAA")) == 1 && len(j.ticks("BBB")) == 3 })
		if got := j.ticks("AAA")[0]; got.Seq != 2 || got.HubSeq != 2 {
			t.Errorf("replayed %+v, want seq 2", got)
		}
		v.publish(0, 3) // 6, 7, 8: the ring of 4 has lost hub_seq 1
		skips := func(j *journal) (out []*feed.Skipped) {
			for _, m := range j.messages {
				if m.Skipped != nil {
					out = append(out, m.Skipped)
				}
			}
			return out
		}
		j = resume(cursor(0), func(j *journal) bool { return len(skips(j)) == 1 && len(j.ticks("BBB")) == 3 })
		if s := skips(j)[0]; s.Symbol != "AAA" || s.Reason != feed.SkipGap || s.FromSeq != 0 || s.ToSeq != 5 {
			t.Errorf("skipped %+v, want AAA to 5 for a gap", s)
		}
		for c, reason := range map[string]feed.SkipReason{cursor(99): feed.SkipGap, "abc123-7": feed.SkipEpoch} {
			j = resume(c, func(j *journal) bool { return len(skips(j)) == 2 && len(j.messages) == 6 })
			for _, s := range skips(j) {
				if s.Reason != reason {
					t.Errorf("cursor %s: %+v, want reason %d", c, s, reason)
				}
			}
			if last := j.messages[5].Snapshot; last == nil || last.Cursor != cursor(8) {
				t.Errorf("cursor %s: last message %+v, want a snapshot with the cursor", c, j.messages[5])
			}
		}
	})
}

func TestSlowReaderIsConflatedAndToldSo(t *testing.T) {
	const ticks = 200_000 // more than any socket buffer holds
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 1, streams.Options{Limits: feed.Limits{QueueTicks: 8}})
		j := newJournal()
		if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
			t.Fatal(err)
		}
		pause := make(chan struct{})
		j.mu.Lock()
		j.pause = pause
		j.mu.Unlock()
		v.publish(0, ticks)
		if got := v.hub.Stats(); got.Conflated == 0 {
			t.Errorf("nothing was conflated: %+v", got)
		}
		close(pause)
		last := func(j *journal) uint64 {
			got := j.ticks("AAA")
			if len(got) == 0 {
				return 0
			}
			return got[len(got)-1].Seq
		}
		j.await(t, "the newest tick", func(j *journal) bool { return len(j.messages) > 0 && j.lastMessageHas(ticks) && last(j) == ticks })
		j.mu.Lock()
		defer j.mu.Unlock()
		next, skipped := uint64(1), int64(0)
		for _, m := range j.messages {
			if s := m.Skipped; s != nil {
				if s.FromSeq != next || s.Reason != feed.SkipConflated || s.FirstDueNS == 0 {
					t.Fatalf("skipped %+v, want from %d", s, next)
				}
				next = s.ToSeq + 1
				skipped += int64(s.ToSeq-s.FromSeq) + 1
			}
			for _, tick := range m.Ticks {
				if tick.Seq != next {
					t.Fatalf("tick %d, want %d", tick.Seq, next)
				}
				next++
			}
		}
		if got := v.hub.Stats().Conflated; got != skipped {
			t.Errorf("%d skipped on the wire, the hub conflated %d", skipped, got)
		}
	})
}

// lastMessageHas spares await the scan of all messages.
func (j *journal) lastMessageHas(seq uint64) bool {
	m := j.messages[len(j.messages)-1]
	return len(m.Ticks) > 0 && m.Ticks[len(m.Ticks)-1].Seq == seq
}

func TestSlowReaderWithPolicyDisconnectIsEnded(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 1, streams.Options{Limits: feed.Limits{QueueTicks: 8}})
		j := newJournal()
		if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: []string{"AAA"}, Policy: feed.PolicyDisconnect}); err != nil {
			t.Fatal(err)
		}
		v.publish(0, 200_000)
		j.await(t, "end", func(j *journal) bool { return j.ended })
		if j.err == nil {
			t.Error("the stream ended without an error")
		}
		if got := v.hub.Stats(); got.Disconnected != 1 {
			t.Errorf("stats %+v, want one disconnected", got)
		}
	})
}

func TestShutdownTellsStreams(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{})
		j := newJournal()
		if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
			t.Fatal(err)
		}
		v.publish(0, 1)
		v.stop()
		j.await(t, "end", func(j *journal) bool { return j.ended })
		var p *feed.Problem
		if !errors.As(j.err, &p) || p.Code != feed.CodeShuttingDown || j.problem() == nil {
			t.Errorf("ended with %v, want SHUTTING_DOWN", j.err)
		}
		if len(j.ticks("AAA")) != 1 {
			t.Errorf("%d ticks before the end, want 1", len(j.ticks("AAA")))
		}
	})
}

func TestSharedConnectionsAreHeldTo(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		const streamsEach, connections = 300, 2 // past net/http's 250 a connection
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{})
		dialer, err := tr.dialer(v.target(tr), dialOptions{encoding: enc})
		if err != nil {
			t.Fatal(err)
		}
		each := streamsEach
		if !tr.shares {
			each = 1
		}
		j := newJournal()
		for c := range connections {
			conn, err := dialer.Dial(t.Context(), c, j)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			for s := range each {
				if err := conn.Open(t.Context(), c*each+s, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
					t.Fatal(fmt.Errorf("stream %d of connection %d: %w", s, c, err))
				}
			}
		}
		v.publish(0, 1)
		j.await(t, "a tick on every stream", func(j *journal) bool { return len(j.ticks("AAA")) == connections*each })
		if got := v.traffic.Count(); got.Accepted != connections {
			t.Errorf("%d connections, want %d", got.Accepted, connections)
		}
	})
}

func TestCloseByTheClientEndsWithoutError(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{})
		j := newJournal()
		conn, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: []string{"AAA"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if !j.ended || j.err != nil {
			t.Errorf("ended %v with %v, want an end without error", j.ended, j.err)
		}
		waitFor(t, "the exchange to let go of the stream", func() bool { return v.exchange.Stats().Open == 0 && v.hub.Stats().Subscriptions == 0 })
	})
}

func TestTargetIsNoExchange(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{})
		wrong := v.http // the other protocol
		if !tr.overGRPC {
			wrong = v.grpc
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		dialer, err := tr.dialer(wrong, dialOptions{encoding: enc})
		if err != nil {
			t.Fatal(err)
		}
		j := newJournal()
		var conn clients.Conn
		if conn, err = dialer.Dial(ctx, 0, j); err == nil {
			err = conn.Open(ctx, 0, feed.Subscribe{Symbols: []string{"AAA"}})
			_ = conn.Close()
		}
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want one at once", err)
		}
		if _, err := tr.listSymbols(ctx, wrong, nil); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("list symbols: %v, want an error at once", err)
		}
	})
}
