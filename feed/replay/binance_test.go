package replay

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

const (
	binanceBook  = `{"stream":"btcusdt@bookTicker","data":{"u":50093239212,"s":"BTCUSDT","b":"61837.63000000","B":"3.78826000","a":"61837.64000000","A":"1.54698000"}}`
	binanceTrade = `{"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":3735683259,"p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}}`
	binanceDepth = `{"stream":"btcusdt@depth@100ms","data":{"e":"depthUpdate","E":1723161255208,"s":"BTCUSDT","U":50093239189,"u":50093239202,"b":[["61737.63000000","0.00000000"]],"a":[]}}`
	binanceAll   = `{"lastUpdateId":50093239218,"bids":[["61837.63000000","3.78826000"]],"asks":[["61837.64000000","1"]]}`
)

func binanceQuote(bid, bidSize, ask, askSize string) string {
	return fmt.Sprintf(`1000 {"stream":"x@bookTicker","data":{"s":"X","b":%s,"B":%s,"a":%s,"A":%s}}`, bid, bidSize, ask, askSize)
}

func TestBinanceRules(t *testing.T) {
	const quoted = "BTCUSDT quote 61837.63x3.78826/61837.64x1.54698"
	trade := func(fields string) string {
		return `1000 {"stream":"x@trade","data":{"e":"trade","E":1,"T":1,"M":true,"s":"X",` + fields + `}}`
	}
	testRules(t, FormatBinance, []rule{
		{name: "quote and trade", lines: []string{"1 " + binanceBook, "2 " + binanceTrade},
			want: []string{quoted, "BTCUSDT last 61837.63x0.02 id 3735683259 sell"}},
		{name: "every bookTicker is a tick", lines: []string{"1 " + binanceBook, "2 " + binanceBook}, want: []string{quoted, quoted}},
		{name: "depth is none", lines: []string{"1 " + binanceDepth, "2 " + binanceAll, "3 " + binanceBook, "", `4 {"result":null,"id":1}`, `5 {"stream":"!ticker@arr","data":[]}`},
			want: []string{quoted}},
		{name: "the buyer took", lines: []string{trade(`"t":18446744073709551615,"p":"2","q":"1","m":false`)},
			want: []string{"X last 2x1 id 18446744073709551615 buy"}},
		{name: "number literals", lines: []string{trade(`"t":1,"p":61837.123456789,"q":1e-8,"m":false`)},
			want: []string{"X last 61837.123456789x0.00000001 id 1 buy"}},
		{name: "futures bookTicker", lines: []string{`1 {"stream":"x@bookTicker","data":{"e":"bookTicker","u":1,"E":2,"T":3,"s":"X","b":"1","B":"2","a":"3","A":"4"}}`},
			want: []string{"X quote 1x2/3x4"}},
		{name: "all symbols' bookTicker", lines: []string{`1 {"stream":"!bookTicker","data":{"u":1,"s":"X","b":"1","B":"2","a":"3","A":"4"}}`},
			want: []string{"X quote 1x2/3x4"}},
		{name: "escaped symbol", lines: []string{`1 {"stream":"x@bookTicker","data":{"s":"X\/Y","b":"1","B":"2","a":"3","A":"4"}}`},
			want: []string{"X/Y quote 1x2/3x4"}},
		{name: "no bid", lines: []string{binanceQuote(`"0.0"`, `"0.0"`, `"3"`, `"4"`)}, want: []string{"X quote 0x0/3x4"}},
		{name: "no ask", lines: []string{binanceQuote(`"1"`, `"2"`, `"3"`, `"0"`)}, want: []string{"X quote 1x2/0x0"}},

		{name: "no time", lines: []string{"1 " + binanceBook, "", binanceTrade}, wantErr: "capture:3: want <receive ns> <JSON>"},
		{name: "time is seconds", lines: []string{"1.5 " + binanceBook}, wantErr: `capture:1: "1.5" is no receive time`},
		{name: "time 0", lines: []string{"0 " + binanceBook}, wantErr: `capture:1: "0" is no receive time`},
		{name: "time past int64", lines: []string{"9223372036854775808 " + binanceBook}, wantErr: "capture:1:"},
		{name: "no JSON", lines: []string{"1 " + binanceBook, "2 nothing"}, wantErr: "capture:2: not JSON"},
		{name: "JSON twice", lines: []string{"1 " + binanceBook + "{}"}, wantErr: "capture:1: not JSON"},
		{name: "cut JSON", lines: []string{"1 " + binanceBook[:80]}, wantErr: "capture:1: not JSON"},
		{name: "another JSON", lines: []string{"1 " + binanceBook, "2 {}"}, wantErr: "capture:2: JSON has neither stream"},
		{name: "an array", lines: []string{"1 " + binanceBook, "2 []"}, wantErr: "capture:2: JSON array is no message"},
		{name: "no data", lines: []string{"1 " + binanceBook, `2 {"stream":"x@trade"}`}, wantErr: "capture:2: stream \"x@trade\" without data"},
		{name: "data null", lines: []string{"1 " + binanceBook, `2 {"stream":"x@trade","data":null}`}, wantErr: "capture:2: stream \"x@trade\" without data"},
		{name: "no symbol", lines: []string{`1 {"stream":"x@bookTicker","data":{"b":"1","B":"2","a":"3","A":"4"}}`}, wantErr: "capture:1: names no symbol"},
		{name: "NaN", lines: []string{binanceQuote(`"NaN"`, `"1"`, `"3"`, `"4"`)}, wantErr: `capture:1: "b": price "NaN": not a decimal number`},
		{name: "null price", lines: []string{binanceQuote(`null`, `"1"`, `"3"`, `"4"`)}, wantErr: `capture:1: "b": price "null"`},
		{name: "negative price", lines: []string{binanceQuote(`"-1"`, `"1"`, `"3"`, `"4"`)}, wantErr: `capture:1: "b": price -1 is not above 0`},
		{name: "negative size", lines: []string{binanceQuote(`"1"`, `"-1"`, `"3"`, `"4"`)}, wantErr: `capture:1: "B": size -1 is below 0`},
		{name: "lost digits", lines: []string{binanceQuote(`"1.0000000001"`, `"1"`, `"3"`, `"4"`)}, wantErr: "capture:1: \"b\": price \"1.0000000001\": has digits past 1e-9"},
		{name: "crossed", lines: []string{"1 " + binanceBook, binanceQuote(`"3.1"`, `"1"`, `"3"`, `"4"`)}, wantErr: "capture:2: crossed: bid 3.1 is not below ask 3"},
		{name: "missing ask", lines: []string{`1 {"stream":"x@bookTicker","data":{"s":"X","b":"1","B":"2"}}`}, wantErr: `capture:1: "A" is missing`},
		{name: "trade of nothing", lines: []string{trade(`"t":1,"p":"1","q":"0","m":false`)}, wantErr: `capture:1: "q": a trade of size 0`},
		{name: "trade id", lines: []string{trade(`"t":-1,"p":"1","q":"1","m":false`)}, wantErr: `capture:1: "t": -1 is no trade id`},
		{name: "no aggressor", lines: []string{trade(`"t":1,"p":"1","q":"1"`)}, wantErr: `capture:1: "m" is neither true nor false`},
	})
}

func TestBinanceCounts(t *testing.T) {
	s := mustOpen(t, capture(t, "c.gz", "1 "+binanceDepth, "2 "+binanceAll, "3 "+binanceBook, "3 "+binanceTrade, ""), Options{})
	wantCounts(t, s, map[string]int64{"depthUpdate": 1, "depthSnapshot": 1, "bookTicker": 1, "trade": 1, "blank": 1})
}

func TestLostDigitsWrapErrRange(t *testing.T) {
	_, err := Open(capture(t, "c", binanceQuote(`"1"`, `"0.000000001"`, `"3"`, `"4"`)), Options{})
	if !errors.Is(err, feed.ErrRange) {
		t.Errorf("%v does not wrap feed.ErrRange", err)
	}
}
