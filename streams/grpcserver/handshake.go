package grpcserver

import (
	"net"
	"sync"
	"time"
)

// handshakes is a listener that knows which of its connections have yet to finish
// their HTTP/2 handshake. A stop of grpc-go, graceful or not, first waits for
// these, so that one client that connects and says nothing would hold it, and
// everybody's end, for the whole handshake timeout.
type handshakes struct {
	net.Listener

	mu      sync.Mutex
	pending map[*handshake]struct{}
	cut     bool
}

func newHandshakes(ln net.Listener) *handshakes {
	return &handshakes{Listener: ln, pending: make(map[*handshake]struct{})}
}

// Accept is net.Listener's.
func (l *handshakes) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	h := &handshake{Conn: c, among: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = c.Close() // what is read from it fails at once
		return c, nil
	}
	l.pending[h] = struct{}{}
	return h, nil
}

// Cut closes the connections that are still shaking hands, and those to come.
func (l *handshakes) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for h := range l.pending {
		_ = h.Conn.Close()
	}
	clear(l.pending)
}

// handshake is an accepted connection. grpc-go gives it a deadline for its
// handshake, and takes the deadline away when that is over.
type handshake struct {
	net.Conn
	among *handshakes
}

// SetDeadline is net.Conn's.
func (h *handshake) SetDeadline(t time.Time) error {
	if t.IsZero() {
		h.over()
	}
	return h.Conn.SetDeadline(t)
}

// Close is net.Conn's.
func (h *handshake) Close() error {
	h.over()
	return h.Conn.Close()
}

func (h *handshake) over() {
	h.among.mu.Lock()
	defer h.among.mu.Unlock()
	delete(h.among.pending, h)
}
