package replay

import (
	"maps"
	"testing"
)

const (
	coinbaseOpened = `wss://ws-feed.pro.coinbase.com <-> 1618677816.8434298`
	coinbaseSent   = `wss://ws-feed.pro.coinbase.com <- 1618677817.020616: {"type":"subscribe","product_ids":["X"],"channels":["level2"]}`
	coinbaseAll    = `{"type":"snapshot","product_id":"X","asks":[["11","1.0"],["12.50","2"],["11.5","3"]],"bids":[["10","5"],["9","6"]]}`
	coinbaseMatch  = `{"type":"match","trade_id":881613,"maker_order_id":"m","taker_order_id":"t","side":"sell","size":"0.04","price":"10.5","product_id":"X","sequence":1,"time":"2021-04-17T16:43:30.244075Z"}`
	coinbaseLast   = `{"type":"last_match","trade_id":7,"side":"sell","size":"0.04","price":"10.25","product_id":"X"}`
	coinbaseTicker = `{"type":"ticker","product_id":"X","price":"NaN","best_bid":"1","best_ask":"2","side":"buy","trade_id":1,"last_size":"1"}`
)

func coinbaseChanges(changes string) string {
	return `3.5: {"type":"l2update","product_id":"X","changes":[` + changes + `],"time":"t"}`
}

