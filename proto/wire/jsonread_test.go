package wire

import (
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v, want an error with %q", err, part)
	}
}

func TestNumbers(t *testing.T) {
	const bad, price, whole = "-", "price", "integer" // a bad literal breaks the whole JSON, the others one member
	for _, c := range []struct{ literal, bidPx, seq, dueNs string }{
		{`0`, "0", "0", "0"},
		{`-0`, "0", whole, "0"},
		{`"-0"`, "0", whole, "0"},
		{`1`, "1", "1", "1"},
		{`"1"`, "1", "1", "1"},
		{`-1`, "-1", whole, "-1"},
		{`1.0`, "1", whole, whole},
		{`1E2`, "100", whole, whole},
		{`"1e2"`, "100", whole, whole},
		{`1e-9`, "0.000000001", whole, whole},
		{`1e-10`, price, whole, whole},
		{`1e400`, price, whole, whole},
		{`"1e400"`, price, whole, whole},
		{`1e99999999999999999999`, price, whole, whole},
		{`0.1234567891`, price, whole, whole},
		{`0.1234567890`, "0.123456789", whole, whole},
		{`9007199254740993`, price, "9007199254740993", "9007199254740993"},
		{`"9007199254740993"`, price, "9007199254740993", "9007199254740993"},
		{`9007199254.740993`, "9007199254.740993", whole, whole},
		{`9223372036.854775807`, "9223372036.854775807", whole, whole},
		{`9223372036.854775808`, price, whole, whole},
		{`9223372036854775808`, price, "9223372036854775808", "is not in"},
		{`18446744073709551615`, price, "18446744073709551615", "is not in"},
		{`18446744073709551616`, price, "is not in", "is not in"},
		{`-9223372036854775808`, price, whole, "-9223372036854775808"},
		{`"NaN"`, "is no number", "is no number", "is no number"},
		{`"Infinity"`, "is no number", "is no number", "is no number"},
		{`"-Infinity"`, "is no number", "is no number", "is no number"},
		{`""`, "is no number", "is no number", "is no number"},
		{`"-"`, "is no number", "is no number", "is no number"},
		{`"+1"`, "is no number", "is no number", "is no number"},
		{`"01"`, "is no number", "is no number", "is no number"},
		{`".5"`, "is no number", "is no number", "is no number"},
		{`"1."`, price, whole, whole},
		{`"1 "`, price, whole, whole},
		{`"0x10"`, price, whole, whole},
		{`"1_0"`, price, whole, whole},
		{`"\u0031"`, "1", "1", "1"},
		{`NaN`, bad, bad, bad},
		{`Infinity`, bad, bad, bad},
		{`01`, bad, bad, bad},
		{`+1`, bad, bad, bad},
		{`.5`, bad, bad, bad},
		{`1.`, bad, bad, bad},
		{`null`, "got null", "got null", "got null"},
		{`true`, "got true", "got true", "got true"},
		{`[1]`, "got an array", "got an array", "got an array"},
	} {
		for member, want := range map[string]string{"bidPx": c.bidPx, "seq": c.seq, "dueNs": c.dueNs} {
			var tick feed.Tick
			err := UnmarshalTick([]byte(`{"`+member+`":`+c.literal+`}`), &tick)
			if want == bad || strings.ContainsAny(want, "abcdefghijklmnopqrstuvwxyz") {
				wantError(t, err, "tick")
				if want != bad {
					wantError(t, err, "tick."+member+": ")
					wantError(t, err, want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s as %s: %v", c.literal, member, err)
				continue
			}
			again, err := AppendTick(nil, &tick)
			if !strings.Contains(string(must(t, again, err)), `"`+member+`":"`+want+`"`) {
				t.Errorf("%s as %s reads as %s, want %s", c.literal, member, again, want)
			}
		}
	}
}

func TestCounts(t *testing.T) {
	read := func(literal string) (int, error) {
		var m feed.Message
		err := UnmarshalMessage(JSON, []byte(`{"hello":{"limits":{"maxStreams":`+literal+`}}}`), &m)
		if err != nil {
			return 0, err
		}
		return m.Hello.Limits.MaxStreams, nil
	}
	for _, literal := range []string{`4294967295`, `"4294967295"`} {
		if got, err := read(literal); got != 4294967295 || err != nil {
			t.Errorf("%s: %d, %v", literal, got, err)
		}
	}
	for _, literal := range []string{`4294967296`, `-1`, `1.5`} {
		_, err := read(literal)
		wantError(t, err, "hello.limits.maxStreams: ")
	}
}

func TestJSONMessageRefuses(t *testing.T) {
	for data, want := range map[string]string{
		``:                              "decode JSON message: empty",
		`  `:                            "empty",
		`null`:                          "want an object, got null",
		`[]`:                            "want an object, got an array",
		`{"ticks":{}}`:                  "ticks: want an array, got an object",
		`{"ticks":[1]}`:                 "ticks[0]: want an object, got a number",
		`{"ticks":[{},{"symbol":1}]}`:   "ticks[1].symbol: want a string, got a number",
		`{"ticks":[{"bidPx":"x"}]}`:     `ticks[0].bidPx: "x" is no number`,
		`{"ticks":[{"origin":1}]}`:      "ticks[0].origin: want a string, got a number",
		`{"ticks":[{"origin":"MARS"}]}`: `ticks[0].origin: unknown value "MARS", want one of UNSPECIFIED, SCHEDULE, CAPTURE, ORDER`,
		`{"ticks":[{"seq":1,"seq":1}]}`: "ticks[0].seq: stands twice",
		"{\"ticks\":[{\"seq\":1,\"s\\u0065q\":1}]}": "ticks[0].seq: stands twice",
		`{"new":1,"new":2}`:                         "new: stands twice",
		`{"new":{"a":[{"b":1,"b":2}]}}`:             "new: a member in it stands twice",
		`{"hello":{},"hello":{}}`:                   "hello: stands twice",
		`{"hello":{},"heartbeat":{}}`:               "several of",
		`{"ticks":[{}],"heartbeat":{}}`:             "several of",
		`{"hello":{"limits":[]}}`:                   "hello.limits: want an object",
		`{"hello":{"version":null}}`:                "hello.version: want a string, got null",
		`{"problem":{"fatal":"true"}}`:              "problem.fatal: want true or false, got a string",
		`{"skipped":{"reason":"GAP","toSeq"}}`:      "skipped",
		`{} {}`:                                     "more after the JSON value",
		`{}x`:                                       "byte 2",
		`{}]`:                                       "byte 2",
		`{`:                                         "unexpected EOF",
		`{"ticks":[`:                                "ticks",
		`{"ticks":[{},]}`:                           "ticks",
		`{"ticks":[{"symbol":"A`:                    "unexpected EOF",
		`{ticks:[]}`:                                "invalid character",
		`{1:2}`:                                     "byte 1",
		`{{}:2}`:                                    "byte 1",
		"{\"problem\":{\"message\":\"\xff\"}}":      "problem.message: invalid UTF-8",
		"{\"new\":\"\xff\"}":                        "new: invalid UTF-8",
		"{\"\xff\":1}":                              "invalid UTF-8",
		`{"problem":{"message":"\ud800"}}`:          "problem.message",
		"{\"problem\":{\"message\":\"\n\"}}":        "problem.message",
		`{"subscribed":{"symbols":[{"symbol":"A","seq":-1}]}}`: "subscribed.symbols[0].seq: ",
	} {
		wantError(t, UnmarshalMessage(JSON, []byte(data), &feed.Message{}), want)
	}
}

func TestJSONRequestRefuses(t *testing.T) {
	for data, want := range map[string]string{
		`{}`:                                   "want exactly one of subscribe, unsubscribe, ping",
		`{"subscribe":{},"ping":{}}`:           "want exactly one of",
		`{"Subscribe":{}}`:                     "Subscribe: unknown member",
		`{"subscribe":{"symbol":["A"]}}`:       "subscribe.symbol: unknown member",
		`{"subscribe":{"polcy":{"a":[1,2]}}}`:  "subscribe.polcy: unknown member",
		`{"subscribe":{"a b":1}}`:              `subscribe["a b"]: unknown member`,
		`{"unsubscribe":{"policy":"X"}}`:       "unsubscribe.policy: unknown member",
		`{"ping":{"ID":1}}`:                    "ping.ID: unknown member",
		`{"ping":{"id":1},"x":1}`:              "x: unknown member",
		`{"subscribe":{"symbols":"A"}}`:        "subscribe.symbols: want an array, got a string",
		`{"subscribe":{"symbols":["A",1]}}`:    "subscribe.symbols[1]: want a string, got a number",
		`{"subscribe":{"symbols":["A",null]}}`: "subscribe.symbols[1]: want a string, got null",
		`{"subscribe":{"cursor":null}}`:        "subscribe.cursor: want a string, got null",
		`{"subscribe":{"policy":"newest"}}`:    `subscribe.policy: unknown value "newest", want one of UNSPECIFIED, CONFLATE, DROP_OLDEST, DISCONNECT`,
		`{"subscribe":{"policy":""}}`:          "subscribe.policy: unknown value",
		`{"subscribe":null}`:                   "subscribe: want an object, got null",
		`{"subscribe":{},"subscribe":{}}`:      "subscribe: stands twice",
		`{"ping":{"id":1,"id":1}}`:             "ping.id: stands twice",
		`{"ping":{"id":1e3}}`:                  `ping.id: "1e3" is not an integer`,
		`{"subscribe":{"afterReportSeq":-1}}`:  `subscribe.afterReportSeq: "-1" is not an integer`,
		`{"execute":{}}`:                       "execute: unknown member", // orders are for UnmarshalStreamRequest
	} {
		var q feed.Request
		wantError(t, UnmarshalRequest(JSON, []byte(data), &q), want)
	}
	long := strings.Repeat("x", 1<<16)
	err := UnmarshalRequest(JSON, []byte(`{"subscribe":{"`+long+`":"`+long+`"}}`), &feed.Request{})
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("an error as long as the request: %.300v", err)
	}
}

// TestJSONReadsLeniently has what must be taken although it is not written so.
func TestJSONReadsLeniently(t *testing.T) {
	for data, want := range map[string]string{
		" {\n\"subscribe\" : { \"symbols\" : [ \"A\" ] , \"policy\" : \"drop-oldest\" } } ": `{"subscribe":{"symbols":["A"],"policy":"DROP_OLDEST"}}`,
		`{"subscribe":{"policy":"Drop_Oldest"}}`:                                            `{"subscribe":{"policy":"DROP_OLDEST"}}`,
		`{"subscribe":{"policy":"unspecified"}}`:                                            `{"subscribe":{}}`,
		`{"\u0070ing":{"id":9007199254740993}}`:                                             `{"ping":{"id":"9007199254740993"}}`,
		`{"subscribe":{"symbols":["\u0041\n"]}}`:                                            `{"subscribe":{"symbols":["A\n"]}}`,
	} {
		var q feed.Request
		if err := UnmarshalRequest(JSON, []byte(data), &q); err != nil {
			t.Errorf("%s: %v", data, err)
			continue
		}
		got, err := AppendRequest(nil, JSON, &q)
		if string(must(t, got, err)) != want {
			t.Errorf("%s reads as %s, want %s", data, got, want)
		}
	}
	var m feed.Message
	many := `{"x1":1,"x2":[],"x3":{"x":null},"x4":"","x5":0,"x6":0,"x7":0,"x8":0,"x9":0,"x10":0,"x11":0,"x12":0,"x13":0,"x14":0,"x15":0,"x16":0,` +
		`"x17":0,"x18":0,"x19":0,"x20":0,"x21":0,"x22":0,"x23":0,"x24":0,`
	if err := UnmarshalMessage(JSON, []byte(many+`"x25":0,"x26":0,"heartbeat":{"sentNs":5,"new":true}}`), &m); err != nil || m.Heartbeat == nil || m.Heartbeat.SentNS != 5 {
		t.Errorf("unknown members: %+v, %v", m, err)
	}
	wantError(t, UnmarshalMessage(JSON, []byte(many+`"x25":0,"x25":0}`), &m), "x25: stands twice")
	wantError(t, UnmarshalMessage(JSON, []byte(many+`"x25":0,"x1":0}`), &m), "x1: stands twice")
}

// TestJSONIgnoresUnknown: a client of today reads what a later exchange adds.
func TestJSONIgnoresUnknown(t *testing.T) {
	for _, g := range goldenMessages {
		var m feed.Message
		more := strings.ReplaceAll(strings.ReplaceAll(g.json, "{", `{"new":[{"x":null}],`), ",}", "}")
		if err := UnmarshalMessage(JSON, []byte(more), &m); err != nil || !sameMessage(m, g.message) {
			t.Errorf("%s: got %+v, %v", more, m, err)
		}
	}
	symbols, err := UnmarshalSymbols([]byte(`{"new":1,"symbols":[{"new":1,"name":"A"}]}`))
	if err != nil || len(symbols) != 1 || symbols[0].Name != "A" {
		t.Errorf("got %+v, %v", symbols, err)
	}
}
