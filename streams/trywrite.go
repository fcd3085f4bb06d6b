package streams

import (
	"net"

	"github.com/tickgauge/tickgauge/streams/fanout"
)

// NonBlocking returns a way to write to a connection of a Traffic's listener, or any
// other socket, without waiting. It counts as the connection's Write does. It reports
// false where the connection is no socket of the system, as one with TLS, or the
// system has no such write. One goroutine at a time may call TryWrite, beside one that
// waits.
func NonBlocking(c net.Conn) (fanout.TryWriter, bool) {
	var traffic *Traffic
	if counted, ok := c.(*countedConn); ok {
		c, traffic = counted.Conn, counted.traffic
	}
	return nonBlocking(c, traffic)
}

// Blocking is a TryWriter for any other connection, whose writes wait.
func Blocking(c net.Conn) fanout.TryWriter { return blocking{c} }

type blocking struct{ conn net.Conn }

// TryWrite is fanout.TryWriter's, but waits.
func (b blocking) TryWrite(p []byte) (int, error) { return b.conn.Write(p) }

// WaitWritable is fanout.TryWriter's.
func (b blocking) WaitWritable() error { return nil }
