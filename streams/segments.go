package streams

// Segments counts TCP segments. The kernel counts each connection's in 32 bits.
type Segments struct {
	Sent          int64 // bare acknowledgements too
	Data          int64 // of them, those that carried data
	Retransmitted int64
}

func (s *Segments) add(o Segments) {
	s.Sent += o.Sent
	s.Data += o.Data
	s.Retransmitted += o.Retransmitted
}

// Segments sums over all connections, those that are closed too. It reports false
// where the system does not tell (any but Linux), or nothing was accepted yet. Any
// goroutine may call it. It asks the kernel once for every open connection, about a
// microsecond each, and accepting and closing wait for it; so call it seldom, and not
// at the edges of a window.
func (t *Traffic) Segments() (total Segments, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	total, ok = t.closed, t.told
	for c := range t.conns {
		if s, told := segmentsOf(c.Conn); told {
			total.add(s)
			ok = true
		}
	}
	return total, ok
}

// keep and forget follow the connections that are open.
func (t *Traffic) keep(c *countedConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conns == nil {
		t.conns = make(map[*countedConn]struct{})
	}
	t.conns[c] = struct{}{}
}

func (t *Traffic) forget(c *countedConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
	if s, told := segmentsOf(c.Conn); told {
		t.closed.add(s)
		t.told = true
	}
}
