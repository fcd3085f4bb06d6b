package wire

import (
	"reflect"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

var (
	goldenQuote = feed.Tick{Symbol: "BTC-USD", Seq: 7, HubSeq: 9007199254740993, DueNS: 1_000_000, PublishNS: 1_000_450,
		ExchangeTSNS: 1_767_225_600_000_000_001, BidPx: 61837_630000000, BidSz: 1_50000000, AskPx: 61837_640000000, Origin: feed.OriginSchedule}
	goldenTrade = feed.Tick{Symbol: `a"b`, Seq: 8, HubSeq: 9, DueNS: -1, LastPx: 1, LastSz: 1, TradeID: 42,
		Aggressor: feed.SideSell, Origin: feed.OriginCapture}
)

const (
	quoteJSON = `{"symbol":"BTC-USD","seq":"7","hubSeq":"9007199254740993","dueNs":"1000000","publishNs":"1000450",` +
		`"exchangeTsNs":"1767225600000000001","bidPx":"61837.63","bidSz":"1.5","askPx":"61837.64","askSz":"0","origin":"SCHEDULE"}`
	tradeJSON = `{"symbol":"a\"b","seq":"8","hubSeq":"9","dueNs":"-1","publishNs":"0","exchangeTsNs":"0",` +
		`"bidPx":"0","bidSz":"0","askPx":"0","askSz":"0","lastPx":"0.000000001","lastSz":"0.00000001","tradeId":"42",` +
		`"aggressorSide":"SELL","origin":"CAPTURE"}`
	emptyTickJSON = `{"symbol":"","seq":"0","hubSeq":"0","dueNs":"0","publishNs":"0","exchangeTsNs":"0",` +
		`"bidPx":"0","bidSz":"0","askPx":"0","askSz":"0","origin":"UNSPECIFIED"}`
)

var goldenMessages = []struct {
	message feed.Message
	json    string
}{
	{feed.Message{}, `{}`},
	{feed.Message{Ticks: []feed.Tick{goldenQuote}}, `{"ticks":[` + quoteJSON + `]}`},
	{feed.Message{Ticks: []feed.Tick{goldenQuote, goldenTrade, {}}}, `{"ticks":[` + quoteJSON + `,` + tradeJSON + `,` + emptyTickJSON + `]}`},
	{feed.Message{Hello: &feed.Hello{Version: "v1.2.3", Epoch: "00c0ffee", BootID: "b", WallOffsetNS: -5, HeartbeatInterval: 2 * time.Second,
		Limits: feed.Limits{MaxMessageBytes: 1 << 20, MaxSymbolsPerStream: 1000, MaxSubscribesPerSecond: 10, MaxStreams: 100_000, QueueTicks: 4294967295}}},
		`{"hello":{"version":"v1.2.3","epoch":"00c0ffee","bootId":"b","wallOffsetNs":"-5","heartbeatIntervalNs":"2000000000",` +
			`"limits":{"maxMessageBytes":1048576,"maxSymbolsPerStream":1000,"maxSubscribesPerSecond":10,"maxStreams":100000,"queueTicks":4294967295}}}`},
	{feed.Message{Hello: &feed.Hello{}}, `{"hello":{"limits":{}}}`},
	{feed.Message{Subscribed: &feed.Subscribed{Symbols: []feed.SymbolSeq{{Symbol: "A", Seq: 3}, {Symbol: "B"}}, Policy: feed.PolicyDropOldest, Cursor: "ab-5"}},
		`{"subscribed":{"symbols":[{"symbol":"A","seq":"3"},{"symbol":"B"}],"policy":"DROP_OLDEST","cursor":"ab-5"}}`},
	{feed.Message{Unsubscribed: &feed.Unsubscribed{Symbols: []feed.SymbolSeq{{Symbol: "A", Seq: 18446744073709551615}}}},
		`{"unsubscribed":{"symbols":[{"symbol":"A","seq":"18446744073709551615"}]}}`},
	{feed.Message{Unsubscribed: &feed.Unsubscribed{}}, `{"unsubscribed":{}}`},
	{feed.Message{Snapshot: &feed.Snapshot{Tick: goldenQuote, Cursor: "ab-5"}}, `{"snapshot":{"tick":` + quoteJSON + `,"cursor":"ab-5"}}`},
	{feed.Message{Skipped: &feed.Skipped{Symbol: "A", FromSeq: 2, ToSeq: 4, FirstDueNS: 77, Reason: feed.SkipConflated, Cursor: "ab-5"}},
		`{"skipped":{"symbol":"A","fromSeq":"2","toSeq":"4","firstDueNs":"77","reason":"CONFLATED","cursor":"ab-5"}}`},
	{feed.Message{Skipped: &feed.Skipped{Symbol: "A", ToSeq: 4, Reason: feed.SkipEpoch}},
		`{"skipped":{"symbol":"A","toSeq":"4","reason":"EPOCH"}}`},
	{feed.Message{Heartbeat: &feed.Heartbeat{SentNS: 5, PingID: 6}}, `{"heartbeat":{"sentNs":"5","pingId":"6"}}`},
	{feed.Message{Heartbeat: &feed.Heartbeat{}}, `{"heartbeat":{}}`},
	{feed.Message{Problem: &feed.Problem{Code: feed.CodeUnknownSymbol, Message: "no X\n", Symbol: "X", RequestID: "r1", Fatal: true}},
		`{"problem":{"code":"UNKNOWN_SYMBOL","message":"no X\n","symbol":"X","requestId":"r1","fatal":true}}`},
	{feed.Message{Problem: &feed.Problem{}}, `{"problem":{"code":"","message":""}}`},
}

var goldenRequests = []struct {
	request feed.Request
	json    string
}{
	{feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{"A", "Ü"}, Policy: feed.PolicyConflate, Cursor: "ab-5"}},
		`{"subscribe":{"symbols":["A","Ü"],"policy":"CONFLATE","cursor":"ab-5"}}`},
	{feed.Request{Subscribe: &feed.Subscribe{}}, `{"subscribe":{}}`},
	{feed.Request{Subscribe: &feed.Subscribe{Account: "acct-1"}}, `{"subscribe":{"account":"acct-1"}}`},
	{feed.Request{Subscribe: &feed.Subscribe{Account: "acct-1", AfterReportSeq: 9007199254740993, Resume: true}},
		`{"subscribe":{"account":"acct-1","afterReportSeq":"9007199254740993"}}`},
	{feed.Request{Subscribe: &feed.Subscribe{Resume: true}}, `{"subscribe":{"afterReportSeq":"0"}}`},
	{feed.Request{Unsubscribe: &feed.Unsubscribe{Symbols: []string{"A"}}}, `{"unsubscribe":{"symbols":["A"]}}`},
	{feed.Request{Ping: &feed.Ping{ID: 9007199254740993}}, `{"ping":{"id":"9007199254740993"}}`},
	{feed.Request{Ping: &feed.Ping{}}, `{"ping":{}}`},
}

