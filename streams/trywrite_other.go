//go:build !unix

package streams

import (
	"net"

	"github.com/tickgauge/tickgauge/streams/fanout"
)

// nonBlocking needs a write that returns what the kernel did not take.
func nonBlocking(net.Conn, *Traffic) (fanout.TryWriter, bool) { return nil, false }
