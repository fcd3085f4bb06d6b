package wire

import (
	"math"
	"reflect"
	"time"

	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
)

// The generators make every value that the wire has room for. Empty slices are
// nil, as the decoders make them.

func drawTick(t *rapid.T) feed.Tick {
	return feed.Tick{
		Symbol:       rapid.String().Draw(t, "symbol"),
		Seq:          rapid.Uint64().Draw(t, "seq"),
		HubSeq:       rapid.Uint64().Draw(t, "hubSeq"),
		DueNS:        rapid.Int64().Draw(t, "dueNs"),
		PublishNS:    rapid.Int64().Draw(t, "publishNs"),
		ExchangeTSNS: rapid.Int64().Draw(t, "exchangeTsNs"),
		BidPx:        feed.Price(rapid.Int64().Draw(t, "bidPx")),
		BidSz:        feed.Size(rapid.Int64().Draw(t, "bidSz")),
		AskPx:        feed.Price(rapid.Int64().Draw(t, "askPx")),
		AskSz:        feed.Size(rapid.Int64().Draw(t, "askSz")),
		LastPx:       feed.Price(rapid.Int64().Draw(t, "lastPx")),
		LastSz:       feed.Size(rapid.Int64().Draw(t, "lastSz")),
		TradeID:      rapid.Uint64().Draw(t, "tradeId"),
		Aggressor:    drawEnum[feed.Side](t, sideNames),
		Origin:       drawEnum[feed.Origin](t, originNames),
	}
}

func drawEnum[E ~uint8](t *rapid.T, names []string) E {
	return E(rapid.IntRange(0, len(names)-1).Draw(t, "enum"))
}

func drawTexts(t *rapid.T) (out []string) {
	return append(out, rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "texts")...)
}

func drawSeqs(t *rapid.T) (out []feed.SymbolSeq) {
	for _, s := range drawTexts(t) {
		out = append(out, feed.SymbolSeq{Symbol: s, Seq: rapid.Uint64().Draw(t, "seq")})
	}
	return out
}

// drawCursor makes an empty one or one that an SSE id may be.
func drawCursor(t *rapid.T) string {
	if rapid.Bool().Draw(t, "fresh") {
		return ""
	}
	return feed.Cursor{Epoch: rapid.StringMatching(`[0-9a-f]{1,32}`).Draw(t, "epoch"),
		HubSeq: rapid.Uint64().Draw(t, "hubSeq")}.String()
}

func drawLimit(t *rapid.T) int { return int(rapid.Uint32Range(0, math.MaxUint32).Draw(t, "limit")) }

func drawProblem(t *rapid.T) feed.Problem {
	return feed.Problem{Code: feed.ProblemCode(rapid.String().Draw(t, "code")), Message: rapid.String().Draw(t, "message"),
		Symbol: rapid.String().Draw(t, "symbol"), RequestID: rapid.String().Draw(t, "requestId"), Fatal: rapid.Bool().Draw(t, "fatal")}
}

// drawEvent makes a message of anything but ticks.
func drawEvent(t *rapid.T) feed.Message {
	switch rapid.IntRange(1, 7).Draw(t, "kind") {
	case 1:
		return feed.Message{Hello: &feed.Hello{
			Version: rapid.String().Draw(t, "version"), Epoch: rapid.String().Draw(t, "epoch"), BootID: rapid.String().Draw(t, "bootId"),
			WallOffsetNS: rapid.Int64().Draw(t, "wallOffsetNs"), HeartbeatInterval: time.Duration(rapid.Int64().Draw(t, "heartbeat")),
			Limits: feed.Limits{MaxMessageBytes: drawLimit(t), MaxSymbolsPerStream: drawLimit(t),
				MaxSubscribesPerSecond: drawLimit(t), MaxStreams: drawLimit(t), QueueTicks: drawLimit(t)}}}
	case 2:
		return feed.Message{Subscribed: &feed.Subscribed{Symbols: drawSeqs(t), Policy: drawEnum[feed.Policy](t, policyNames), Cursor: drawCursor(t)}}
	case 3:
		return feed.Message{Unsubscribed: &feed.Unsubscribed{Symbols: drawSeqs(t)}}
	case 4:
		return feed.Message{Snapshot: &feed.Snapshot{Tick: drawTick(t), Cursor: drawCursor(t)}}
	case 5:
		return feed.Message{Skipped: &feed.Skipped{Symbol: rapid.String().Draw(t, "symbol"), FromSeq: rapid.Uint64().Draw(t, "from"),
			ToSeq: rapid.Uint64().Draw(t, "to"), FirstDueNS: rapid.Int64().Draw(t, "due"),
			Reason: drawEnum[feed.SkipReason](t, reasonNames), Cursor: drawCursor(t)}}
	case 6:
		return feed.Message{Heartbeat: &feed.Heartbeat{SentNS: rapid.Int64().Draw(t, "sent"), PingID: rapid.Uint64().Draw(t, "ping")}}
	}
	p := drawProblem(t)
	return feed.Message{Problem: &p}
}

func drawMessage(t *rapid.T) feed.Message {
	if rapid.Bool().Draw(t, "event") {
		return drawEvent(t)
	}
	var m feed.Message
	for range rapid.IntRange(0, 4).Draw(t, "ticks") {
		m.Ticks = append(m.Ticks, drawTick(t))
	}
	return m
}

func drawRequest(t *rapid.T) feed.Request {
	switch rapid.IntRange(1, 3).Draw(t, "kind") {
	case 1:
		resume, after := rapid.Bool().Draw(t, "resume"), uint64(0)
		if resume {
			after = rapid.Uint64().Draw(t, "after")
		}
		return feed.Request{Subscribe: &feed.Subscribe{Symbols: drawTexts(t),
			Policy: drawEnum[feed.Policy](t, policyNames), Cursor: rapid.String().Draw(t, "cursor"),
			Account: rapid.String().Draw(t, "account"), AfterReportSeq: after, Resume: resume}}
	case 2:
		return feed.Request{Unsubscribe: &feed.Unsubscribe{Symbols: drawTexts(t)}}
	}
	return feed.Request{Ping: &feed.Ping{ID: rapid.Uint64().Draw(t, "id")}}
}

func drawEncoding(t *rapid.T) Encoding { return rapid.SampledFrom(Encodings()).Draw(t, "encoding") }

// sameMessage compares messages; no ticks are no ticks, with capacity or without.
func sameMessage(a, b feed.Message) bool {
	if len(a.Ticks) == 0 && len(b.Ticks) == 0 {
		a.Ticks, b.Ticks = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// fatalf is what testing.TB and rapid.T have in common here.
type fatalf interface {
	Helper()
	Fatalf(format string, args ...any)
}

func must[T any](t fatalf, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return v
}
