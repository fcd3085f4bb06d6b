package fleet

import (
	"slices"
	"testing"
)

func TestPlacement(t *testing.T) {
	for _, c := range []struct {
		name       string
		place      Placement
		stream     int
		connection int
		indices    []int
	}{
		{"the first", Placement{Connections: 4, Symbols: 3}, 0, 0, []int{0}},
		{"symbols wrap", Placement{Connections: 4, Symbols: 3}, 3, 3, []int{0}},
		{"the second round is one symbol on", Placement{Connections: 4, Symbols: 3}, 4, 0, []int{1}},
		{"late", Placement{Connections: 4, Symbols: 3}, 4*7 + 2, 2, []int{(2 + 7) % 3}},
		{"a connection each", Placement{Connections: 1000, Symbols: 3}, 500, 500, []int{500 % 3}},
		{"one connection", Placement{Connections: 1, Symbols: 3}, 5, 0, []int{2}},
		{"one symbol", Placement{Connections: 4, Symbols: 1}, 6, 2, []int{0}},
		{"two symbols", Placement{Connections: 4, Symbols: 3, SymbolsPerStream: 2}, 4, 0, []int{1, 2}},
		{"every symbol", Placement{Connections: 4, Symbols: 3, SymbolsPerStream: 3}, 5, 1, []int{2, 0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.place.Connection(c.stream); got != c.connection {
				t.Errorf("connection %d, want %d", got, c.connection)
			}
			if got := c.place.Indices(c.stream); !slices.Equal(got, c.indices) {
				t.Errorf("symbols %v, want %v", got, c.indices)
			}
		})
	}
}

// The default comparison: whatever shares connections has one subscriber of each
// symbol on each, and every cell has a hundred of each symbol.
func TestPlacementSpreadsSymbols(t *testing.T) {
	const streams, symbols = 10_000, 100
	for _, connections := range []int{100, streams} {
		place := Placement{Connections: connections, Symbols: symbols}
		perSymbol := make([]int, symbols)
		type seat struct{ connection, symbol int }
		taken := map[seat]int{}
		for i := range streams {
			n := place.Indices(i)[0]
			perSymbol[n]++
			taken[seat{place.Connection(i), n}]++
		}
		for n, count := range perSymbol {
			if count != streams/symbols {
				t.Errorf("%d connections: %d streams take symbol %d, want %d", connections, count, n, streams/symbols)
			}
		}
		if len(taken) != streams { // all different: one each on a connection
			t.Errorf("%d connections: %d pairs of connection and symbol, want %d", connections, len(taken), streams)
		}
	}
}
