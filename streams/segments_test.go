package streams

import (
	"io"
	"net"
	"runtime"
	"testing"
)

// tcpPair returns both ends of a connection that traffic counts on the second.
func tcpPair(t testing.TB, ln net.Listener) (client, server net.Conn) {
	t.Helper()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return client, server
}

func counted(t testing.TB) (*Traffic, net.Listener) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	traffic := new(Traffic)
	return traffic, traffic.Listen(inner)
}

// Every write that is read before the next one leaves in a segment of its own, and
// what a connection sent stays counted when it is closed.
func TestSegments(t *testing.T) {
	traffic, ln := counted(t)
	if s, ok := traffic.Segments(); ok {
		t.Errorf("segments %+v before the first connection", s)
	}
	const writes = 20
	client, server := tcpPair(t, ln)
	before, ok := traffic.Segments()
	if runtime.GOOS != "linux" {
		if ok {
			t.Error("segments are told by a system that does not tell")
		}
		return
	}
	for range writes {
		if _, err := server.Write([]byte("tick")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
	}
	open, _ := traffic.Segments()
	if n := open.Data - before.Data; !ok || n < writes || open.Sent < open.Data || open.Retransmitted < 0 {
		t.Errorf("%d segments with data of %d writes, %+v", n, writes, open)
	}
	_ = server.Close()
	closed, ok := traffic.Segments()
	if !ok || closed.Sent < open.Sent || len(traffic.conns) != 0 {
		t.Errorf("%+v after the close, with %d connections; before it %+v", closed, len(traffic.conns), open)
	}
}

// A connection that is no socket has no segments, and is counted all the same.
func TestSegmentsOfWhatIsNoSocket(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if s, ok := segmentsOf(a); ok {
		t.Errorf("a pipe has segments %+v", s)
	}
}

// BenchmarkSegments reads 1,000 sockets in each round.
func BenchmarkSegments(b *testing.B) {
	const sockets = 1000
	traffic, ln := counted(b)
	for range sockets {
		tcpPair(b, ln)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		traffic.Segments()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/sockets, "ns/socket")
}
