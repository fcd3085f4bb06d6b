// Package read receives from an exchange or a peer over very many connections in
// one loop, and counts what comes.
package read

import "fmt"

// Placement says which stream sits where, as the exchange's fleets place them.
type Placement struct {
	Streams     int
	Connections int
	Symbols     int
}

// Check returns an error that says what is wrong.
func (p Placement) Check() error {
	if p.Streams < 1 || p.Connections < 1 || p.Connections > p.Streams || p.Symbols < 1 {
		return fmt.Errorf("%d streams on %d connections with %d symbols: want 1 or more of each, and no more connections than streams",
			p.Streams, p.Connections, p.Symbols)
	}
	return nil
}

// On returns the streams of a connection, from the first.
func (p Placement) On(connection int) []int {
	var out []int
	for i := connection; i < p.Streams; i += p.Connections {
		out = append(out, i)
	}
	return out
}

// Symbol returns the symbol of a stream, counted from 0.
func (p Placement) Symbol(stream int) int {
	return (stream%p.Connections + stream/p.Connections) % p.Symbols
}

// Subscribers returns how many streams each symbol has.
func (p Placement) Subscribers() []int64 {
	out := make([]int64, p.Symbols)
	for i := range p.Streams {
		out[p.Symbol(i)]++
	}
	return out
}

// Name returns the name that the synthetic source gives a symbol.
func (p Placement) Name(symbol int) string {
	return fmt.Sprintf("SYM%0*d", max(3, len(fmt.Sprint(p.Symbols))), symbol+1)
}
