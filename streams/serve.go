package streams

import (
	"context"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/streams/fanout"
)

// serving is a session that the exchange's workers write, in place of a goroutine in
// Run. What may take long leaves them: a session that carries executions, or waits for
// an order at its end, goes on in a goroutine.
type serving struct {
	session *Session
	writer  Writer
	task    *fanout.Task
	socket  *fanout.Socket
	ended   func(error)
	stop    func() bool // of what cuts

	// Of the task's run:
	greeted bool
	over    bool // or in a goroutine
}

// ServeSocket writes the session into a socket by the exchange's workers, as Run
// does, and returns at once: w sends to the socket. When the session must end at once
// cut is called, which frees whoever waits for the socket to be writable; ended is
// called once, in a goroutine of its own, with what Run would return. It is called in
// place of Run, and Close must follow ended.
func (s *Session) ServeSocket(socket *fanout.Socket, w Writer, cut func(), ended func(error)) {
	v := &serving{session: s, writer: w, socket: socket, ended: ended}
	v.task = s.exchange.pool.NewConn(socket).NewTask(v.turn)
	v.stop = context.AfterFunc(s.ctx, func() {
		cut()
		v.task.Schedule()
	})
	s.lookedNS = feed.Now() // before the exchange looks
	s.serving.Store(v)
	v.task.Schedule()
}

// wake has the session's turn come, where it is one that the workers write.
func (s *Session) wake() {
	if v := s.serving.Load(); v != nil {
		v.task.Schedule()
	}
}

// turn is one turn of a worker, as the task's run.
func (v *serving) turn() (more bool) {
	if v.over {
		return false
	}
	s := v.session
	if err := v.write(); err != nil {
		v.over = true
		go v.end(err)
		return false
	}
	if s.watching.Load() != nil || closed(s.exchange.closing) {
		v.over = true
		go func() { v.end(s.loop(waitingWriter{v.writer, v.socket})) }()
	}
	return false // a queue that was not emptied signals by itself
}

func (v *serving) write() error {
	s := v.session
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if !v.greeted {
		v.greeted = true
		if err := s.greet(v.writer); err != nil {
			return err
		}
	}
	if err := s.answers(v.writer); err != nil {
		return err
	}
	if closed(s.exchange.closing) {
		return nil // the goroutine that takes over writes what waits
	}
	if err := s.drain(v.writer); err != nil {
		return err
	}
	if s.beat.Swap(false) && !s.wrote.Swap(false) {
		return s.heartbeat(v.writer)
	}
	return nil
}

// end tells the transport, when nothing cuts any more.
func (v *serving) end(err error) {
	v.session.serving.Store(nil)
	v.stop()
	v.ended(err)
}

// look asks for a heartbeat where the session was silent for half the interval. The
// exchange's Run calls it.
func (s *Session) look(now int64) {
	if now-s.lookedNS < int64(s.exchange.opts.Heartbeat/2) {
		return
	}
	s.lookedNS = now
	if !s.wrote.Swap(false) {
		s.beat.Store(true)
		s.wake()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// waitingWriter is the writer of a session that has left the workers: it waits until
// the socket has taken what was written.
type waitingWriter struct {
	writer Writer
	socket *fanout.Socket
}

// WriteMessage is Writer's.
func (w waitingWriter) WriteMessage(m *feed.Message) error { return w.wait(w.writer.WriteMessage(m)) }

// WriteTicks is Writer's.
func (w waitingWriter) WriteTicks(ticks [][]byte) error { return w.wait(w.writer.WriteTicks(ticks)) }

// WriteExecution is Writer's.
func (w waitingWriter) WriteExecution(e *order.Execution) error {
	return w.wait(w.writer.WriteExecution(e))
}

func (w waitingWriter) wait(err error) error {
	if err != nil {
		return err
	}
	w.socket.Wait()
	return w.socket.Err()
}
