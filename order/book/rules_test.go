package book

import "testing"

// TestRules has a script for each rule of the matching; the names are the rules.
func TestRules(t *testing.T) {
	for _, c := range []struct{ rule, script string }{
		{"the best price trades first, not the oldest order that crosses", `
			a sell 5@103 -> new 0+5
			b sell 5@101 -> new 0+5
			c sell 5@102 -> new 0+5
			d buy 12@103 -> b 5@101, c 5@102, a 2@103, filled 12+0
			asks -> 103: a3`},
		{"the best bid is the highest", `
			a buy 5@99 -> new 0+5
			b buy 5@101 -> new 0+5
			c buy 5@100 -> new 0+5
			d sell 12@99 -> b 5@101, c 5@100, a 2@99, filled 12+0
			bids -> 99: a3`},
		{"at one price the order that came first trades first", `
			a sell 1@101 -> new 0+1
			b sell 9@101 -> new 0+9
			c sell 1@101 -> new 0+1
			d buy 2@101 -> a 1@101, b 1@101, filled 2+0
			e buy 9@101 -> b 8@101, c 1@101, filled 9+0
			asks -> none`},
		{"a trade is at the resting order's price", `
			a sell 5@101 -> new 0+5
			b buy 5@110 -> a 5@101, filled 5+0
			c buy 5@100 -> new 0+5
			d sell 5@90 -> c 5@100, filled 5+0`},
		{"an order that trades in part keeps its place", `
			a sell 5@101 -> new 0+5
			b sell 5@101 -> new 0+5
			c buy 2@101 -> a 2@101, filled 2+0
			asks -> 101: a3 b5
			d buy 4@101 -> a 3@101, b 1@101, filled 4+0`},
		{"prices that do not meet do not trade", `
			a sell 5@101 -> new 0+5
			b buy 5@100 -> new 0+5
			bids -> 100: b5
			asks -> 101: a5`},
		{"day rests with what it could not trade", `
			a sell 3@101 -> new 0+3
			b buy 5@101 day -> a 3@101, partial 3+2
			bids -> 101: b2
			c buy 1@102 day -> new 0+1
			bids -> 102: c1, 101: b2`},
		{"what rests by day at a worse price is at its own limit", `
			a sell 3@101 -> new 0+3
			b buy 5@104 -> a 3@101, partial 3+2
			c sell 2@101 -> b 2@104, filled 2+0`},
		{"of ioc the rest is canceled", `
			a sell 3@101 -> new 0+3
			b sell 3@102 -> new 0+3
			c buy 5@101 ioc -> a 3@101, canceled 3+0
			d buy 3@101 ioc -> canceled 0+0
			e buy 3@102 ioc -> b 3@102, filled 3+0
			bids -> none`},
		{"fok that cannot fill whole trades nothing", `
			a sell 3@101 -> new 0+3
			b sell 3@102 -> new 0+3
			c buy 4@101 fok -> canceled 0+0
			d buy 7@102 fok -> canceled 0+0
			asks -> 101: a3, 102: b3
			bids -> none`},
		{"fok fills whole over levels", `
			a sell 3@101 -> new 0+3
			quote - 102x3 -> ok
			b buy 6@102 fok -> a 3@101, mm 3@102, filled 6+0`},
		{"fok of a market order takes any price or nothing", `
			a sell 3@101 -> new 0+3
			b sell 3@900 -> new 0+3
			c buy 7 fok -> canceled 0+0
			d buy 6 fok -> a 3@101, b 3@900, filled 6+0
			e buy 1 fok -> canceled 0+0`},
		{"a market order takes any price and never rests", `
			a sell 3@101 -> new 0+3
			b sell 3@900 -> new 0+3
			c buy 4 -> a 3@101, b 1@900, filled 4+0
			d buy 4 day -> b 2@900, canceled 2+0
			e buy 4 ioc -> canceled 0+0
			f sell 4 -> canceled 0+0
			bids -> none
			asks -> none`},
		{"cancel takes the order out and nothing else", `
			a buy 3@101 -> new 0+3
			b buy 3@101 -> new 0+3
			c buy 3@101 -> new 0+3
			cancel b -> canceled 0+0
			bids -> 101: a3 c3
			cancel a -> canceled 0+0
			cancel c -> canceled 0+0
			bids -> none`},
		{"cancel tells what was filled", `
			a buy 3@101 -> new 0+3
			b sell 2@101 -> a 2@101, filled 2+0
			cancel a -> canceled 2+0`},
		{"what is gone cannot be canceled or replaced", `
			a buy 3@101 -> new 0+3
			cancel a -> canceled 0+0
			cancel a -> not resting
			replace a 3@101 -> not resting
			b buy 3@101 -> new 0+3
			c sell 3@101 -> b 3@101, filled 3+0
			cancel b -> not resting
			d buy 3@101 -> new 0+3
			cancel a -> not resting
			cancel b -> not resting
			cancel never -> not resting
			bids -> 101: d3`},
		{"orders of the same owner trade with each other", `
			a buy 3@101 -> new 0+3
			a sell 3@101 -> a 3@101, filled 3+0`},
	} {
		t.Run(c.rule, func(t *testing.T) { scripted(t, c.script) })
	}
}

