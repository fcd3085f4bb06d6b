package desk

import "testing"

// TestQuote has a script for each rule of the feed's quote in the book.
func TestQuote(t *testing.T) {
	play(t, []rule{
		{"the quote trades as the market maker, whom nobody reports to", `
			quote 99x5 101x5
			1 a buy 2@101 ioc
				1#1 o1 a new, 0+2 of 2@101
				1#2 o1 a trade filled 2@101, 2+0 of 2@101 avg 101
				trade 1: 2@101, buy came in
			1 b sell 2
				1#3 o2 b new, 0+2 of 2@0
				1#4 o2 b trade filled 2@99, 2+0 of 2@0 avg 99
				trade 2: 2@99, sell came in`},
		{"its size is restored with each quote, and no more than that", `
			quote 99x5 101x5
			1 a buy 4@101
				1#1 o1 a new, 0+4 of 4@101
				1#2 o1 a trade filled 4@101, 4+0 of 4@101 avg 101
				trade 1: 4@101, buy came in
			1 b buy 6@101 fok
				1#3 o2 b new, 0+6 of 6@101
				1#4 o2 b canceled, 0+0 of 6@101
			quote 99x5 101x6
			1 c buy 6@101 fok
				1#5 o3 c new, 0+6 of 6@101
				1#6 o3 c trade filled 6@101, 6+0 of 6@101 avg 101
				trade 2: 6@101, buy came in
			1 d buy 1@101 ioc
				1#7 o4 d new, 0+1 of 1@101
				1#8 o4 d canceled, 0+0 of 1@101
			quote 99x5 101x2
			quote 99x5 101x2
			1 e buy 3@101 ioc
				1#9 o5 e new, 0+3 of 3@101
				1#10 o5 e trade partial 2@101, 2+1 of 3@101 avg 101
				1#11 o5 e canceled, 2+0 of 3@101 avg 101
				trade 3: 2@101, buy came in`},
		{"it keeps its place at its price, and goes behind at another", `
			quote 99x5 101x5
			1 a buy 2@99
				1#1 o1 a new, 0+2 of 2@99
			quote 99x5 101x5
			2 b sell 5@99 ioc
				2#1 o2 b new, 0+5 of 5@99
				2#2 o2 b trade filled 5@99, 5+0 of 5@99 avg 99
				trade 1: 5@99, sell came in
			quote 98x5 101x5
			quote 99x5 101x5
			2 c sell 3@99 ioc
				2#3 o3 c new, 0+3 of 3@99
				1#2 o1 a trade filled 2@99, 2+0 of 2@99 avg 99
				2#4 o3 c trade partial 2@99, 2+1 of 3@99 avg 99
				2#5 o3 c trade filled 1@99, 3+0 of 3@99 avg 99
				trade 2: 2@99, sell came in
				trade 3: 1@99, sell came in`},
		{"one that crosses trades at the resting prices, the best first", `
			1 a sell 2@101
				1#1 o1 a new, 0+2 of 2@101
			2 b sell 2@100
				2#1 o2 b new, 0+2 of 2@100
			quote 102x5 103x5
				2#2 o2 b trade filled 2@100, 2+0 of 2@100 avg 100
				1#2 o1 a trade filled 2@101, 2+0 of 2@101 avg 101
				trade 1: 2@100, buy came in
				trade 2: 2@101, buy came in
			1 c sell 2@102 ioc
				1#3 o3 c new, 0+2 of 2@102
				1#4 o3 c trade partial 1@102, 1+1 of 2@102 avg 102
				1#5 o3 c canceled, 1+0 of 2@102 avg 102
				trade 3: 1@102, sell came in
			1 d buy 3@100
				1#6 o4 d new, 0+3 of 3@100
			quote 97x5 99x1
				1#7 o4 d trade partial 1@100, 1+2 of 3@100 avg 100
				trade 4: 1@100, sell came in`},
		{"a missing side is away", `
			quote 99x5 101x5
			quote - 101x5
			1 a sell 1
				1#1 o1 a new, 0+1 of 1@0
				1#2 o1 a canceled, 0+0 of 1@0
			1 b buy 1
				1#3 o2 b new, 0+1 of 1@0
				1#4 o2 b trade filled 1@101, 1+0 of 1@0 avg 101
				trade 1: 1@101, buy came in
			quote - -
			1 c buy 1
				1#5 o3 c new, 0+1 of 1@0
				1#6 o3 c canceled, 0+0 of 1@0`},
		{"orders beside it at a better price go first", `
			quote 99x5 101x5
			1 a sell 1@100.99
				1#1 o1 a new, 0+1 of 1@100.99
			2 b buy 2
				2#1 o2 b new, 0+2 of 2@0
				1#2 o1 a trade filled 1@100.99, 1+0 of 1@100.99 avg 100.99
				2#2 o2 b trade partial 1@100.99, 1+1 of 2@0 avg 100.99
				2#3 o2 b trade filled 1@101, 2+0 of 2@0 avg 100.995
				trade 1: 1@100.99, buy came in
				trade 2: 1@101, buy came in`},
	})
}

// TestQuoteThatIsNone plays quotes whose bid is not below their ask: none is
// better than one that would trade with itself.
func TestQuoteThatIsNone(t *testing.T) {
	v := scripted(t, Options{}, `
			quote 99x5 101x5
			1 rests buy 1@98
				1#1 o1 rests new, 0+1 of 1@98
			quote 101x5 101x5
			1 a buy 1
				1#2 o2 a new, 0+1 of 1@0
				1#3 o2 a canceled, 0+0 of 1@0
			quote 99x5 101x5
			quote 102x5 101x5
			2 b sell 2
				2#1 o3 b new, 0+2 of 2@0
				1#4 o1 rests trade filled 1@98, 1+0 of 1@98 avg 98
				2#2 o3 b trade partial 1@98, 1+1 of 2@0 avg 98
				2#3 o3 b canceled, 1+0 of 2@0 avg 98
				trade 1: 1@98, sell came in`)
	if s := v.desk.Stats(); s != (Stats{Requests: 3, Trades: 1, CrossedQuotes: 2}) {
		t.Errorf("stats are %+v", s)
	}
}
