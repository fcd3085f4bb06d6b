package order

import (
	"context"
	"errors"
	"math"
)

// Desk takes orders. Its methods may be called from any goroutine.
type Desk interface {
	// Submit acts on a request and returns the order's state after it: the last
	// report on it, or, where it was refused, a report with ExecRejected and the
	// reason. The same request again, by account and ClOrdID, gets the first answer;
	// one still in flight is waited for. An error means that nothing is known of the
	// outcome: ctx ended first, or the desk is out of reach.
	Submit(ctx context.Context, req Request) (Execution, error)
	// Find returns the last report on an order of an account, or what wraps
	// ErrUnknownAccount or ErrUnknownOrder.
	Find(ctx context.Context, account, clOrdID string) (Execution, error)
	// Watch returns the account's reports after a report_seq, as far back as they
	// are kept; FromNow starts with the next one that is made, and a report_seq that
	// the account has not reached, which is of an earlier run, with the oldest. What
	// wraps ErrUnknownAccount is the error. The watch must be closed.
	Watch(account string, after uint64) (Watch, error)
}

// Watch reads the reports of one account in order of report_seq. One goroutine may
// take them.
type Watch interface {
	// Ready is signalled when there is something to Take.
	Ready() <-chan struct{}
	// Take appends at most limit reports that are next, without blocking. Reports
	// that have left the desk's ring are passed over: the hole in report_seq shows.
	Take(dst []Execution, limit int) []Execution
	// Account returns the name of the account.
	Account() string
	// Last returns the report_seq of the report that was taken last, or that the
	// watch started after. Any goroutine may call it.
	Last() uint64
	// Newest returns the report_seq of the account's newest report, taken or not. Any
	// goroutine may call it.
	Newest() uint64
	// Close ends the watch. Any goroutine may call it.
	Close()
}

// FromNow stands for the report_seq of the newest report, for a watch to start
// after.
const FromNow uint64 = math.MaxUint64

// What a desk does not have.
var (
	ErrUnknownAccount = errors.New("unknown account")
	ErrUnknownOrder   = errors.New("unknown order")
)
