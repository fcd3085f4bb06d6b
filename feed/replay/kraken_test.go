package replay

import "testing"

const (
	krakenOpened = `wss://ws.kraken.com <-> 1618678132.3858151`
	krakenSent   = `wss://ws.kraken.com <- 1618678132.8253062: {"event":"subscribe","pair":["X/Y"],"subscription":{"name":"book","depth":1000}}`
	krakenStatus = `1618678132.8258188: {"connectionID":17843232920108168701,"event":"systemStatus","status":"online","version":"1.8.3"}`
	krakenAll    = `1618678133.7102640: [464,{"as":[["11.00000","0.15000000","1618678117.243818"],["12.50000","2.00000000","1618678093.187766"]],"bs":[["10.00000","5.00000000","1618678093.1"],["9.00000","6.00000000","1618678093.1"]]},"book-1000","X/Y"]`
)

func krakenPayloads(payloads string) string {
	return `1618678134.1: [464,` + payloads + `,"book-1000","X/Y"]`
}

func TestKrakenRules(t *testing.T) {
	const first = "X/Y quote 10x5/11x0.15"
	testRules(t, FormatKraken, []rule{
		{name: "the first best is a tick", lines: []string{krakenOpened, krakenSent, krakenStatus, `1.5: {"event":"heartbeat"}`, krakenAll, ""}, want: []string{first}},
		{name: "the same snapshot again is none", lines: []string{krakenAll, krakenAll}, want: []string{first}},
		{name: "the best removed, the next one shows", lines: []string{krakenAll,
			krakenPayloads(`{"a":[["11.00000","0.00000000","1618678163.327300"]],"c":"532245536"}`), krakenPayloads(`{"b":[["10","0","1.0"]]}`)},
			want: []string{first, "X/Y quote 10x5/12.5x2", "X/Y quote 9x6/12.5x2"}},
		{name: "size alone", lines: []string{krakenAll, krakenPayloads(`{"b":[["10.0","4","1.0"]]}`)}, want: []string{first, "X/Y quote 10x4/11x0.15"}},
		{name: "no change of the best", lines: []string{krakenAll, krakenPayloads(`{"b":[["9","4","1.0"]]}`), krakenPayloads(`{"a":[]}`)}, want: []string{first}},
		{name: "five elements, one tick", lines: []string{krakenAll, krakenPayloads(`{"a":[["11","0","1.0"]]},{"b":[["10","4","1.0"]],"c":"1"}`)},
			want: []string{first, "X/Y quote 10x4/12.5x2"}},
		{name: "five elements, crossed only between", lines: []string{krakenAll, krakenPayloads(`{"b":[["11","1","1.0"]]},{"a":[["11","0","1.0"]]}`)},
			want: []string{first, "X/Y quote 11x1/12.5x2"}},
		{name: "both sides in one payload", lines: []string{krakenAll, krakenPayloads(`{"a":[["11","0","1.0"]],"b":[["10","4","1.0"]]}`)}, want: []string{first, "X/Y quote 10x4/12.5x2"}},
		{name: "a level twice, the last one counts", lines: []string{krakenAll, krakenPayloads(`{"b":[["10","0","1.0"],["10","3","1.1"]]}`)}, want: []string{first, "X/Y quote 10x3/11x0.15"}},
		{name: "published again", lines: []string{krakenAll, krakenPayloads(`{"b":[["10.5","4","1.0","r"]]}`)}, want: []string{first, "X/Y quote 10.5x4/11x0.15"}},
		{name: "number literals", lines: []string{krakenAll, krakenPayloads(`{"b":[ [ 10.123456789 , 0.00000001 , 1.0 ] ]}`)}, want: []string{first, "X/Y quote 10.123456789x0.00000001/11x0.15"}},
		{name: "below the depth a level is forgotten", lines: []string{
			`1.5: [1,{"as":[],"bs":[["10","5","1.0"],["9","6","1.0"]]},"book-2","X/Y"]`,
			`1.5: [1,{"b":[["11","1","1.0"]]},"book-2","X/Y"]`, // 9 falls out
			`1.5: [1,{"b":[["11","0","1.0"],["10","0","1.0"]]},"book-2","X/Y"]`,
		}, want: []string{"X/Y quote 10x5/0x0", "X/Y quote 11x1/0x0", "X/Y quote 0x0/0x0"}},
		{name: "an ask too high to hold is left out", lines: []string{krakenAll, krakenPayloads(`{"a":[["9999999997.00000","1","1.0"],["10.5","1","1.0"]]}`), krakenPayloads(`{"a":[["9999999997.00000","0","1.0"]]}`)},
			want: []string{first, "X/Y quote 10x5/10.5x1"}},
		{name: "other channels", lines: []string{krakenAll, `2.5: [1,[["1","1","1.0","b","l",""]],"trade","X/Y"]`, `2.5: [1,["1","1"],"ohlc-5","X/Y"]`}, want: []string{first}},

		{name: "no JSON", lines: []string{krakenAll, "2.0: ["}, wantErr: "capture:2: not JSON"},
		{name: "no event", lines: []string{krakenAll, "2.0: {}"}, wantErr: `capture:2: JSON has no "event"`},
		{name: "event", lines: []string{krakenAll, `2.0: {"event":1}`}, wantErr: `capture:2: "event" is a JSON number`},
		{name: "three elements", lines: []string{krakenAll, `2.0: [1,"book-1","X"]`}, wantErr: "capture:2: an array of 3 elements"},
		{name: "no pair", lines: []string{krakenAll, `2.0: [1,{"a":[]},"book-10",""]`}, wantErr: "capture:2: names no symbol"},
		{name: "pair", lines: []string{krakenAll, `2.0: [1,{"a":[]},"book-10",1]`}, wantErr: `capture:2: "pair" is no string: 1`},
		{name: "no depth", lines: []string{krakenAll, `2.0: [1,{"a":[]},"book","X/Y"]`}, wantErr: "capture:2: channel book- names no depth"},
		{name: "empty payload", lines: []string{krakenAll, krakenPayloads(`{}`)}, wantErr: "capture:2: a payload of book needs"},
		{name: "snapshot and update", lines: []string{krakenAll, krakenPayloads(`{"as":[],"a":[]}`)}, wantErr: "capture:2: a payload of book needs"},
		{name: "snapshot beside", lines: []string{krakenAll, krakenPayloads(`{"as":[]},{"b":[]}`)}, wantErr: "capture:2: a snapshot beside another payload"},
		{name: "update first", lines: []string{krakenPayloads(`{"b":[]}`)}, wantErr: "capture:1: the book of X/Y is updated before its snapshot"},
		{name: "crossed", lines: []string{krakenAll, krakenPayloads(`{"b":[["11","1","1.0"]]}`)}, wantErr: "capture:2: crossed: bid 11 is not below ask 11"},
		{name: "fourth element", lines: []string{krakenAll, krakenPayloads(`{"b":[["10","1","1.0","x"]]}`)}, wantErr: "capture:2: level"},
		{name: "escaped price", lines: []string{krakenAll, krakenPayloads(`{"b":[["\u0031","1","1.0"]]}`)}, wantErr: "capture:2: "},
		{name: "Infinity", lines: []string{krakenAll, krakenPayloads(`{"b":[["Infinity","1","1.0"]]}`)}, wantErr: `capture:2: "price": price "Infinity"`},
		{name: "lost digits", lines: []string{krakenAll, krakenPayloads(`{"b":[["1.0000000001","1","1.0"]]}`)}, wantErr: `capture:2: "price": price "1.0000000001": has digits past 1e-9`},
		{name: "an ask too high is left alone", lines: []string{krakenAll, krakenPayloads(`{"a":[["9999999997","1","1.0"]]}`), krakenPayloads(`{"a":[["11","0","1.0"],["12.5","0","1.0"]]}`)},
			wantErr: "capture:3: the best ask may be beyond 9223372036.854775807: out of range"},
		{name: "a bid too high", lines: []string{krakenAll, krakenPayloads(`{"b":[["9999999997","1","1.0"]]}`)}, wantErr: "capture:2: a bid beyond 9223372036.854775807"},
		{name: "high and lost digits", lines: []string{krakenAll, krakenPayloads(`{"a":[["1.99999999999999999999","1","1.0"]]}`)}, wantErr: "capture:2: \"price\""},
		{name: "lost digits by exponent", lines: []string{krakenAll, krakenPayloads(`{"a":[["1e-10","1","1.0"]]}`)}, wantErr: "has digits past 1e-9"},
		{name: "bad second payload", lines: []string{krakenAll, krakenPayloads(`{"a":[["11","0","1.0"]]},{"b":[["x","0","1.0"]]}`)}, wantErr: `capture:2: "price": price "x"`},
	})
}

