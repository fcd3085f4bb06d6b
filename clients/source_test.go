package clients

import (
	"net"
	"net/netip"
	"testing"
)

func TestSourceAddr(t *testing.T) {
	const loopback = "127.0.0.1:8080"
	for _, c := range []struct {
		name   string
		conn   int
		target string
		want   string // "": the system's choice
	}{
		{"the first", 0, loopback, ""},
		{"the last of the first address", 19_999, loopback, ""},
		{"the first of the second", 20_000, loopback, "127.0.0.2:0"},
		{"the last of the second", 39_999, loopback, "127.0.0.2:0"},
		{"the first of the third", 40_000, loopback, "127.0.0.3:0"},
		{"past the last byte", 20_000 * 255, loopback, "127.0.1.0:0"},
		{"another loopback target", 20_000, "127.1.2.3:8080", "127.0.0.2:0"},
		{"localhost", 20_000, "localhost:8080", "127.0.0.2:0"},
		{"IPv6 loopback", 20_000, "[::1]:8080", ""},
		{"IPv4 in IPv6", 20_000, "[::ffff:127.0.0.1]:8080", ""},
		{"remote", 20_000, "192.0.2.7:8080", ""},
		{"remote name", 20_000, "exchange.example:8080", ""},
		{"no port", 20_000, "127.0.0.1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if addr := SourceAddr(c.conn, c.target); addr != nil {
				got = addr.String()
			}
			if got != c.want {
				t.Errorf("address %q, want %q", got, c.want)
			}
			d := TCPDialer(c.conn, c.target)
			if (d.LocalAddr != nil) != (c.want != "") || d.LocalAddr != nil && d.LocalAddr.String() != c.want {
				t.Errorf("dialer from %v, want %q", d.LocalAddr, c.want)
			}
		})
	}
}

// Three addresses carry sixty thousand connections, none more than the system has
// ports for.
func TestSourceAddrSpreadsConnections(t *testing.T) {
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	load := map[string]int{}
	for conn := range 60_000 {
		addr := SourceAddr(conn, "127.0.0.1:8080")
		if addr == nil {
			load["127.0.0.1"]++ // what the system takes towards 127.0.0.1
			continue
		}
		ip := addr.(*net.TCPAddr).AddrPort().Addr().Unmap()
		if !loopback.Contains(ip) || addr.(*net.TCPAddr).Port != 0 {
			t.Fatalf("connection %d comes from %s, want loopback and any port", conn, addr)
		}
		load[ip.String()]++
	}
	if len(load) != 3 {
		t.Errorf("%d addresses, want 3: %v", len(load), load)
	}
	for addr, n := range load {
		if n > PortsPerSource {
			t.Errorf("%s has %d connections, want at most %d", addr, n, PortsPerSource)
		}
	}
}