// TestReplaceRules has those of Replace.
func TestReplaceRules(t *testing.T) {
	for _, c := range []struct{ rule, script string }{
		{"a quantity that falls keeps the place", `
			a buy 5@101 -> new 0+5
			b buy 5@101 -> new 0+5
			replace a 3@101 -> new 0+3
			bids -> 101: a3 b5`},
		{"a replace that changes nothing keeps the place", `
			a buy 5@101 -> new 0+5
			b buy 5@101 -> new 0+5
			replace a 5@101 -> new 0+5
			bids -> 101: a5 b5`},
		{"a higher quantity goes to the back", `
			a buy 5@101 -> new 0+5
			b buy 5@101 -> new 0+5
			replace a 6@101 -> new 0+6
			bids -> 101: b5 a6`},
		{"a new price goes to the back of that price", `
			a buy 5@101 -> new 0+5
			b buy 5@100 -> new 0+5
			replace a 3@100 -> new 0+3
			bids -> 100: b5 a3
			replace b 5@101 -> new 0+5
			bids -> 101: b5, 100: a3`},
		{"there and back again is at the back", `
			a buy 5@101 -> new 0+5
			b buy 5@101 -> new 0+5
			replace a 5@100 -> new 0+5
			replace a 5@101 -> new 0+5
			bids -> 101: b5 a5`},
		{"the quantity is all of it, what is filled included", `
			a buy 5@101 -> new 0+5
			b sell 2@101 -> a 2@101, filled 2+0
			replace a 4@101 -> partial 2+2
			replace a 9@101 -> partial 2+7
			bids -> 101: a7`},
		{"at a new price it may trade at once, at the resting price", `
			a sell 2@103 -> new 0+2
			b sell 2@104 -> new 0+2
			c buy 5@101 -> new 0+5
			d sell 1@101 -> c 1@101, filled 1+0
			replace c 6@104 -> a 2@103, b 2@104, partial 5+1
			bids -> 104: c1
			cancel c -> canceled 5+0`},
		{"at a new price it may fill", `
			a sell 5@103 -> new 0+5
			b buy 5@101 -> new 0+5
			replace b 5@103 -> a 5@103, filled 5+0
			cancel b -> not resting
			bids -> none`},
		{"below what is filled it is refused", `
			a buy 5@101 -> new 0+5
			b sell 3@101 -> a 3@101, filled 3+0
			replace a 2@101 -> below cum
			replace a 2@150 -> below cum
			bids -> 101: a2`},
		{"to what is filled it ends, filled", `
			a buy 5@101 -> new 0+5
			b sell 3@101 -> a 3@101, filled 3+0
			replace a 3@101 -> filled 3+0
			cancel a -> not resting
			bids -> none`},
		{"to what is filled it ends before a new price could trade", `
			a buy 5@101 -> new 0+5
			b sell 3@101 -> a 3@101, filled 3+0
			c sell 3@103 -> new 0+3
			replace a 3@103 -> filled 3+0
			asks -> 103: c3`},
		{"quantity and price are positive", `
			a buy 5@101 -> new 0+5
			replace a 0@101 -> book: quantity is not positive
			replace a 5@0 -> book: limit price is not positive
			bids -> 101: a5`},
	} {
		t.Run(c.rule, func(t *testing.T) { scripted(t, c.script) })
	}
}
