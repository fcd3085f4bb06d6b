package fault

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

// kind is what an entry of the ledger counts.
type kind uint8

const (
	none kind = iota
	lost
	duplicated
	reordered
	delayed
)

// key is where the choices for the n-th subscription of a symbol come from.
func key(seed, n uint64, symbol string) uint64 {
	h := fnv.New64a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], n)
	_, _ = h.Write(b[:]) // a hash takes everything
	_, _ = h.Write([]byte(symbol))
	return h.Sum64()
}

// choose says what goes wrong with the tick of a sequence. It depends on the key and
// the sequence alone, so that neither batches nor the order of streams matter.
func (o *Options) choose(key, seq uint64) kind {
	if o.Loss+o.Duplicate+o.Reorder == 0 {
		return none
	}
	var g rand.PCG
	g.Seed(key, seq)
	u := float64(g.Uint64()>>11) / (1 << 53)
	switch {
	case u < o.Loss:
		return lost
	case u < o.Loss+o.Duplicate:
		return duplicated
	case u < o.Loss+o.Duplicate+o.Reorder:
		return reordered
	}
	return none
}
