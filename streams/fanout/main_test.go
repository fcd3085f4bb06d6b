package fanout

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for what must happen; no test waits that long when all is well.
const patience = 30 * time.Second

func newPool(t testing.TB, opts Options) *Pool {
	t.Helper()
	p, err := NewPool(opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("not within %s: %s", patience, what)
		panic("unreachable")
	}
}

// kernel is a socket that takes what it has room for.
type kernel struct {
	mu    sync.Mutex
	taken []byte
	room  int // -1: any
	err   error
	more  chan struct{} // closed and made anew when there is room
	tries int
}

func newKernel(room int) *kernel { return &kernel{room: room, more: make(chan struct{})} }

func (k *kernel) TryWrite(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tries++
	if k.err != nil {
		return 0, k.err
	}
	n := len(b)
	if k.room >= 0 {
		n = min(n, k.room)
		k.room -= n
	}
	k.taken = append(k.taken, b[:n]...)
	return n, nil
}

func (k *kernel) WaitWritable() error {
	for {
		k.mu.Lock()
		room, err, more := k.room, k.err, k.more
		k.mu.Unlock()
		if err != nil || room != 0 {
			return err
		}
		<-more
	}
}

// give makes room for n more bytes, or for any where n is negative.
func (k *kernel) give(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n < 0 {
		k.room = -1
	} else {
		k.room += n
	}
	close(k.more)
	k.more = make(chan struct{})
}

func (k *kernel) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
	close(k.more)
	k.more = make(chan struct{})
}

func (k *kernel) written() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return string(k.taken)
}

func (k *kernel) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tries
}
