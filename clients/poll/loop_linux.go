package poll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Loop reads all sockets that are added to it. Any goroutine may call it.
type Loop struct {
	opts  Options
	epoll int
	wake  int // an eventfd

	mu      sync.Mutex
	queue   []func()
	woken   bool
	running bool
	stopped bool

	// Of Run's goroutine:
	sockets []*Socket // by descriptor
	again   []*Socket // not read empty yet
	closing []*Socket
	buf     []byte
	recv    receiver
	clocks  clocks
}

// New returns a loop, which reads nothing before Run. A loop that is never run must be
// closed with Close.
func New(opts Options) (*Loop, error) {
	if opts.MaxPending == 0 {
		opts.MaxPending = defaultMaxPending
	}
	l := &Loop{opts: opts}
	l.clocks = clocks{nowNS: now, wallNS: func() int64 { return time.Now().UnixNano() }}
	var err error
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("poll: epoll_create1: %w", err)
	}
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		_ = unix.Close(l.epoll)
		return nil, fmt.Errorf("poll: eventfd: %w", err)
	}
	if err = l.watch(unix.EPOLL_CTL_ADD, l.wake, unix.EPOLLIN); err != nil {
		l.closeFiles()
		return nil, fmt.Errorf("poll: %w", err)
	}
	return l, nil
}

func (l *Loop) closeFiles() {
	_ = unix.Close(l.wake)
	_ = unix.Close(l.epoll)
}

func (l *Loop) watch(op, fd int, events uint32) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}))
}

// Close frees a loop that was never run; one that was has freed itself.
func (l *Loop) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running && !l.stopped {
		l.stopped = true
		l.closeFiles()
	}
	return nil
}

// Do has Run's goroutine call f soon, in the order of the calls. It is false where the
// loop has ended, and f is not called then.
func (l *Loop) Do(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.queue = append(l.queue, f)
	l.rouse()
	return true
}

// rouse ends a wait of Run. The caller holds mu.
func (l *Loop) rouse() {
	if !l.woken {
		l.woken = true
		var one [8]byte
		one[0] = 1
		_, _ = unix.Write(l.wake, one[:]) // an eventfd of 1 takes it always
	}
}

// Add takes a TCP connection over, whatever comes of it, and has h told of what it
// brings. Nothing is told before Run runs.
func (l *Loop) Add(conn net.Conn, h Handler) (*Socket, error) {
	fd, err := detach(conn)
	_ = conn.Close() // fd is of the same socket
	if err != nil {
		return nil, fmt.Errorf("poll: take over %s: %w", conn.RemoteAddr(), err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("poll: %w", os.NewSyscallError("setsockopt SO_TIMESTAMPNS", err))
	}
	s := &Socket{loop: l, fd: fd, handler: h}
	if !l.Do(func() { l.add(s) }) {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("poll: %w", ErrStopped)
	}
	return s, nil
}

// detach returns a descriptor of the connection that the runtime does not poll.
func detach(conn net.Conn) (int, error) {
	holder, ok := conn.(syscall.Conn)
	if !ok {
		return -1, fmt.Errorf("a %T has no socket", conn)
	}
	raw, err := holder.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	var dup error
	err = raw.Control(func(of uintptr) { fd, dup = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(err, dup)
}

func (l *Loop) add(s *Socket) {
	if s.fd >= len(l.sockets) {
		l.sockets = append(l.sockets, make([]*Socket, s.fd+1-len(l.sockets))...)
	}
	l.sockets[s.fd] = s
	// The kernel tells once of each change, which spares it a second look at the socket
	// and us a call for each write that has to wait.
	const events = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET
	if err := l.watch(unix.EPOLL_CTL_ADD, s.fd, events); err != nil {
		l.end(s, err)
	}
}

// Run reads until ctx is done. Then every socket that is left ends with ErrStopped,
// after which Run returns nil; an error is of epoll itself. It may be called once.
func (l *Loop) Run(ctx context.Context) error {
	l.mu.Lock()
	if l.running || l.stopped {
		l.mu.Unlock()
		return errors.New("poll: a loop runs once")
	}
	l.running = true
	l.mu.Unlock()
	l.buf = make([]byte, readBytes)
	l.recv.init()
	stop := context.AfterFunc(ctx, func() { l.Do(func() {}) })
	err := l.run(ctx)
	stop()
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	l.work()
	for _, s := range l.sockets {
		if s != nil {
			l.end(s, ErrStopped)
		}
	}
	l.finish()
	l.mu.Lock() // nobody is in rouse
	defer l.mu.Unlock()
	l.closeFiles()
	return err
}

func (l *Loop) run(ctx context.Context) error {
	events := make([]unix.EpollEvent, 256)
	for ctx.Err() == nil {
		wait := -1
		if len(l.again) > 0 {
			wait = 0
		}
		n, err := unix.EpollWait(l.epoll, events, wait)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("poll: %w", os.NewSyscallError("epoll_wait", err))
		}
		l.clocks.refresh(now())
		again := l.again
		l.again = nil
		for _, s := range again {
			s.unread = false
			l.read(s, false)
		}
		for i := range max(n, 0) {
			l.event(&events[i])
		}
		l.work()
		l.finish()
	}
	return nil
}

func (l *Loop) event(e *unix.EpollEvent) {
	if int(e.Fd) == l.wake {
		var count [8]byte
		_, _ = unix.Read(l.wake, count[:])
		return
	}
	s := l.sockets[e.Fd]
	if s == nil || s.ended {
		return
	}
	if e.Events&unix.EPOLLOUT != 0 {
		if err := s.flush(); err != nil {
			// What the peer said before it went away is still to be read.
			l.read(s, true)
			l.end(s, err)
			return
		}
	}
	if e.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		l.read(s, e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0)
	}
}

// read reads a socket until it is empty, which a read that does not fill the buffer
// shows. One whose end was told of is read to the end, as nothing tells of it again.
func (l *Loop) read(s *Socket, toEnd bool) {
	s.toEnd = s.toEnd || toEnd
	for range mostReads {
		if s.ended || s.closed.Load() {
			return
		}
		n, stamp, err := l.recv.from(s.fd, l.buf)
		at := now()
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil:
			l.end(s, os.NewSyscallError("recvmsg", err))
			return
		case n == 0:
			l.end(s, io.EOF)
			return
		}
		s.handler.Data(l.buf[:n], at, l.clocks.monotonic(stamp))
		if n < len(l.buf) && !s.toEnd {
			return
		}
	}
	if !s.unread {
		s.unread = true
		l.again = append(l.again, s)
	}
}

// work calls what Do was given.
func (l *Loop) work() {
	l.mu.Lock()
	queue := l.queue
	l.queue, l.woken = nil, false
	l.mu.Unlock()
	for _, f := range queue {
		f()
	}
}

// end has a socket ended for a cause, the first that is given.
func (l *Loop) end(s *Socket, cause error) {
	if s.ended {
		return
	}
	s.ended, s.cause = true, cause
	if s.closed.Load() {
		s.cause = nil
	}
	l.closing = append(l.closing, s)
}

// finish closes the sockets that have ended. No event of this round is left, so that
// none can mean another socket with the same descriptor.
func (l *Loop) finish() {
	for len(l.closing) > 0 { // a handler may close others
		s := l.closing[0]
		l.closing = l.closing[1:]
		l.sockets[s.fd] = nil
		s.shut()
		s.handler.Ended(s.cause)
	}
	l.closing = nil
}
