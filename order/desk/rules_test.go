package desk

import "testing"

type rule struct{ name, script string }

func play(t *testing.T, rules []rule) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { scripted(t, Options{}, r.script) })
	}
}

// TestMatching has a script for each rule of orders that come in.
func TestMatching(t *testing.T) {
	play(t, []rule{
		{"a limit order rests", `
			1 a buy 5@101
				1#1 o1 a new, 0+5 of 5@101
			2 b sell 5@101.01
				2#1 o2 b new, 0+5 of 5@101.01`},
		{"no time in force is day", `
			1 a buy 5@101 none
				1#1 o1 a new, 0+5 of 5@101`},
		{"a trade is at the resting order's price", `
			1 a sell 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 b buy 5@103
				2#1 o2 b new, 0+5 of 5@103
				1#2 o1 a trade filled 5@100, 5+0 of 5@100 avg 100
				2#2 o2 b trade filled 5@100, 5+0 of 5@103 avg 100
				trade 1: 5@100, buy came in`},
		{"what does not trade of a limit order rests", `
			1 a buy 3@100
				1#1 o1 a new, 0+3 of 3@100
			2 b sell 5@99
				2#1 o2 b new, 0+5 of 5@99
				1#2 o1 a trade filled 3@100, 3+0 of 3@100 avg 100
				2#2 o2 b trade partial 3@100, 3+2 of 5@99 avg 100
				trade 1: 3@100, sell came in
			1 c buy 2@99
				1#3 o3 c new, 0+2 of 2@99
				2#3 o2 b trade filled 2@99, 5+0 of 5@99 avg 99.6
				1#4 o3 c trade filled 2@99, 2+0 of 2@99 avg 99
				trade 2: 2@99, buy came in`},
		{"the best price goes first, not the oldest order that crosses", `
			1 old sell 1@102
				1#1 o1 old new, 0+1 of 1@102
			2 best sell 1@100
				2#1 o2 best new, 0+1 of 1@100
			3 mid sell 1@101
				3#1 o3 mid new, 0+1 of 1@101
			4 in buy 2@102
				4#1 o4 in new, 0+2 of 2@102
				2#2 o2 best trade filled 1@100, 1+0 of 1@100 avg 100
				4#2 o4 in trade partial 1@100, 1+1 of 2@102 avg 100
				3#2 o3 mid trade filled 1@101, 1+0 of 1@101 avg 101
				4#3 o4 in trade filled 1@101, 2+0 of 2@102 avg 100.5
				trade 1: 1@100, buy came in
				trade 2: 1@101, buy came in`},
		{"a partial fill keeps its place", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 b buy 5@100
				2#1 o2 b new, 0+5 of 5@100
			3 x sell 2@100
				3#1 o3 x new, 0+2 of 2@100
				1#2 o1 a trade partial 2@100, 2+3 of 5@100 avg 100
				3#2 o3 x trade filled 2@100, 2+0 of 2@100 avg 100
				trade 1: 2@100, sell came in
			3 y sell 4@100
				3#3 o4 y new, 0+4 of 4@100
				1#3 o1 a trade filled 3@100, 5+0 of 5@100 avg 100
				3#4 o4 y trade partial 3@100, 3+1 of 4@100 avg 100
				2#2 o2 b trade partial 1@100, 1+4 of 5@100 avg 100
				3#5 o4 y trade filled 1@100, 4+0 of 4@100 avg 100
				trade 2: 3@100, sell came in
				trade 3: 1@100, sell came in`},
		{"the average is rounded, a half to even", `
			1 a sell 255@0.01
				1#1 o1 a new, 0+255 of 255@0.01
			1 b sell 1@0.02
				1#2 o2 b new, 0+1 of 1@0.02
			2 c buy 256@0.02
				2#1 o3 c new, 0+256 of 256@0.02
				1#3 o1 a trade filled 255@0.01, 255+0 of 255@0.01 avg 0.01
				2#2 o3 c trade partial 255@0.01, 255+1 of 256@0.02 avg 0.01
				1#4 o2 b trade filled 1@0.02, 1+0 of 1@0.02 avg 0.02
				2#3 o3 c trade filled 1@0.02, 256+0 of 256@0.02 avg 0.010039062
				trade 1: 255@0.01, buy came in
				trade 2: 1@0.02, buy came in
			1 d sell 253@0.01
				1#5 o4 d new, 0+253 of 253@0.01
			1 e sell 3@0.02
				1#6 o5 e new, 0+3 of 3@0.02
			2 f buy 256
				2#4 o6 f new, 0+256 of 256@0
				1#7 o4 d trade filled 253@0.01, 253+0 of 253@0.01 avg 0.01
				2#5 o6 f trade partial 253@0.01, 253+3 of 256@0 avg 0.01
				1#8 o5 e trade filled 3@0.02, 3+0 of 3@0.02 avg 0.02
				2#6 o6 f trade filled 3@0.02, 256+0 of 256@0 avg 0.010117188
				trade 3: 253@0.01, buy came in
				trade 4: 3@0.02, buy came in`},
		{"an account trades with itself and is told twice", `
			1 a sell 3@100
				1#1 o1 a new, 0+3 of 3@100
			1 b buy 2@100
				1#2 o2 b new, 0+2 of 2@100
				1#3 o1 a trade partial 2@100, 2+1 of 3@100 avg 100
				1#4 o2 b trade filled 2@100, 2+0 of 2@100 avg 100
				trade 1: 2@100, buy came in`},
		{"symbols are apart", `
			1 a sell 3@100
				1#1 o1 a new, 0+3 of 3@100
			2 b buy 2@105 of B
				2#1 o2 b new, 0+2 of 2@105
			3 c sell 2@105 of B
				3#1 o3 c new, 0+2 of 2@105
				2#2 o2 b trade filled 2@105, 2+0 of 2@105 avg 105
				3#2 o3 c trade filled 2@105, 2+0 of 2@105 avg 105
				trade 1: 2@105, sell came in`},
		{"the smallest and the largest there are", `
			1 a buy 0.00000001@0.01
				1#1 o1 a new, 0+0.00000001 of 0.00000001@0.01
			2 b sell 0.00000001
				2#1 o2 b new, 0+0.00000001 of 0.00000001@0
				1#2 o1 a trade filled 0.00000001@0.01, 0.00000001+0 of 0.00000001@0.01 avg 0.01
				2#2 o2 b trade filled 0.00000001@0.01, 0.00000001+0 of 0.00000001@0 avg 0.01
				trade 1: 0.00000001@0.01, sell came in
			1 c sell 1000000@9223372036.85
				1#3 o3 c new, 0+1000000 of 1000000@9223372036.85
			2 d buy 1000000@9223372036.85
				2#3 o4 d new, 0+1000000 of 1000000@9223372036.85
				1#4 o3 c trade filled 1000000@9223372036.85, 1000000+0 of 1000000@9223372036.85 avg 9223372036.85
				2#4 o4 d trade filled 1000000@9223372036.85, 1000000+0 of 1000000@9223372036.85 avg 9223372036.85
				trade 2: 1000000@9223372036.85, buy came in`},
	})
}

// TestTimeInForce has a script for each rule of what never rests.
func TestTimeInForce(t *testing.T) {
	play(t, []rule{
		{"of an ioc order the rest is canceled", `
			1 a sell 3@100
				1#1 o1 a new, 0+3 of 3@100
			2 b buy 5@100 ioc
				2#1 o2 b new, 0+5 of 5@100
				1#2 o1 a trade filled 3@100, 3+0 of 3@100 avg 100
				2#2 o2 b trade partial 3@100, 3+2 of 5@100 avg 100
				2#3 o2 b canceled, 3+0 of 5@100 avg 100
				trade 1: 3@100, buy came in
			1 c sell 5@100 ioc
				1#3 o3 c new, 0+5 of 5@100
				1#4 o3 c canceled, 0+0 of 5@100`},
		{"an ioc order that trades whole is filled", `
			1 a buy 3@100
				1#1 o1 a new, 0+3 of 3@100
			2 b sell 3@99 ioc
				2#1 o2 b new, 0+3 of 3@99
				1#2 o1 a trade filled 3@100, 3+0 of 3@100 avg 100
				2#2 o2 b trade filled 3@100, 3+0 of 3@99 avg 100
				trade 1: 3@100, sell came in`},
		{"fok is all or nothing before anything trades", `
			1 a sell 3@100
				1#1 o1 a new, 0+3 of 3@100
			1 b sell 2@101
				1#2 o2 b new, 0+2 of 2@101
			1 c sell 9@102
				1#3 o3 c new, 0+9 of 9@102
			2 d buy 5.00000001@101 fok
				2#1 o4 d new, 0+5.00000001 of 5.00000001@101
				2#2 o4 d canceled, 0+0 of 5.00000001@101
			2 e buy 5@101 fok
				2#3 o5 e new, 0+5 of 5@101
				1#4 o1 a trade filled 3@100, 3+0 of 3@100 avg 100
				2#4 o5 e trade partial 3@100, 3+2 of 5@101 avg 100
				1#5 o2 b trade filled 2@101, 2+0 of 2@101 avg 101
				2#5 o5 e trade filled 2@101, 5+0 of 5@101 avg 100.4
				trade 1: 3@100, buy came in
				trade 2: 2@101, buy came in`},
		{"fok at the market", `
			1 a buy 3@100
				1#1 o1 a new, 0+3 of 3@100
			2 b sell 4 fok
				2#1 o2 b new, 0+4 of 4@0
				2#2 o2 b canceled, 0+0 of 4@0
			2 c sell 3 fok
				2#3 o3 c new, 0+3 of 3@0
				1#2 o1 a trade filled 3@100, 3+0 of 3@100 avg 100
				2#4 o3 c trade filled 3@100, 3+0 of 3@0 avg 100
				trade 1: 3@100, sell came in`},
		{"a market order takes any price and never rests", `
			2 none buy 4
				2#1 o1 none new, 0+4 of 4@0
				2#2 o1 none canceled, 0+0 of 4@0
			1 a sell 3@100
				1#1 o2 a new, 0+3 of 3@100
			1 b sell 2@7000
				1#2 o3 b new, 0+2 of 2@7000
			2 c buy 9
				2#3 o4 c new, 0+9 of 9@0
				1#3 o2 a trade filled 3@100, 3+0 of 3@100 avg 100
				2#4 o4 c trade partial 3@100, 3+6 of 9@0 avg 100
				1#4 o3 b trade filled 2@7000, 2+0 of 2@7000 avg 7000
				2#5 o4 c trade partial 2@7000, 5+4 of 9@0 avg 2860
				2#6 o4 c canceled, 5+0 of 9@0 avg 2860
				trade 1: 3@100, buy came in
				trade 2: 2@7000, buy came in
			1 d sell 1@1
				1#5 o5 d new, 0+1 of 1@1`},
		{"a market order that names ioc is the same", `
			1 a buy 1@100
				1#1 o1 a new, 0+1 of 1@100
			2 b sell 2 ioc
				2#1 o2 b new, 0+2 of 2@0
				1#2 o1 a trade filled 1@100, 1+0 of 1@100 avg 100
				2#2 o2 b trade partial 1@100, 1+1 of 2@0 avg 100
				2#3 o2 b canceled, 1+0 of 2@0 avg 100
				trade 1: 1@100, sell came in`},
	})
}