func TestGoldenMessages(t *testing.T) {
	for _, g := range goldenMessages {
		got, err := AppendMessage(nil, JSON, &g.message)
		if string(must(t, got, err)) != g.json {
			t.Errorf("got  %s\nwant %s", got, g.json)
		}
		var m feed.Message
		if err := UnmarshalMessage(JSON, []byte(g.json), &m); err != nil || !sameMessage(m, g.message) {
			t.Errorf("%s: got %+v, %v", g.json, m, err)
		}
	}
}

func TestGoldenRequests(t *testing.T) {
	for _, g := range goldenRequests {
		got, err := AppendRequest(nil, JSON, &g.request)
		if string(must(t, got, err)) != g.json {
			t.Errorf("got  %s\nwant %s", got, g.json)
		}
		var q feed.Request
		if err := UnmarshalRequest(JSON, []byte(g.json), &q); err != nil || !reflect.DeepEqual(q, g.request) {
			t.Errorf("%s: got %+v, %v", g.json, q, err)
		}
	}
}

func TestGoldenREST(t *testing.T) {
	tick, err := AppendTick(nil, &goldenTrade)
	if string(must(t, tick, err)) != tradeJSON {
		t.Errorf("tick %s", tick)
	}
	symbols, err := AppendSymbols(nil, []feed.Symbol{{Name: "A", TickSize: 10_000_000}, {Name: "B", TickSize: 1_000_000_000}})
	if string(must(t, symbols, err)) != `{"symbols":[{"name":"A","tickSize":"0.01"},{"name":"B","tickSize":"1"}]}` {
		t.Errorf("symbols %s", symbols)
	}
	symbols, err = AppendSymbols(nil, nil)
	if string(must(t, symbols, err)) != `{"symbols":[]}` {
		t.Errorf("no symbols %s", symbols)
	}
	problem, err := AppendProblem(nil, &feed.Problem{Code: feed.CodeNotFound, Message: "no"})
	if string(must(t, problem, err)) != `{"code":"NOT_FOUND","message":"no"}` {
		t.Errorf("problem %s", problem)
	}
}
