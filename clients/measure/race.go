package measure

import "sync"

// races has the race of each symbol.
type races struct {
	mu       sync.Mutex
	bySymbol map[string]*race
}

// of returns the symbol's race. Any goroutine may call it.
func (r *races) of(symbol string) *race {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.bySymbol[symbol]
	if c == nil {
		if r.bySymbol == nil {
			r.bySymbol = make(map[string]*race)
		}
		c = &race{all: r}
		r.bySymbol[symbol] = c
	}
	return c
}

// The ticks that races follow at once: so many in all, which is 4 MB, and within
// these bounds for each symbol.
const (
	followedTicks = 1 << 17
	fewestTicks   = 16
	mostTicks     = 4096
)

// share is how many ticks each symbol may follow, a power of two.
func (r *races) share() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := mostTicks
	for n > fewestTicks && n*len(r.bySymbol) > followedTicks {
		n /= 2
	}
	return n
}

// race follows the newest ticks of one symbol from the first subscriber that
// receives each to the last. Subscribers of one symbol share its lock for a few
// nanoseconds a delivery. A ring of the newest ticks bounds it; a delivery older
// than the ring is late, and counts as the last of its tick.
type race struct {
	all *races

	mu          sync.Mutex
	subscribers int      // that are live
	ring        []finish // by sequence; made at the first delivery
	late        int64
}

// finish is what is known of the deliveries of one tick.
type finish struct {
	seq             uint64 // 0: of none yet
	n               int    // deliveries
	firstNS, lastNS int64  // the earliest and the latest receive stamp
}

// join and leave count a live subscriber in and out.
func (c *race) join()  { c.enter(1) }
func (c *race) leave() { c.enter(-1) }

func (c *race) enter(n int) {
	c.mu.Lock()
	c.subscribers += n
	c.mu.Unlock()
}

// arrived takes one delivery and returns its rank among the subscribers: 0 for the
// first and 1 for the last. It is not ranked where nobody else has subscribed. The
// spread of the tick that makes room in the ring goes into spread.
func (c *race) arrived(seq uint64, receivedNS int64, spread *Histogram) (rank float64, ranked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subscribers < 2 {
		return 0, false
	}
	if c.ring == nil {
		c.ring = make([]finish, c.all.share())
	}
	f := &c.ring[seq%uint64(len(c.ring))]
	switch {
	case seq < f.seq:
		c.late++
		return 1, true
	case seq > f.seq:
		f.settle(spread)
		*f = finish{seq: seq, firstNS: receivedNS, lastNS: receivedNS}
	}
	f.firstNS, f.lastNS = min(f.firstNS, receivedNS), max(f.lastNS, receivedNS)
	rank = min(float64(f.n)/float64(c.subscribers-1), 1) // more than all: somebody has left since
	f.n++
	return rank, true
}

// settle records the spread of a tick that several received.
func (f *finish) settle(spread *Histogram) {
	if f.n > 1 {
		spread.Record(f.lastNS - f.firstNS)
	}
}

// end settles the ticks still followed, and returns how many deliveries were late.
// Nothing may arrive any more.
func (r *races) end(spread *Histogram) (late int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.bySymbol {
		c.mu.Lock()
		for i := range c.ring {
			c.ring[i].settle(spread)
			c.ring[i].n = 0
		}
		late += c.late
		c.mu.Unlock()
	}
	return late
}
