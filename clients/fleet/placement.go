// Package fleet opens many streams on one exchange, as a plan places them, and
// has every delivery measured.
package fleet

// Placement says on which connection a stream sits and which symbols it takes,
// so that the subscribers of each symbol spread the same way whatever the
// transport.
type Placement struct {
	Connections      int
	Symbols          int
	SymbolsPerStream int // 0 counts as 1
}

// Connection returns the connection of a stream, both counted from 0.
func (p Placement) Connection(stream int) int { return stream % p.Connections }

// Indices returns the symbols of a stream: (i mod C + ⌊i/C⌋) mod S and the k-1
// that follow it.
func (p Placement) Indices(stream int) []int {
	first := stream%p.Connections + stream/p.Connections
	out := make([]int, max(p.SymbolsPerStream, 1))
	for k := range out {
		out[k] = (first + k) % p.Symbols
	}
	return out
}
