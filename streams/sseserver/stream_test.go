package sseserver

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestStream(t *testing.T) {
	for _, version := range versions {
		for name, enc := range map[string]wire.Encoding{"json": wire.JSON, "proto": wire.Protobuf, "": wire.JSON} {
			t.Run("HTTP "+version+" "+name, func(t *testing.T) {
				e := start(t, streams.Options{Version: "v-test"})
				e.publish(0)
				query := "?symbol=AAA&symbols=BBB"
				if name != "" {
					query += "&encoding=" + name
				}
				s := e.open(t, version, query, nil)
				for header, want := range map[string]string{
					"Content-Type": "text/event-stream", "Cache-Control": "no-store",
					"X-Accel-Buffering": "no", "Access-Control-Allow-Origin": "*",
				} {
					if got := s.header.Get(header); got != want {
						t.Errorf("%s: %q, want %q", header, got, want)
					}
				}
				if h := s.want(enc, "hello").message.Hello; h == nil || h.Version != "v-test" || h.Epoch != "e0" {
					t.Fatalf("hello %+v", h)
				}
				sub := s.want(enc, "subscribed").message.Subscribed
				if sub == nil || len(sub.Symbols) != 2 || sub.Symbols[0] != (feed.SymbolSeq{Symbol: "AAA", Seq: 1}) ||
					sub.Symbols[1] != (feed.SymbolSeq{Symbol: "BBB"}) || sub.Policy != feed.PolicyConflate {
					t.Fatalf("subscribed %+v", sub)
				}
				snap := s.want(enc, "snapshot")
				if snap.message.Snapshot == nil || snap.message.Snapshot.Tick.Seq != 1 || snap.id != "e0-1" {
					t.Fatalf("snapshot %+v", snap)
				}
				e.publish(1) // hub_seq 2
				e.publish(2) // not of this stream
				e.publish(0) // hub_seq 4
				for i, want := range []struct{ symbol, id string }{{"BBB", "e0-2"}, {"AAA", "e0-4"}} {
					tick := s.want(enc, "tick")
					if len(tick.message.Ticks) != 1 || tick.message.Ticks[0].Symbol != want.symbol || tick.id != want.id ||
						tick.message.Ticks[0].AskSz != 300_000_000 {
						t.Fatalf("tick %d: %+v", i, tick)
					}
				}
				s.cancel()
				eventually(t, "a stream that its client left is closed", func() bool { return e.Stats().Open == 0 })
			})
		}
	}
}

func TestPolicyAsked(t *testing.T) {
	e := start(t, streams.Options{})
	for text, want := range map[string]feed.Policy{
		"conflate": feed.PolicyConflate, "drop-oldest": feed.PolicyDropOldest, "disconnect": feed.PolicyDisconnect, "": feed.PolicyConflate,
	} {
		s := e.open(t, "1.1", "?symbol=AAA&policy="+text, nil)
		s.want(wire.JSON, "hello")
		if got := s.want(wire.JSON, "subscribed").message.Subscribed.Policy; got != want {
			t.Errorf("policy=%s: %d, want %d", text, got, want)
		}
	}
}

func TestResume(t *testing.T) {
	e := start(t, streams.Options{})
	for range 4 {
		e.publish(0)
	}
	header := func(id string) http.Header { return http.Header{"Last-Event-Id": {id}} }
	for name, c := range map[string]struct {
		query  string
		header http.Header
		from   uint64 // the first tick replayed
	}{
		"header":      {"?symbol=AAA", header("e0-2"), 3},
		"header wins": {"?symbol=AAA&cursor=e0-1", header("e0-3"), 4},
		"cursor":      {"?symbol=AAA&cursor=e0-1", nil, 2},
		"no id yet":   {"?symbol=AAA&cursor=e0-2", header(""), 3},
		"encoded":     {"?cursor=e0%2D2&symbol=AAA&encoding=json", nil, 3},
	} {
		for _, version := range versions {
			t.Run(name+" HTTP "+version, func(t *testing.T) {
				s := e.open(t, version, c.query, c.header)
				s.want(wire.JSON, "hello")
				if id := s.want(wire.JSON, "subscribed").id; id == "" {
					t.Error("a resume without gaps has its cursor on subscribed")
				}
				for seq := c.from; seq <= 4; seq++ {
					if got := s.want(wire.JSON, "tick").message.Ticks[0].Seq; got != seq {
						t.Fatalf("seq %d, want %d", got, seq)
					}
				}
			})
		}
	}
	t.Run("another epoch", func(t *testing.T) {
		s := e.open(t, "1.1", "?symbol=AAA", header("ab-2"))
		s.want(wire.JSON, "hello")
		s.want(wire.JSON, "subscribed")
		if sk := s.want(wire.JSON, "skipped").message.Skipped; sk.Reason != feed.SkipEpoch || sk.ToSeq != 4 {
			t.Errorf("skipped %+v", sk)
		}
		if snap := s.want(wire.JSON, "snapshot"); snap.id != "e0-4" {
			t.Errorf("id %q", snap.id)
		}
	})
}

func TestSymbolNames(t *testing.T) {
	for _, version := range versions {
		for i, name := range symbols {
			t.Run(version+" "+name, func(t *testing.T) {
				e := start(t, streams.Options{})
				e.publish(i)
				s := e.open(t, version, "?symbol="+url.QueryEscape(name), nil)
				s.want(wire.JSON, "hello")
				s.want(wire.JSON, "subscribed")
				if got := s.want(wire.JSON, "snapshot").message.Snapshot.Tick.Symbol; got != name {
					t.Errorf("symbol %q, want %q", got, name)
				}
			})
		}
	}
}

func TestHeartbeat(t *testing.T) {
	for _, version := range versions {
		e := start(t, streams.Options{Heartbeat: 20 * time.Millisecond})
		s := e.open(t, version, "?symbol=AAA", nil)
		s.want(wire.JSON, "hello")
		s.want(wire.JSON, "subscribed")
		for range 2 {
			if got := s.want(wire.JSON, "").comment; len(got) < len("heartbeat 1") || got[:10] != "heartbeat " {
				t.Fatalf("comment %q", got)
			}
		}
	}
}
