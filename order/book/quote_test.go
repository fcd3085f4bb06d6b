package book

import "testing"

// TestQuoteRules has a script for each rule of SetQuote.
func TestQuoteRules(t *testing.T) {
	for _, c := range []struct{ rule, script string }{
		{"the quote is two orders", `
			quote 99x7 101x8 -> ok
			bids -> 99: mm7
			asks -> 101: mm8
			a buy 3@101 -> mm 3@101, filled 3+0
			b sell 9@99 -> mm 7@99, partial 7+2
			bids -> none
			asks -> 99: b2, 101: mm5`},
		{"each quote restores the size and keeps the place at the same price", `
			quote 99x7 101x7 -> ok
			a buy 4@99 -> new 0+4
			b sell 3@99 -> mm 3@99, filled 3+0
			bids -> 99: mm4 a4
			quote 99x7 101x7 -> ok
			bids -> 99: mm7 a4
			quote 99x70 101x7 -> ok
			bids -> 99: mm70 a4
			quote 99x1 101x7 -> ok
			bids -> 99: mm1 a4`},
		{"what was traded whole comes back behind", `
			quote 99x7 101x7 -> ok
			a buy 4@99 -> new 0+4
			b sell 7@99 -> mm 7@99, filled 7+0
			quote 99x7 101x7 -> ok
			bids -> 99: a4 mm7`},
		{"at a new price it goes to the back", `
			quote 99x7 101x7 -> ok
			a buy 4@98 -> new 0+4
			quote 98x7 101x7 -> ok
			bids -> 98: a4 mm7
			quote 99x7 101x7 -> ok
			bids -> 99: mm7, 98: a4`},
		{"the sides move apart from each other", `
			quote 99x7 101x7 -> ok
			a sell 4@101 -> new 0+4
			quote 98x7 101x9 -> ok
			asks -> 101: mm9 a4`},
		{"a missing side is taken away", `
			quote 99x7 101x7 -> ok
			quote - 101x7 -> ok
			bids -> none
			asks -> 101: mm7
			quote 99x0 0x7 -> ok
			asks -> none
			quote - - -> ok`},
		{"a quote that crosses trades at the resting prices, the best first", `
			a sell 2@101 -> new 0+2
			b sell 2@100 -> new 0+2
			c sell 2@103 -> new 0+2
			quote 102x7 104x7 -> b 2@100, a 2@101
			bids -> 102: mm3
			asks -> 103: c2, 104: mm7
			quote 102x7 104x7 -> ok
			bids -> 102: mm7`},
		{"a quote's ask crosses bids", `
			a buy 2@99 -> new 0+2
			b buy 9@100 -> new 0+9
			quote 97x7 98x7 -> b 7@100
			bids -> 100: b2, 99: a2, 97: mm7
			asks -> none
			cancel b -> canceled 7+0`},
		{"the market maker never trades with itself", `
			quote 99x7 101x7 -> ok
			quote 102x7 104x7 -> ok
			bids -> 102: mm7
			asks -> 104: mm7
			quote 90x7 92x7 -> ok
			bids -> 90: mm7
			asks -> 92: mm7`},
		{"a bid passes the old ask and trades with who stood beside it", `
			quote 99x7 101x7 -> ok
			a sell 2@101 -> new 0+2
			quote 101x7 102x7 -> a 2@101
			bids -> 101: mm5
			asks -> 102: mm7`},
		{"a quote crossed in itself is refused and the old one stands", `
			quote 99x7 101x7 -> ok
			quote 102x7 102x7 -> crossed quote
			quote 103x7 102x7 -> crossed quote
			bids -> 99: mm7
			asks -> 101: mm7`},
		{"a crossed price without size is a missing side", `
			quote 103x0 102x7 -> ok
			bids -> none
			asks -> 102: mm7`},
		{"nobody cancels the quote", `
			quote 99x7 101x7 -> ok
			cancel mm -> not resting
			replace mm 5@99 -> not resting
			bids -> 99: mm7`},
	} {
		t.Run(c.rule, func(t *testing.T) { scripted(t, c.script) })
	}
}