func TestCoinbaseRules(t *testing.T) {
	const first = "X quote 10x5/11x1"
	all := "1.5: " + coinbaseAll
	testRules(t, FormatCoinbase, []rule{
		{name: "the first best is a tick", lines: []string{coinbaseOpened, coinbaseSent, all, "", ""}, want: []string{first}},
		{name: "the same snapshot again is none", lines: []string{all, all}, want: []string{first}},
		{name: "a snapshot replaces the book", lines: []string{all, `2.0: {"type":"snapshot","product_id":"X","asks":[],"bids":[["8","1"]]}`, coinbaseChanges(`["buy","8","0"]`)},
			want: []string{first, "X quote 8x1/0x0", "X quote 0x0/0x0"}},
		{name: "an empty snapshot is none", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":[],"bids":[]}`, coinbaseChanges(`["buy","8","1"]`)},
			want: []string{"X quote 8x1/0x0"}},
		{name: "a level of 0 in a snapshot is none", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":[],"bids":[["8","1"],["9","0"]]}`}, want: []string{"X quote 8x1/0x0"}},
		{name: "the best removed, the next one shows", lines: []string{all, coinbaseChanges(`["sell","11.00","0.0"]`), coinbaseChanges(`["buy","10","0"]`)},
			want: []string{first, "X quote 10x5/11.5x3", "X quote 9x6/11.5x3"}},
		{name: "a better level", lines: []string{all, coinbaseChanges(`["buy","10.5","1"]`)}, want: []string{first, "X quote 10.5x1/11x1"}},
		{name: "size alone", lines: []string{all, coinbaseChanges(`["buy","10","4"]`)}, want: []string{first, "X quote 10x4/11x1"}},
		{name: "no change of the best", lines: []string{all, coinbaseChanges(`["buy","9","4"]`), coinbaseChanges(`["buy","10","5.000"]`), coinbaseChanges(`["buy","7","0"]`), coinbaseChanges(``)},
			want: []string{first}},
		{name: "one tick a message", lines: []string{all, coinbaseChanges(`["buy","10","0"],["buy","9","0"],["sell","10.9","1"]`)}, want: []string{first, "X quote 0x0/10.9x1"}},
		{name: "there and back in one message", lines: []string{all, coinbaseChanges(`["buy","10","0"],["buy","10","5"]`)}, want: []string{first}},
		{name: "crossed only within the message", lines: []string{all, coinbaseChanges(`["buy","11","1"],["sell","11","0"]`)}, want: []string{first, "X quote 11x1/11.5x3"}},
		{name: "the side of a match is the maker's", lines: []string{"1.0: " + coinbaseMatch}, want: []string{"X last 10.5x0.04 id 881613 buy"}},
		{name: "last_match waits for the next tick", lines: []string{"1.0: " + coinbaseLast, all, coinbaseChanges(`["buy","10","4"]`)},
			want: []string{"X quote 10x5/11x1 last 10.25x0 id 0 none", "X quote 10x4/11x1"}},
		{name: "a match is newer than last_match", lines: []string{"1.0: " + coinbaseLast, "1.0: " + coinbaseMatch, all}, want: []string{"X last 10.5x0.04 id 881613 buy", first}},
		{name: "ticker is not read", lines: []string{all, "1.6: " + coinbaseTicker, `1.7: {"type":"subscriptions","channels":[]}`, `1.8: {"type":"heartbeat"}`}, want: []string{first}},
		{name: "symbols apart", lines: []string{all, `2.0: {"type":"snapshot","product_id":"Y","asks":[["3","1"]],"bids":[]}`, coinbaseChanges(`["buy","10","4"]`)},
			want: []string{first, "Y quote 0x0/3x1", "X quote 10x4/11x1"}},

		{name: "no time", lines: []string{all, coinbaseAll}, wantErr: "capture:2: want <receive seconds>: <JSON>"},
		{name: "time", lines: []string{all, "1.0000000001: " + coinbaseLast}, wantErr: `capture:2: "1.0000000001" is no receive time`},
		{name: "no JSON", lines: []string{all, "2.0: {"}, wantErr: "capture:2: not JSON"},
		{name: "no type", lines: []string{all, "2.0: {}"}, wantErr: `capture:2: JSON has no "type"`},
		{name: "no symbol", lines: []string{`2.0: {"type":"match"}`}, wantErr: "capture:1: names no symbol"},
		{name: "half a snapshot", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":[]}`}, wantErr: "capture:1: a snapshot needs bids and asks"},
		{name: "crossed snapshot", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":[["1","1"]],"bids":[["1","1"]]}`}, wantErr: "capture:1: crossed: bid 1 is not below ask 1"},
		{name: "level twice", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":[["1","1"],["1.0","1"]],"bids":[]}`}, wantErr: "capture:1: the snapshot has the level 1 twice"},
		{name: "update first", lines: []string{coinbaseChanges(`["buy","10","4"]`)}, wantErr: "capture:1: the book of X is updated before its snapshot"},
		{name: "crossed", lines: []string{all, coinbaseChanges(`["buy","11.5","4"]`)}, wantErr: "capture:2: crossed: bid 11.5 is not below ask 11"},
		{name: "no changes", lines: []string{all, `2.0: {"type":"l2update","product_id":"X"}`}, wantErr: "capture:2: an l2update needs changes"},
		{name: "short change", lines: []string{all, coinbaseChanges(`["buy","11.5"]`)}, wantErr: `capture:2: change ["buy","11.5"] has 2 values`},
		{name: "side", lines: []string{all, coinbaseChanges(`["ask","11.5","1"]`)}, wantErr: `capture:2: side is neither buy nor sell: "ask"`},
		{name: "NaN", lines: []string{all, coinbaseChanges(`["buy","NaN","1"]`)}, wantErr: `capture:2: "price": price "NaN"`},
		{name: "lost digits", lines: []string{all, coinbaseChanges(`["buy","1","0.000000001"]`)}, wantErr: `capture:2: "size": size "0.000000001": has digits past 1e-8`},
		{name: "long level", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":[["1","1","1"]],"bids":[]}`}, wantErr: "capture:1: level"},
		{name: "nested level", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":[["1",["1"]]],"bids":[]}`}, wantErr: "capture:1: [\"1\",[\"1\"]] is no array of at most 4 plain values"},
		{name: "asks are no list", lines: []string{`2.0: {"type":"snapshot","product_id":"X","asks":"x","bids":[]}`}, wantErr: `capture:1: "asks" is a JSON string`},
		{name: "size of a match", lines: []string{`2.0: {"type":"match","product_id":"X","price":"1","size":"0","side":"buy","trade_id":1}`}, wantErr: `capture:1: "size": a trade of size 0`},
	})
}

// A refused message must leave nothing behind, in the book nor beside it.
func TestRefusedMessageChangesNothing(t *testing.T) {
	s := mustOpen(t, capture(t, "c",
		"1.0: "+coinbaseAll,
		coinbaseChanges(`["buy","10","7"],["buy","9.123","1"],["buy","11.5","4"]`),         // crossed
		coinbaseChanges(`["buy","10","0"],["buy","10.9","1"],["sell","11","x"]`),           // third is bad
		`1.0: {"type":"snapshot","product_id":"X","asks":[["8","1"]],"bids":[["8","1"]]}`,  // crossed
		`1.0: {"type":"last_match","product_id":"X","price":"0"}`,                          // no price
		`1.0: {"type":"match","product_id":"X","price":"1.5","size":"1","side":"?"}`,       // no side
		`1.0: {"type":"snapshot","product_id":"Z","asks":[["1","1"],["1","1"]],"bids":[]}`, // twice
		"x",
		coinbaseChanges(`["sell","11","0"]`),
		coinbaseChanges(`["buy","10","0"]`),
	), Options{SkipBad: true})
	got, _ := drain(t, s)
	wantLines(t, got, "X quote 10x5/11x1", "X quote 10x5/11.5x3", "X quote 9x6/11.5x3")
	wantCounts(t, s, map[string]int64{"bad": 7, "snapshot": 1, "l2update": 2})
	if grid := s.Symbols()[0].TickSize.String(); grid != "0.1" || len(s.Symbols()) != 1 {
		t.Errorf("symbols %v", s.Symbols())
	}
}

func TestCoinbaseCounts(t *testing.T) {
	s := mustOpen(t, capture(t, "c", coinbaseOpened, coinbaseSent, "1.0: "+coinbaseLast, "2.0: "+coinbaseAll, "3.0: "+coinbaseTicker, "3.0: "+coinbaseMatch, ""), Options{})
	wantCounts(t, s, map[string]int64{"connection": 1, "sent": 1, "last_match": 1, "snapshot": 1, "ticker": 1, "match": 1, "blank": 1})
}

func wantCounts(t *testing.T, s *Source, want map[string]int64) {
	t.Helper()
	if got := s.Counts(); !maps.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}
