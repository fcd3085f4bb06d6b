package clients

import (
	"net"
	"net/netip"
)

// PortsPerSource is how many connections are opened from one source address
// before the next is taken; Linux has 28,232 ephemeral ports per address.
const PortsPerSource = 20_000

// SourceAddr returns the local address for connection number conn, counted from
// 0: nil, which leaves it to the system, for the first PortsPerSource
// connections and for targets that are not IPv4 loopback; then 127.0.0.2,
// 127.0.0.3 and so on.
func SourceAddr(conn int, target string) net.Addr {
	block := conn / PortsPerSource
	host, _, err := net.SplitHostPort(target)
	if block == 0 || err != nil {
		return nil
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Is4() || !ip.IsLoopback() {
		return nil
	}
	n := block + 1 // 127.0.0.1 is the system's choice
	return &net.TCPAddr{IP: net.IPv4(127, byte(n>>16), byte(n>>8), byte(n))}
}

// TCPDialer returns the dialer of TCP connection number conn to target.
func TCPDialer(conn int, target string) *net.Dialer {
	return &net.Dialer{LocalAddr: SourceAddr(conn, target)}
}
