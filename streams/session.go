package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// Writer is a transport's side of a session: it writes one message, or the
// encoded forms of several ticks together, or one execution, and returns once the
// transport has taken them. It is called from one goroutine, keeps nothing of its arguments
// but the shared bytes, and returns an error when the stream is over.
type Writer interface {
	WriteMessage(m *feed.Message) error
	WriteTicks(ticks [][]byte) error
	WriteExecution(e *order.Execution) error
}

// doomGrace is how long a stream that the policy ended has to take the problem
// that says so.
const doomGrace = time.Second

// Session is one subscriber's stream on the exchange's side. One goroutine runs
// Run, which writes; another may call Handle with what the subscriber says.
type Session struct {
	exchange *Exchange
	sub      *feed.Subscription
	encoding int   // of the hub, in which its ticks come
	queue    Queue // sub, or what stands before it
	ctx      context.Context
	cancel   context.CancelCauseFunc
	replies  chan reply
	watching atomic.Pointer[watching] // set once
	watched  chan struct{}            // tells Run that it is

	ordering sync.Mutex // held from an order's arrival to its answer

	writingSince atomic.Int64 // 0: not writing
	doomedSince  atomic.Int64

	serving  atomic.Pointer[serving] // nil: written by Run
	wrote    atomic.Bool             // since the last look for a heartbeat
	beat     atomic.Bool             // one is due, of a session that the workers write
	lookedNS int64                   // of the exchange's Run, once it is served

	// Of the goroutine that calls Handle:
	symbols    int
	second     int64
	subscribes int

	// Of the goroutine that calls Run:
	batch   feed.Batch
	ticks   [][]byte
	reports []order.Execution
}

// reply answers what the subscriber said: with a message, or where that is not nil
// with an execution.
type reply struct {
	message   feed.Message
	execution *order.Execution
}

// Context is done when the session must end at once, with the cause; a transport
// then cuts what it is blocked in.
func (s *Session) Context() context.Context { return s.ctx }

// End ends the session at once, for the cause given. The first cause stays.
func (s *Session) End(cause error) { s.cancel(cause) }

// Close releases the session after Run has returned, or in place of Run.
func (s *Session) Close() {
	s.cancel(feed.ErrClosed)
	s.sub.Close()
	if w := s.watching.Load(); w != nil {
		w.watch.Close()
	}
	s.exchange.remove(s)
}

func (s *Session) doom(*feed.Problem) { s.doomedSince.CompareAndSwap(0, feed.Now()) }

func (s *Session) sweep(now int64) {
	if at := s.doomedSince.Load(); at != 0 && now-at > int64(doomGrace) {
		s.cancel(&feed.Problem{Code: feed.CodeSlowConsumer, Fatal: true, Message: "the queue was full and the policy is disconnect"})
	}
	limit := s.exchange.opts.WriteTimeout
	at := s.writingSince.Load()
	if v := s.serving.Load(); v != nil {
		at = v.socket.Since()
		s.look(now)
	}
	if at != 0 && now-at > int64(limit) && s.ctx.Err() == nil {
		s.exchange.stats.timedOut.Add(1)
		s.cancel(&feed.Problem{Code: feed.CodeSlowConsumer, Fatal: true,
			Message: fmt.Sprintf("nothing could be written for %s; read the stream, or start the exchange with a larger --write-timeout", limit)})
	}
}

// Run says hello and then writes what the hub and the replies bring, until the
// session ends. It returns the *feed.Problem that ended the session (after
// telling it, where the transport still takes it), the writer's error, or the
// cause of the context.
func (s *Session) Run(w Writer) error {
	if err := s.greet(w); err != nil {
		return err
	}
	return s.loop(w)
}

func (s *Session) greet(w Writer) error {
	return s.write(w, &feed.Message{Hello: s.exchange.hello()})
}

func (s *Session) heartbeat(w Writer) error {
	return s.write(w, &feed.Message{Heartbeat: &feed.Heartbeat{SentNS: feed.Now()}})
}

