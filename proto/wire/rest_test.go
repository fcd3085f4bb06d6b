package wire

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
)

func TestRESTRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tick, gotTick := drawTick(t), drawTick(t)
		data, err := AppendTick([]byte("before"), &tick)
		if err := UnmarshalTick(must(t, data, err)[6:], &gotTick); err != nil || gotTick != tick {
			t.Fatalf("got %+v, %v\nwant %+v", gotTick, err, tick)
		}
		problem, gotProblem := drawProblem(t), drawProblem(t)
		data, err = AppendProblem([]byte("before"), &problem)
		if err := UnmarshalProblem(must(t, data, err)[6:], &gotProblem); err != nil || gotProblem != problem {
			t.Fatalf("got %+v, %v\nwant %+v", gotProblem, err, problem)
		}
		symbols := []feed.Symbol{}
		for _, name := range drawTexts(t) {
			symbols = append(symbols, feed.Symbol{Name: name, TickSize: feed.Price(rapid.Int64().Draw(t, "tickSize"))})
		}
		data, err = AppendSymbols([]byte("before"), symbols)
		got, err := UnmarshalSymbols(must(t, data, err)[6:])
		if err != nil || !reflect.DeepEqual(got, symbols) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, symbols)
		}
	})
}

func TestProtoConversionsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tick := drawTick(t)
		if got, err := TickFromProto(TickToProto(&tick)); err != nil || got != tick {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, tick)
		}
		symbols := []feed.Symbol{{Name: rapid.String().Draw(t, "name"), TickSize: feed.Price(rapid.Int64().Draw(t, "tickSize"))}}
		if got := SymbolsFromProto(SymbolsToProto(symbols)); !reflect.DeepEqual(got, symbols) {
			t.Fatalf("got %+v, want %+v", got, symbols)
		}
	})
	if got, err := TickFromProto(nil); err != nil || got != (feed.Tick{}) {
		t.Errorf("nil reads as %+v, %v", got, err)
	}
	if got := SymbolsFromProto(nil); len(got) != 0 {
		t.Errorf("nil reads as %+v", got)
	}
}

func TestRESTRefuses(t *testing.T) {
	_, err := AppendTick(nil, &feed.Tick{Symbol: "\xff"})
	wantError(t, err, "tick.symbol")
	_, err = AppendTick(nil, &feed.Tick{Origin: 9})
	wantError(t, err, "tick.origin: unknown value 9")
	_, err = AppendSymbols(nil, []feed.Symbol{{Name: "A"}, {Name: "\xff"}})
	wantError(t, err, "symbols[1].name")

	wantError(t, UnmarshalTick([]byte(`{"askSz":"1e-9"}`), &feed.Tick{}), "tick.askSz: size")
	wantError(t, UnmarshalTick([]byte(`[]`), &feed.Tick{}), "tick: want an object, got an array")
	wantError(t, UnmarshalProblem([]byte(`{"fatal":1}`), &feed.Problem{}), "problem.fatal: want true or false, got a number")
	_, err = UnmarshalSymbols([]byte(`{"symbols":[{"name":"A"},{"name":"B","tickSize":{}}]}`))
	wantError(t, err, "symbols[1].tickSize: want a number")
	_, err = UnmarshalSymbols([]byte(`{"symbols":[]}x`))
	wantError(t, err, "byte 14")
}
