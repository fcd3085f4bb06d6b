package trader

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync/atomic"
)

// ids gives every order of a run an id of its own, all equally long, that no other
// run has used.
type ids struct {
	prefix string
	last   *atomic.Uint64
}

func newIDs() ids {
	return ids{prefix: strings.ToLower(rand.Text()[:10]) + "-", last: new(atomic.Uint64)}
}

func (i ids) next() string {
	const width = 10
	var buf [32]byte
	b := append(buf[:0], i.prefix...)
	var digits [20]byte
	n := strconv.AppendUint(digits[:0], i.last.Add(1), 10)
	for range width - len(n) {
		b = append(b, '0')
	}
	return string(append(b, n...))
}
