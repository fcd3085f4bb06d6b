package streams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

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
	took    chan struct{} // signalled when some were taken

	mu    sync.Mutex // held while some are taken
	holes []hole     // that were passed over since the order under way came in
}

// hole is a range of report_seq that left the account's ring before it was taken.
type hole struct{ from, to uint64 }

// take appends the next executions, and returns how many are gone before them.
func (w *watching) take(dst []order.Execution, limit int) (_ []order.Execution, lost uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.watch.Last()
	dst = w.watch.Take(dst, limit)
	if len(dst) > 0 && dst[0].ReportSeq > last+1 {
		w.holes = append(w.holes, hole{last + 1, dst[0].ReportSeq - 1})
		lost = dst[0].ReportSeq - last - 1
	}
	select {
	case w.took <- struct{}{}:
	default:
	}
	return dst, lost
}

// forget begins an order, and returns the newest report_seq before it.
func (w *watching) forget() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holes = w.holes[:0]
	return w.watch.Newest()
}

// passed reports whether an execution has been taken, or is gone.
func (w *watching) passed(seq uint64) (taken, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gone = slices.ContainsFunc(w.holes, func(h hole) bool { return h.from <= seq && seq <= h.to })
	return !gone && w.watch.Last() >= seq, gone
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
	return &watching{account: account, watch: watch, took: make(chan struct{}, 1)}, nil
}

func (s *Session) carry(w *watching) {
	s.watching.Store(w)
	s.watched <- struct{}{} // has room for the one
	s.wake()
}

// Order acts on an order and answers it with an Execution on the stream, the
// state of the order after it. A stream that carries the executions of its
// account gets the reports, the answer among them, and the answer by itself only
// where it is one that was made before, or is gone from the account's ring. Order
// blocks until the answer is on its way and returns an error only when the session
// is over. The goroutine that calls Handle may call it.
func (s *Session) Order(req *order.Request) error {
	var seen uint64 // what was reported before, which the answer may repeat
	w := s.watching.Load()
	if w != nil {
		seen = w.forget()
	}
	err := s.Answer(req, func(e *order.Execution) error {
		if w != nil && e.Account == w.watch.Account() && e.ReportSeq > seen {
			return s.reported(w, e)
		}
		return s.reply(reply{execution: e})
	})
	var p *feed.Problem
	if errors.As(err, &p) && !p.Fatal {
		return s.Refuse(p)
	}
	return err
}

// reported waits until an answer has come among the account's reports.
func (s *Session) reported(w *watching, e *order.Execution) error {
	for {
		switch taken, gone := w.passed(e.ReportSeq); {
		case taken:
			return nil
		case gone:
			return s.reply(reply{execution: e})
		}
		select {
		case <-w.took:
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
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
	var ready <-chan struct{}
	if watching := s.watching.Load(); watching != nil {
		ready = watching.watch.Ready()
	}
	for waiting := true; waiting; {
		var err error
		select {
		case r := <-s.replies:
			err = s.answer(w, r)
		case <-ready:
			_, err = s.report(w)
		case <-s.ctx.Done():
			err = context.Cause(s.ctx)
		case <-idle:
			waiting = false
		}
		if err != nil {
			s.End(err) // so that an order whose answer nobody writes lets go
			<-idle
			return err
		}
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
	var lost uint64
	s.reports, lost = watching.take(s.reports[:0], reportsAtOnce)
	s.exchange.stats.reportsLost.Add(int64(lost))
	defer func() {
		clear(s.reports)
		if len(s.reports) > 16 { // an idle stream keeps no large buffer
			s.reports = nil
		}
	}()
	// A reply that waits is to an order before those that were just taken.
	if err := s.answers(w); err != nil {
		return 0, err
	}
	for i := range s.reports {
		if err := s.execution(w, &s.reports[i]); err != nil {
			return i, err
		}
	}
	return len(s.reports), nil
}

func (s *Session) execution(w Writer, e *order.Execution) error {
	s.wrote.Store(true)
	return s.Send(func() error { return w.WriteExecution(e) })
}
