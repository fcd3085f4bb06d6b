package poll

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for what must happen; no test waits that long when all is well.
const patience = 30 * time.Second

type got struct {
	data     []byte
	at       int64
	kernelNS int64
	ended    bool
	err      error
}

// sink hands on copies of what comes.
type sink chan got

func (s sink) Data(b []byte, atNS, kernelNS int64) {
	s <- got{data: bytes.Clone(b), at: atNS, kernelNS: kernelNS}
}

func (s sink) Ended(err error) { s <- got{ended: true, err: err} }

func (s sink) next(t *testing.T) got {
	t.Helper()
	select {
	case g := <-s:
		return g
	case <-time.After(patience):
		t.Fatalf("nothing within %s", patience)
		panic("unreachable")
	}
}

// looped is a socket of a loop that runs, and its peer.
func looped(t *testing.T, opts Options) (s *Socket, in sink, peer net.Conn, stop func()) {
	t.Helper()
	l, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if peer, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	in = make(sink, 1024)
	if s, err = l.Add(conn, in); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = peer.Close()
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return s, in, peer, cancel
}

// What the peer sends comes in its order, with the time of the read and that of the
// kernel before it; what is written reaches the peer, also what the kernel does not
// take at once.
func TestLoopReadsAndWrites(t *testing.T) {
	s, in, peer, _ := looped(t, Options{MaxPending: 64 << 20})
	began := feed.Now()
	if _, err := peer.Write([]byte("tick")); err != nil {
		t.Fatal(err)
	}
	g := in.next(t)
	if string(g.data) != "tick" || g.at < began || g.at > feed.Now() {
		t.Errorf("%+v, written at %d", g, began)
	}
	const slack = int64(50 * time.Millisecond) // of two clocks
	if g.kernelNS != 0 && (g.kernelNS < began-slack || g.kernelNS > g.at+slack) {
		t.Errorf("the kernel's stamp %d, read at %d", g.kernelNS, g.at)
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	if err := s.Write(large); err != nil {
		t.Fatal(err)
	}
	if s.Pending() == 0 {
		t.Error("the kernel took 16 MB that nobody reads")
	}
	back := make([]byte, len(large))
	if _, err := io.ReadFull(peer, back); err != nil || !bytes.Equal(back, large) {
		t.Errorf("the peer reads something else: %v", err)
	}
}

// A full socket takes nothing of a further write.
func TestSocketIsBounded(t *testing.T) {
	s, _, _, _ := looped(t, Options{MaxPending: 1 << 10})
	var err error
	for range 1 << 20 {
		if err = s.Write(make([]byte, 1<<10)); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) || s.Pending() > 2<<10 {
		t.Errorf("%v, and %d bytes wait", err, s.Pending())
	}
}

// The last call names why it is the last.
func TestLoopTellsTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(s *Socket, peer net.Conn, stop func())
		want error
	}{
		"closed":  {func(s *Socket, _ net.Conn, _ func()) { s.Close() }, nil},
		"peer":    {func(_ *Socket, peer net.Conn, _ func()) { _ = peer.Close() }, io.EOF},
		"stopped": {func(_ *Socket, _ net.Conn, stop func()) { stop() }, ErrStopped},
	} {
		t.Run(name, func(t *testing.T) {
			s, in, peer, stop := looped(t, Options{})
			c.end(s, peer, stop)
			if g := in.next(t); !g.ended || !errors.Is(g.err, c.want) {
				t.Errorf("%+v, want the end with %v", g, c.want)
			}
		})
	}
}
