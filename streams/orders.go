package streams

import (
	"context"
	"errors"
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// Submit has the desk act on an order, as order.Desk has it. An error may be a
// *feed.Problem.
func (e *Exchange) Submit(ctx context.Context, req order.Request) (order.Execution, error) {
	if e.opts.Desk == nil {
		return order.Execution{}, noDesk()
	}
	return e.opts.Desk.Submit(ctx, req)
}

// Find returns the last report on an order; what is unknown is a *feed.Problem.
func (e *Exchange) Find(ctx context.Context, account, clOrdID string) (order.Execution, error) {
	if e.opts.Desk == nil {
		return order.Execution{}, noDesk()
	}
	x, err := e.opts.Desk.Find(ctx, account, clOrdID)
	return x, unknown(err)
}

func noDesk() *feed.Problem {
	return &feed.Problem{Code: feed.CodeUnsupported, Message: "this exchange takes no orders"}
}

// unknown puts what a desk does not have into a problem.
func unknown(err error) error {
	switch {
	case errors.Is(err, order.ErrUnknownAccount):
		return &feed.Problem{Code: feed.ProblemCode(order.RejectUnknownAccount), Message: err.Error()}
	case errors.Is(err, order.ErrUnknownOrder):
		return &feed.Problem{Code: feed.ProblemCode(order.RejectUnknownOrder), Message: err.Error()}
	}
	return err
}

// watching is what a session carries of an account's executions.
type watching struct {
	account string // empty: the first
	watch   order.Watch
	last    uint64 // report_seq of the last one written; of the goroutine that calls Run
}

// Watch makes the session carry the executions of an account, the first where it
// is empty, after a report_seq or order.FromNow. A session carries those of one.
// The goroutine that calls Handle may call it, which Subscribe does for a request
// that names an account.
func (s *Session) Watch(account string, after uint64) error {
	w, err := s.newWatch(account, after)
	if err != nil {
		return err
	}
	s.carry(w)
	return nil
}

func (s *Session) newWatch(account string, after uint64) (*watching, error) {
	if w := s.watching.Load(); w != nil {
		return nil, &feed.Problem{Code: feed.CodeAlreadySubscribed,
			Message: fmt.Sprintf("this stream carries the executions of account %.64q already; open another stream for those of another", w.account)}
	}
	if s.exchange.opts.Desk == nil {
		return nil, noDesk()
	}
	watch, err := s.exchange.opts.Desk.Watch(account, after)
	if err != nil {
		return nil, unknown(err)
	}
	return &watching{account: account, watch: watch, last: watch.Last()}, nil
}

func (s *Session) carry(w *watching) {
	s.watching.Store(w)
	s.watched <- struct{}{} // has room for the one
}

// Order acts on an order and answers it with an Execution on the stream, the
// state of the order after it. A stream that carries the executions of its
// account gets the reports, the answer among them, and the answer by itself only
// where it is one that was made before. Order blocks while answers wait to be
// written and returns an error only when the session is over. The goroutine that
// calls Handle may call it.
func (s *Session) Order(req *order.Request) error {
	var seen uint64 // what was reported before, which the answer may repeat
	w := s.watching.Load()
	if w != nil {
		seen = w.watch.Newest()
	}
	err := s.Answer(req, func(e *order.Execution) error {
		if w != nil && e.Account == w.watch.Account() && e.ReportSeq > seen {
			return nil // it is among the reports that come
		}
		return s.reply(reply{execution: e})
	})
	var p *feed.Problem
	if errors.As(err, &p) && !p.Fatal {
		return s.Refuse(p)
	}
	return err
}

// Answer acts on an order and has send send the execution that answers it, for a
// stream that is not written by Run. An order that was in flight when the exchange
// began to shut down is answered; none is taken after. The error is send's, a
// *feed.Problem, or why the session is over. One goroutine may call it.
func (s *Session) Answer(req *order.Request, send func(*order.Execution) error) error {
	if !s.begin() {
		<-s.ctx.Done() // the stream is about to say why
		return context.Cause(s.ctx)
	}
	defer s.ordering.Unlock()
	e, err := s.exchange.Submit(s.ctx, *req)
	if err != nil {
		return err
	}
	return send(&e)
}

// begin takes the lock of an order, unless the stream ends.
func (s *Session) begin() bool {
	s.ordering.Lock()
	select {
	case <-s.exchange.closing:
	case <-s.ctx.Done():
	default:
		return true
	}
	s.ordering.Unlock()
	return false
}

// Send calls write, which sends one message, within the exchange's bound for
// writes: one that does not progress ends the session. It is for streams that are
// not written by Run.
func (s *Session) Send(write func() error) error {
	s.writingSince.Store(feed.Now())
	defer s.writingSince.Store(0)
	return write()
}

// Finish waits until the order in flight has its answer and ends the session, when
// the exchange has begun to shut down: no order is taken after. It is for streams
// that are not written by Run; the goroutine whose return frees a write that is stuck
// must not call it.
func (s *Session) Finish() {
	s.ordering.Lock()
	defer s.ordering.Unlock()
	s.End(shuttingDown())
}

// finish is Finish for Run, which writes the answers meanwhile.
func (s *Session) finish(w Writer) error {
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		s.ordering.Lock()
		s.ordering.Unlock() //nolint:staticcheck // waiting for it is the point
	}()
	for {
		select {
		case r := <-s.replies:
			if err := s.answer(w, r); err != nil {
				s.End(err) // so that an order whose answer nobody writes lets go
				<-idle
				return err
			}
			continue
		case <-s.ctx.Done():
			<-idle
			return context.Cause(s.ctx)
		case <-idle:
		}
		break
	}
	if err := s.catchUp(w); err != nil {
		return err
	}
	for range maxLastReports / reportsAtOnce {
		if n, err := s.report(w); n < reportsAtOnce || err != nil {
			return err
		}
	}
	return nil
}

const (
	// reportsAtOnce is how many executions are written before something else has
	// its turn.
	reportsAtOnce = 64
	// maxLastReports bounds what a stream that ends still gets.
	maxLastReports = 8192
)

// report writes the account's next executions, and returns how many.
func (s *Session) report(w Writer) (int, error) {
	watching := s.watching.Load()
	if watching == nil {
		return 0, nil
	}
	s.reports = watching.watch.Take(s.reports[:0], reportsAtOnce)
	defer func() {
		clear(s.reports)
		if len(s.reports) > 16 { // an idle stream keeps no large buffer
			s.reports = nil
		}
	}()
	for i := range s.reports {
		e := &s.reports[i]
		if lost := e.ReportSeq - watching.last - 1; e.ReportSeq > watching.last && lost > 0 {
			s.exchange.stats.reportsLost.Add(int64(lost))
		}
		watching.last = e.ReportSeq
		if err := s.execution(w, e); err != nil {
			return i, err
		}
	}
	return len(s.reports), nil
}

func (s *Session) execution(w Writer, e *order.Execution) error {
	s.wrote = true
	return s.Send(func() error { return w.WriteExecution(e) })
}
