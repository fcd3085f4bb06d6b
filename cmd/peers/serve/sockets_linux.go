package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxWaiting is how many bytes may wait for a client that does not read; what
// comes beyond is dropped.
const maxWaiting = 1 << 20

// session is what a protocol keeps of a connection. The reading loop alone calls
// it: data with what the client has sent, and left once when it is gone.
type session interface {
	data(b []byte) error
	left()
}

// conn is a connection that anybody may write to without waiting.
type conn struct {
	fd      int
	epoll   int
	session session

	mu      sync.Mutex
	waiting []byte // what the kernel did not take
	closed  bool
}

// write sends b, or keeps a copy of what the kernel does not take. It reports
// false where nothing of b was taken, since the client is gone or has too much
// waiting for it already.
func (c *conn) write(b []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed, len(c.waiting)+len(b) > maxWaiting:
		return false
	case len(c.waiting) > 0:
		c.waiting = append(c.waiting, b...)
		return true
	}
	n := c.send(b)
	if n < len(b) {
		c.waiting = append(c.waiting, b[n:]...)
		c.interest(unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLOUT)
	}
	return true
}

// send is one write(2), raw since it never blocks: the runtime need not be told.
// An error shows again where the loop reads.
func (c *conn) send(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0
	}
	return int(n)
}

func (c *conn) interest(events uint32) {
	_ = unix.EpollCtl(c.epoll, unix.EPOLL_CTL_MOD, c.fd, &unix.EpollEvent{Events: events, Fd: int32(c.fd)})
}

// flush writes on what has waited.
func (c *conn) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.send(c.waiting)
	c.waiting = c.waiting[n:]
	if len(c.waiting) == 0 {
		c.waiting = nil
		c.interest(unix.EPOLLIN | unix.EPOLLRDHUP)
	}
}

func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.waiting = nil
	_ = unix.Close(c.fd)
}

// sockets accepts and reads all connections in one loop.
type sockets struct {
	epoll int
	ln    int
	conns map[int32]*conn
	open  func(c *conn) session
}

// serveSockets serves ln until ctx is done, with a session by open for each
// connection.
func serveSockets(ctx context.Context, ln net.Listener, open func(c *conn) session) error {
	file, err := ln.(*net.TCPListener).File()
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { _ = file.Close(); _ = ln.Close() }()
	s := &sockets{ln: int(file.Fd()), conns: make(map[int32]*conn), open: open}
	if err := unix.SetNonblock(s.ln, true); err != nil {
		return err
	}
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	for _, fd := range []int{s.ln, wake} {
		if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			return fmt.Errorf("epoll: %w", err)
		}
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	err = s.loop(ctx, wake)
	if !stop() {
		<-woken // before its descriptor is closed
	}
	for _, c := range s.conns {
		s.leave(c)
	}
	_ = unix.Close(wake)
	_ = unix.Close(s.epoll)
	return err
}

func (s *sockets) loop(ctx context.Context, wake int) error {
	events := make([]unix.EpollEvent, 256)
	buf := make([]byte, 64<<10)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(s.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("epoll wait: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			switch int(e.Fd) {
			case s.ln:
				if err := s.accept(); err != nil {
					return err
				}
			case wake:
			default:
				if c := s.conns[e.Fd]; c != nil {
					s.ready(c, e.Events, buf)
				}
			}
		}
	}
	return nil
}

func (s *sockets) accept() error {
	for {
		fd, _, err := unix.Accept4(s.ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
		case unix.EAGAIN:
			return nil
		case unix.EINTR, unix.ECONNABORTED:
			continue
		default:
			return fmt.Errorf("accept: %w", err)
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		c := &conn{fd: fd, epoll: s.epoll}
		if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: int32(fd)}); err != nil {
			return fmt.Errorf("epoll: %w", err)
		}
		c.session = s.open(c)
		s.conns[int32(fd)] = c
	}
}

func (s *sockets) ready(c *conn, events uint32, buf []byte) {
	if events&unix.EPOLLOUT != 0 {
		c.flush()
	}
	if events&^unix.EPOLLOUT == 0 {
		return
	}
	n, err := unix.Read(c.fd, buf)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
	case err != nil || n <= 0:
		s.leave(c)
	default:
		if c.session.data(buf[:n]) != nil {
			s.leave(c)
		}
	}
}

func (s *sockets) leave(c *conn) {
	c.session.left()
	delete(s.conns, int32(c.fd))
	c.close()
}
