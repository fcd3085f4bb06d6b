package fanout

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/tickgauge/tickgauge/feed"
)

// TryWriter is a socket that can be written without waiting.
type TryWriter interface {
	// TryWrite writes what the kernel takes now. Fewer bytes than given, without an
	// error, say that it takes no more.
	TryWrite(b []byte) (int, error)
	// WaitWritable returns when the kernel may take more, or with why it never will.
	WaitWritable() error
}

// maxWritten is how many bytes of Write may wait in a Socket before it blocks.
const maxWritten = 16 << 10

// ErrEnded is returned by a Socket after SendLast.
var ErrEnded = errors.New("the stream has ended: nothing is sent behind its last bytes")

// Socket is a Sink over one socket. What the kernel does not take waits, and nothing
// is written before it. Its methods may be called from any goroutine; what one call
// sends is never cut by another.
type Socket struct {
	socket TryWriter
	since  atomic.Int64 // when bytes began to wait; 0: none do

	mu      sync.Mutex
	waiting []byte
	err     error
	last    bool
	moved   chan struct{} // closed when fewer bytes wait, or err is set; nil: nobody looks
}

// NewSocket returns a Sink that writes to socket.
func NewSocket(socket TryWriter) *Socket { return &Socket{socket: socket} }

// Send writes b, or keeps a copy of what the kernel does not take, without waiting.
// One who goes on sending while Flush reports false is not bounded by it. The error
// is why the socket takes nothing any more.
func (s *Socket) Send(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(b)
}

// SendLast is Send for the last bytes: every later one fails with ErrEnded.
func (s *Socket) SendLast(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.send(b)
	s.last = true
	return err
}

func (s *Socket) send(b []byte) error {
	switch {
	case s.err != nil:
		return s.err
	case s.last:
		return ErrEnded
	case len(s.waiting) > 0:
		s.waiting = append(s.waiting, b...)
		return nil
	}
	n, err := s.socket.TryWrite(b)
	if err != nil {
		return s.fail(err)
	}
	if n < len(b) {
		s.waiting = append(s.waiting, b[n:]...)
		s.since.Store(feed.Now())
	}
	return nil
}

func (s *Socket) fail(err error) error {
	s.err, s.waiting = err, nil
	s.since.Store(0)
	s.tell()
	return err
}

func (s *Socket) tell() {
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}

// Write is io.Writer's: Send for who has no Flush to heed. It waits where much waits
// already.
func (s *Socket) Write(b []byte) (int, error) {
	s.mu.Lock()
	for s.err == nil && !s.last && len(s.waiting) > maxWritten {
		s.mu.Unlock()
		s.drain(maxWritten)
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	if err := s.send(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush is Sink's.
func (s *Socket) Flush() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moved == nil { // who waits for the kernel flushes itself
		s.flush()
	}
	return len(s.waiting) == 0
}

// flush offers the kernel what waits. The caller has the lock.
func (s *Socket) flush() {
	if len(s.waiting) == 0 {
		return
	}
	n, err := s.socket.TryWrite(s.waiting)
	switch {
	case err != nil:
		_ = s.fail(err) // which the next Send returns
	case n == len(s.waiting):
		s.waiting = nil // an idle stream keeps no buffer
		s.since.Store(0)
		s.tell()
	case n > 0:
		s.waiting = append(s.waiting[:0], s.waiting[n:]...)
		s.tell()
	}
}

// Wait is Sink's.
func (s *Socket) Wait() { s.drain(0) }

// drain waits until at most so many bytes wait, or the socket is over. One caller
// waits for the kernel, further ones for that one.
func (s *Socket) drain(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && len(s.waiting) > most {
		if s.moved != nil {
			moved := s.moved
			s.mu.Unlock()
			<-moved
			s.mu.Lock()
			continue
		}
		moved := make(chan struct{})
		s.moved = moved
		s.mu.Unlock()
		err := s.socket.WaitWritable()
		s.mu.Lock()
		switch {
		case err != nil && s.err == nil:
			_ = s.fail(err)
		case err == nil:
			s.flush()
		}
		if s.moved == moved { // nothing moved: another may wait for the kernel now
			s.tell()
		}
	}
}

// Since returns since when some bytes wait, CLOCK_MONOTONIC, or 0 where none do.
func (s *Socket) Since() int64 { return s.since.Load() }

// Err returns why the socket takes nothing any more, nil where it does.
func (s *Socket) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Cut makes the socket fail with err, for what waits too. Who waits in WaitWritable
// must be freed by the caller, who closes the connection or sets its deadline.
func (s *Socket) Cut(err error) {
	if err == nil {
		err = net.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		_ = s.fail(err)
	}
}
