package streams

import (
	"net"
	"sync"
	"sync/atomic"
)

// Traffic counts what passes the sockets of a listener. Bytes are those written
// to and read from the sockets, framing included, TCP and IP not.
type Traffic struct {
	accepted, open, read, written atomic.Int64

	mu     sync.Mutex
	conns  map[*countedConn]struct{} // open ones
	closed Segments                  // of those that are closed
	told   bool                      // the system told them
}

// TrafficCount is a reading of a Traffic.
type TrafficCount struct {
	Accepted     int64 `json:"accepted"` // connections ever
	Open         int64 `json:"open"`     // connections now
	ReadBytes    int64 `json:"read_bytes"`
	WrittenBytes int64 `json:"written_bytes"`
}

// Count reads the counters. Any goroutine may call it.
func (t *Traffic) Count() TrafficCount {
	return TrafficCount{Accepted: t.accepted.Load(), Open: t.open.Load(), ReadBytes: t.read.Load(), WrittenBytes: t.written.Load()}
}

// Listen wraps a listener so that its connections are counted.
func (t *Traffic) Listen(l net.Listener) net.Listener {
	return &countedListener{Listener: l, traffic: t}
}

type countedListener struct {
	net.Listener
	traffic *Traffic
}

func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.traffic.accepted.Add(1)
	l.traffic.open.Add(1)
	counted := &countedConn{Conn: c, traffic: l.traffic}
	l.traffic.keep(counted)
	return counted, nil
}

type countedConn struct {
	net.Conn
	traffic *Traffic
	closed  atomic.Bool
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.traffic.read.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.traffic.written.Add(int64(n))
	return n, err
}

func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.traffic.open.Add(-1)
		c.traffic.forget(c)
	}
	return c.Conn.Close()
}
