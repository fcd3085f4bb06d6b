package order

import (
	"context"
	"errors"
)

// Desk takes orders. Its methods may be called from any goroutine.
type Desk interface {
	// Submit acts on a request and returns the order's state after it: the last
	// report on it, or, where it was refused, a report with ExecRejected and the
	// reason. The same request again, by account and ClOrdID, gets the first answer;
	// one still in flight is waited for. An error means that nothing is known of the
	// outcome: ctx ended first, or the desk is out of reach.
	Submit(ctx context.Context, req Request) (Execution, error)
	// Find returns the last report on an order of an account, or ErrUnknown.
	Find(ctx context.Context, account, clOrdID string) (Execution, error)
	// Watch returns the account's reports after a report_seq. An unknown account is
	// ErrUnknown. The watch must be closed.
	Watch(account string, after uint64) (Watch, error)
}

// Watch reads the reports of one account in order of report_seq. One goroutine
// may use it.
type Watch interface {
	// Ready is signalled when there is something to Take.
	Ready() <-chan struct{}
	// Take appends at most limit reports that are next, without blocking. Reports
	// that have left the desk's ring are passed over: the hole in report_seq shows.
	Take(dst []Execution, limit int) []Execution
	// Close ends the watch.
	Close()
}

// ErrUnknown says that a desk has no such account or order.
var ErrUnknown = errors.New("unknown to the desk")