func TestKrakenSecondPayloadRefused(t *testing.T) {
	s := mustOpen(t, capture(t, "c", krakenAll,
		krakenPayloads(`{"a":[["11","0","1.0"]]},{"b":[["x","0","1.0"]]}`),
		krakenPayloads(`{"a":[["10.5","1","1.0"]]},{"b":[["10.5","1","1.0"]]}`),
		krakenPayloads(`{"b":[["10","4","1.0"]]}`),
		krakenPayloads(`{"a":[["9999999997","1","1.0"]]},{"b":[["11","4","1.0"]]}`), // crossed
		krakenPayloads(`{"a":[["11","0","1.0"],["12.5","0","1.0"]]}`),
	), Options{SkipBad: true})
	got, _ := drain(t, s)
	wantLines(t, got, "X/Y quote 10x5/11x0.15", "X/Y quote 10x4/11x0.15", "X/Y quote 10x4/0x0")
	wantCounts(t, s, map[string]int64{"snapshot": 1, "update": 2, "bad": 3})
}

func TestKrakenCounts(t *testing.T) {
	s := mustOpen(t, capture(t, "c", krakenOpened, krakenSent, krakenStatus, krakenAll, `2.5: [1,[],"ohlc-5","X/Y"]`), Options{})
	wantCounts(t, s, map[string]int64{"connection": 1, "sent": 1, "systemStatus": 1, "snapshot": 1, "ohlc": 1})
}