// loop is Run after the hello.
func (s *Session) loop(w Writer) error {
	// Looking twice an interval keeps every silence below it.
	heartbeat := time.NewTicker(max(s.exchange.opts.Heartbeat/2, time.Millisecond))
	defer heartbeat.Stop()
	var reported <-chan struct{} // once there is an account to watch
	for {
		var err error
		select {
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-s.exchange.closing:
			if err := s.drainAll(w); err != nil {
				return err
			}
			if err := s.finish(w); err != nil {
				return err
			}
			return s.goodbye(w, shuttingDown())
		case r := <-s.replies:
			err = s.answer(w, r)
		case <-s.watched:
			// What the subscribe was answered comes before the executions.
			if err = s.catchUp(w); err == nil {
				reported = s.watching.Load().watch.Ready()
			}
		case <-reported:
			_, err = s.report(w)
		case <-s.queue.Ready():
			err = s.drain(w)
		case <-heartbeat.C:
			if !s.wrote.Swap(false) {
				err = s.heartbeat(w)
			}
		}
		if err != nil {
			return err
		}
	}
}

// catchUp writes all answers that wait.
func (s *Session) catchUp(w Writer) error {
	if err := s.answers(w); err != nil {
		return err
	}
	return s.drain(w)
}

// answers writes the replies that wait.
func (s *Session) answers(w Writer) error {
	for {
		select {
		case r := <-s.replies:
			if err := s.answer(w, r); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// drain writes what is ready, control messages first.
func (s *Session) drain(w Writer) error {
	if err := s.queue.Take(&s.batch, s.exchange.opts.BatchTicks); err != nil {
		var p *feed.Problem
		if errors.As(err, &p) {
			return s.goodbye(w, p)
		}
		return err
	}
	for i := range s.batch.Control {
		if err := s.write(w, &s.batch.Control[i]); err != nil {
			return err
		}
	}
	if len(s.batch.Frames) == 0 {
		return nil
	}
	s.ticks = s.ticks[:0]
	for _, f := range s.batch.Frames {
		s.ticks = append(s.ticks, s.sub.Encoded(f))
	}
	began := feed.Now()
	s.writingSince.Store(began)
	err := w.WriteTicks(s.ticks)
	s.writingSince.Store(0)
	s.wrote.Store(true)
	if o := s.exchange.opts.Observer; o != nil && err == nil {
		o.Wrote(s.encoding, s.ticks, began, feed.Now())
	}
	s.release()
	return err
}

// drainAll writes what waits at the call; what is published meanwhile may stay.
func (s *Session) drainAll(w Writer) error {
	for waiting := s.queue.Waiting(); ; waiting -= s.exchange.opts.BatchTicks {
		if err := s.drain(w); err != nil || waiting <= s.exchange.opts.BatchTicks {
			return err
		}
	}
}

// release lets frames go, and keeps no large buffer for a stream that is idle
// again.
func (s *Session) release() {
	const keep = 16
	clear(s.batch.Frames)
	clear(s.ticks)
	if cap(s.batch.Frames) > keep {
		s.batch.Frames, s.ticks = nil, nil
	}
	clear(s.batch.Control)
	if cap(s.batch.Control) > keep {
		s.batch.Control = nil
	}
}

// answer writes a reply. One that ends the session is its error.
func (s *Session) answer(w Writer, r reply) error {
	switch p := r.message.Problem; {
	case r.execution != nil:
		return s.execution(w, r.execution)
	case p != nil && p.Fatal:
		return s.goodbye(w, p)
	}
	return s.write(w, &r.message)
}

func (s *Session) write(w Writer, m *feed.Message) error {
	s.wrote.Store(true)
	return s.Send(func() error { return w.WriteMessage(m) })
}

func (s *Session) goodbye(w Writer, p *feed.Problem) error {
	if err := s.write(w, &feed.Message{Problem: p}); err != nil {
		return errors.Join(p, err)
	}
	return p
}

// Handle acts on what the subscriber said. A request that is refused is answered
// with a Problem on the stream, which goes on. Handle blocks while answers wait
// to be written and returns an error only when the session is over. One
// goroutine may call it.
func (s *Session) Handle(req *feed.Request) error {
	err := s.apply(req)
	if err == nil {
		return nil
	}
	var p *feed.Problem
	if !errors.As(err, &p) {
		return err
	}
	return s.Refuse(p)
}

// Refuse answers with a problem, as Handle does; after a Fatal one the session ends.
func (s *Session) Refuse(p *feed.Problem) error {
	s.exchange.stats.problems.Add(1)
	return s.reply(reply{message: feed.Message{Problem: p.Bounded()}})
}

func (s *Session) reply(r reply) error {
	select {
	case s.replies <- r:
		s.wake()
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}
