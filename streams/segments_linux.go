package streams

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// segmentsOf reads what a connection has sent from the kernel's TCP_INFO. It reports
// false where the connection is no TCP socket, or closed.
func segmentsOf(c net.Conn) (Segments, bool) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return Segments{}, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return Segments{}, false
	}
	var info *unix.TCPInfo
	if raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}) != nil || err != nil {
		return Segments{}, false
	}
	return Segments{Sent: int64(info.Segs_out), Data: int64(info.Data_segs_out), Retransmitted: int64(info.Total_retrans)}, true
}
