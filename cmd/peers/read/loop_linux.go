package read

import (
	"context"
	"fmt"
	"net"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/feed"
)

// readBytes is the buffer that all connections share.
const readBytes = 256 << 10

// loop reads all connections in the goroutine of run.
type loop struct {
	epoll   int
	wake    int
	sockets map[int32]*pollSocket
	in, out int64 // bytes

	mu   sync.Mutex
	todo []func()
}

type pollSocket struct {
	loop    *loop
	fd      int
	handler handler
	waiting []byte // what the kernel did not take
	gone    bool
}

func newLoop() (*loop, error) {
	l := &loop{sockets: make(map[int32]*pollSocket)}
	var err error
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		_ = unix.Close(l.epoll)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	return l, l.watch(unix.EPOLL_CTL_ADD, l.wake, unix.EPOLLIN)
}

func (l *loop) watch(op, fd int, events uint32) error {
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// do has the loop call f soon. Any goroutine may call it.
func (l *loop) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.todo = append(l.todo, f)
	_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// add takes a connection over; opened is called in the loop with its socket. Any
// goroutine may call it.
func (l *loop) add(c net.Conn, h handler, opened func(s socket)) error {
	file, err := c.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close(); _ = c.Close() }()
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("duplicate a socket: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	l.do(func() {
		s := &pollSocket{loop: l, fd: fd, handler: h}
		l.sockets[int32(fd)] = s
		if err := l.watch(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN); err != nil {
			l.end(s, err)
			return
		}
		opened(s)
	})
	return nil
}

// run reads until ctx is done, and closes everything.
func (l *loop) run(ctx context.Context) error {
	defer l.shut()
	defer context.AfterFunc(ctx, func() { l.do(func() {}) })()
	events := make([]unix.EpollEvent, 512)
	buf := make([]byte, readBytes)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(l.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("epoll wait: %w", err)
		}
		for i := range max(n, 0) {
			if events[i].Fd == int32(l.wake) {
				l.work()
			} else if s := l.sockets[events[i].Fd]; s != nil {
				s.ready(events[i].Events, buf)
			}
		}
	}
	return nil
}

func (l *loop) work() {
	var count [8]byte
	_, _ = unix.Read(l.wake, count[:])
	l.mu.Lock()
	todo := l.todo
	l.todo = nil
	l.mu.Unlock()
	for _, f := range todo {
		f()
	}
}

func (l *loop) shut() {
	for _, s := range l.sockets {
		l.end(s, errStopped)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = unix.Close(l.wake)
	_ = unix.Close(l.epoll)
	l.wake = -1
}

func (l *loop) end(s *pollSocket, why error) {
	if s.gone {
		return
	}
	s.gone = true
	delete(l.sockets, int32(s.fd))
	_ = unix.Close(s.fd)
	s.handler.ended(why)
}

func (s *pollSocket) ready(events uint32, buf []byte) {
	if events&unix.EPOLLOUT != 0 {
		s.flush()
	}
	if events&^unix.EPOLLOUT == 0 || s.gone {
		return
	}
	n, err := unix.Read(s.fd, buf)
	at := feed.Now()
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
	case err != nil:
		s.loop.end(s, err)
	case n == 0:
		s.loop.end(s, errClosed)
	default:
		s.loop.in += int64(n)
		s.handler.data(buf[:n], at)
	}
}

func (s *pollSocket) write(b []byte) {
	if s.gone {
		return
	}
	s.loop.out += int64(len(b))
	if len(s.waiting) > 0 {
		s.waiting = append(s.waiting, b...)
		return
	}
	n, err := unix.Write(s.fd, b)
	if err != nil && err != unix.EAGAIN {
		return // reading tells
	}
	if n = max(n, 0); n < len(b) {
		s.waiting = append(s.waiting, b[n:]...)
		_ = s.loop.watch(unix.EPOLL_CTL_MOD, s.fd, unix.EPOLLIN|unix.EPOLLOUT)
	}
}

func (s *pollSocket) flush() {
	n, err := unix.Write(s.fd, s.waiting)
	if err != nil {
		return // reading tells, or it goes on later
	}
	if s.waiting = s.waiting[n:]; len(s.waiting) == 0 {
		s.waiting = nil
		_ = s.loop.watch(unix.EPOLL_CTL_MOD, s.fd, unix.EPOLLIN)
	}
}

func (s *pollSocket) close() { s.loop.end(s, errStopped) }
