package desk

import "testing"

// TestCancel has a script for each rule of cancels.
func TestCancel(t *testing.T) {
	play(t, []rule{
		{"what rests is canceled, under the cancel's id", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 c cancel a
				1#2 o1 c<a canceled, 0+0 of 5@100
			2 b sell 5@100 ioc
				2#1 o2 b new, 0+5 of 5@100
				2#2 o2 b canceled, 0+0 of 5@100`},
		{"a cancel without an id keeps the order's", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 - cancel a
				1#2 o1 a canceled, 0+0 of 5@100
			1 - cancel a
				1#3 o1 <a rejected canceled, 0+0 of 5@100, TOO_LATE`},
		{"what had traded stays", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 b sell 2@100
				2#1 o2 b new, 0+2 of 2@100
				1#2 o1 a trade partial 2@100, 2+3 of 5@100 avg 100
				2#2 o2 b trade filled 2@100, 2+0 of 2@100 avg 100
				trade 1: 2@100, sell came in
			1 c cancel a
				1#3 o1 c<a canceled, 2+0 of 5@100 avg 100`},
		{"the unknown, another account's, the filled, the canceled, the cancel itself", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 c1 cancel b
				1#2 c1<b rejected, 0+0 of 0@0, UNKNOWN_ORDER
			2 c2 cancel a
				2#1 c2<a rejected, 0+0 of 0@0, UNKNOWN_ORDER
			2 x sell 5@100
				2#2 o2 x new, 0+5 of 5@100
				1#3 o1 a trade filled 5@100, 5+0 of 5@100 avg 100
				2#3 o2 x trade filled 5@100, 5+0 of 5@100 avg 100
				trade 1: 5@100, sell came in
			1 c3 cancel a
				1#4 o1 c3<a rejected filled, 5+0 of 5@100 avg 100, TOO_LATE
			1 d buy 5@100
				1#5 o3 d new, 0+5 of 5@100
			1 c4 cancel d
				1#6 o3 c4<d canceled, 0+0 of 5@100
			1 c5 cancel d
				1#7 o3 c5<d rejected canceled, 0+0 of 5@100, TOO_LATE
			1 c6 cancel c4
				1#8 o3 c6<c4 rejected canceled, 0+0 of 5@100, TOO_LATE
			1 e buy 5@100 ioc
				1#9 o4 e new, 0+5 of 5@100
				1#10 o4 e canceled, 0+0 of 5@100
			1 c7 cancel e
				1#11 o4 c7<e rejected canceled, 0+0 of 5@100, TOO_LATE
			1 c8 cancel c1
				1#12 c8<c1 rejected, 0+0 of 0@0, UNKNOWN_ORDER`},
	})
}

// TestReplacePriority has a script for what a replace does to the order's place.
func TestReplacePriority(t *testing.T) {
	const two = `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 b buy 5@100
				2#1 o2 b new, 0+5 of 5@100`
	play(t, []rule{
		{"a quantity that falls keeps it", two + `
			1 r replace a 3@100
				1#2 o1 r<a replaced new, 0+3 of 3@100
			3 x sell 4@100
				3#1 o3 x new, 0+4 of 4@100
				1#3 o1 r<a trade filled 3@100, 3+0 of 3@100 avg 100
				3#2 o3 x trade partial 3@100, 3+1 of 4@100 avg 100
				2#2 o2 b trade partial 1@100, 1+4 of 5@100 avg 100
				3#3 o3 x trade filled 1@100, 4+0 of 4@100 avg 100
				trade 1: 3@100, sell came in
				trade 2: 1@100, sell came in`},
		{"a replace that changes nothing keeps it", two + `
			1 r replace a 5@100
				1#2 o1 r<a replaced new, 0+5 of 5@100
			3 x sell 1@100
				3#1 o3 x new, 0+1 of 1@100
				1#3 o1 r<a trade partial 1@100, 1+4 of 5@100 avg 100
				3#2 o3 x trade filled 1@100, 1+0 of 1@100 avg 100
				trade 1: 1@100, sell came in`},
		{"a quantity that rises loses it", two + `
			1 r replace a 5.00000001@100
				1#2 o1 r<a replaced new, 0+5.00000001 of 5.00000001@100
			3 x sell 1@100
				3#1 o3 x new, 0+1 of 1@100
				2#2 o2 b trade partial 1@100, 1+4 of 5@100 avg 100
				3#2 o3 x trade filled 1@100, 1+0 of 1@100 avg 100
				trade 1: 1@100, sell came in`},
		{"another price and back loses it, with less too", two + `
			1 r replace a 5@99
				1#2 o1 r<a replaced new, 0+5 of 5@99
			1 s replace r 4@100
				1#3 o1 s<r replaced new, 0+4 of 4@100
			3 x sell 1@100
				3#1 o3 x new, 0+1 of 1@100
				2#2 o2 b trade partial 1@100, 1+4 of 5@100 avg 100
				3#2 o3 x trade filled 1@100, 1+0 of 1@100 avg 100
				trade 1: 1@100, sell came in`},
		{"a partial fill's quantity that falls keeps it", two + `
			3 x sell 2@100
				3#1 o3 x new, 0+2 of 2@100
				1#2 o1 a trade partial 2@100, 2+3 of 5@100 avg 100
				3#2 o3 x trade filled 2@100, 2+0 of 2@100 avg 100
				trade 1: 2@100, sell came in
			1 r replace a 3@100
				1#3 o1 r<a replaced partial, 2+1 of 3@100 avg 100
			3 y sell 2@100
				3#3 o4 y new, 0+2 of 2@100
				1#4 o1 r<a trade filled 1@100, 3+0 of 3@100 avg 100
				3#4 o4 y trade partial 1@100, 1+1 of 2@100 avg 100
				2#2 o2 b trade partial 1@100, 1+4 of 5@100 avg 100
				3#5 o4 y trade filled 1@100, 2+0 of 2@100 avg 100
				trade 2: 1@100, sell came in
				trade 3: 1@100, sell came in`},
	})
}

// TestReplace has a script for each other rule of replaces.
func TestReplace(t *testing.T) {
	play(t, []rule{
		{"one that crosses trades at once, at the resting price", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 b sell 3@102
				2#1 o2 b new, 0+3 of 3@102
			1 r replace a 6@103
				1#2 o1 r<a replaced new, 0+6 of 6@103
				2#2 o2 b trade filled 3@102, 3+0 of 3@102 avg 102
				1#3 o1 r<a trade partial 3@102, 3+3 of 6@103 avg 102
				trade 1: 3@102, buy came in
			2 c sell 3@103
				2#3 o3 c new, 0+3 of 3@103
				1#4 o1 r<a trade filled 3@103, 6+0 of 6@103 avg 102.5
				2#4 o3 c trade filled 3@103, 3+0 of 3@103 avg 103
				trade 2: 3@103, sell came in
			1 s replace r 9@103
				1#5 o1 s<r rejected filled, 6+0 of 6@103 avg 102.5, TOO_LATE`},
		{"one that crosses may be filled whole", `
			1 a buy 2@100
				1#1 o1 a new, 0+2 of 2@100
			2 b sell 3@102
				2#1 o2 b new, 0+3 of 3@102
			1 r replace a 3@102
				1#2 o1 r<a replaced new, 0+3 of 3@102
				2#2 o2 b trade filled 3@102, 3+0 of 3@102 avg 102
				1#3 o1 r<a trade filled 3@102, 3+0 of 3@102 avg 102
				trade 1: 3@102, buy came in
			1 c cancel r
				1#4 o1 c<r rejected filled, 3+0 of 3@102 avg 102, TOO_LATE`},
		{"below cum_qty it is refused, at it the order is filled", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			2 b sell 2@100
				2#1 o2 b new, 0+2 of 2@100
				1#2 o1 a trade partial 2@100, 2+3 of 5@100 avg 100
				2#2 o2 b trade filled 2@100, 2+0 of 2@100 avg 100
				trade 1: 2@100, sell came in
			1 r replace a 1.99999999@100
				1#3 o1 r<a rejected partial, 2+3 of 5@100 avg 100, QTY_BELOW_CUM_QTY
			2 c sell 5@101
				2#3 o3 c new, 0+5 of 5@101
			1 s replace a 2@101
				1#4 o1 s<a replaced filled, 2+0 of 2@101 avg 100
			1 t cancel a
				1#5 o1 t<a rejected filled, 2+0 of 2@101 avg 100, TOO_LATE`},
		{"a chain names the id before each time, and any id of it names the order", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 b replace a 4@100
				1#2 o1 b<a replaced new, 0+4 of 4@100
			1 c replace b 3@100
				1#3 o1 c<b replaced new, 0+3 of 3@100
			1 d replace a 2@100
				1#4 o1 d<a replaced new, 0+2 of 2@100
			2 x sell 1@100
				2#1 o2 x new, 0+1 of 1@100
				1#5 o1 d<a trade partial 1@100, 1+1 of 2@100 avg 100
				2#2 o2 x trade filled 1@100, 1+0 of 1@100 avg 100
				trade 1: 1@100, sell came in
			1 e cancel b
				1#6 o1 e<b canceled, 1+0 of 2@100 avg 100
			1 f cancel d
				1#7 o1 f<d rejected canceled, 1+0 of 2@100 avg 100, TOO_LATE`},
		{"the unknown, another account's, off the grid, an id that was used", `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 r1 replace b 5@100
				1#2 r1<b rejected, 0+0 of 5@100, UNKNOWN_ORDER
			2 r2 replace a 5@100
				2#1 r2<a rejected, 0+0 of 5@100, UNKNOWN_ORDER
			1 r3 replace a 5@100.005
				1#3 o1 r3<a rejected new, 0+5 of 5@100, PRICE_OFF_GRID
			1 a replace a 6@100
				1#4 a<a rejected, 0+0 of 6@100, DUPLICATE_CL_ORD_ID
			1 r1 replace a 6@100
				1#5 r1<a rejected, 0+0 of 6@100, DUPLICATE_CL_ORD_ID
			1 r4 replace a 6@100
				1#6 o1 r4<a replaced new, 0+6 of 6@100
			1 a buy 1@100
				1#7 a rejected, 0+0 of 1@100, DUPLICATE_CL_ORD_ID
			1 r4 buy 1@100
				1#8 r4 rejected, 0+0 of 1@100, DUPLICATE_CL_ORD_ID`},
	})
}
