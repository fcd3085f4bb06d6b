package poll

import (
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Socket is one connection of a Loop. Any goroutine may call it.
type Socket struct {
	loop    *Loop
	fd      int
	handler Handler
	closed  atomic.Bool

	mu      sync.Mutex
	pending []byte // what the kernel has not taken
	shutOff bool   // the descriptor is closed

	// Of the loop's goroutine:
	ended  bool  // to be closed at the end of the round
	cause  error // of that
	toEnd  bool  // nothing will tell of what is left to read
	unread bool  // is in Loop.again
}

// Write writes b without waiting: what the kernel does not take is kept and written
// when it does. ErrFull says that more would wait than the loop allows; nothing of b
// has been taken then. After an error of the system the socket's Ended follows.
func (s *Socket) Write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shutOff {
		return net.ErrClosed
	}
	if len(s.pending) > 0 {
		if len(s.pending)+len(b) > s.loop.opts.MaxPending {
			return ErrFull
		}
		s.pending = append(s.pending, b...)
		return nil
	}
	n, err := s.take(b)
	if err != nil {
		return err
	}
	if rest := b[n:]; len(rest) > 0 {
		if n == 0 && len(rest) > s.loop.opts.MaxPending {
			return ErrFull
		}
		s.pending = append(s.pending, rest...) // one that was begun is kept whole
	}
	return nil
}

// Pending is how many bytes wait for the kernel to take them.
func (s *Socket) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// take writes what the kernel takes. The caller holds mu.
func (s *Socket) take(b []byte) (n int, err error) {
	for n < len(b) {
		wrote, err := unix.SendmsgN(s.fd, b[n:], nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return n, nil
		case err != nil:
			return n, os.NewSyscallError("sendmsg", err)
		}
		n += wrote
	}
	return n, nil
}

// flush writes what waits.
func (s *Socket) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 || s.shutOff {
		return nil
	}
	n, err := s.take(s.pending)
	if err != nil {
		return err
	}
	if s.pending = append(s.pending[:0], s.pending[n:]...); len(s.pending) > 0 {
		return nil
	}
	s.pending = nil
	return nil
}

// Close ends the connection soon, without what waits to be written. It does not wait;
// the handler's Ended, with nil unless the connection had broken before, is the last
// of it. Further calls do nothing.
func (s *Socket) Close() {
	if !s.closed.Swap(true) {
		s.loop.Do(func() { s.loop.end(s, nil) }) // a loop that has ended has closed it
	}
}

func (s *Socket) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutOff, s.pending = true, nil
	_ = unix.Close(s.fd) // epoll forgets it
}
