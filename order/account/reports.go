package account

import (
	"slices"
	"sync"

	"github.com/tickgauge/tickgauge/order"
)

// DefaultReports is how many reports an account keeps for those who resume.
const DefaultReports = 8192

// Reports numbers the reports of one account and keeps the newest. Any goroutine
// may call it.
type Reports struct {
	account string
	limit   int

	mu      sync.Mutex
	kept    []order.Execution // a ring once it is full
	start   int
	last    uint64 // the report_seq of the newest
	watches []*Watch
}

// NewReports returns the reports of the account of that name, of which limit are
// kept; 0 keeps DefaultReports.
func NewReports(account string, limit int) *Reports {
	if limit <= 0 {
		limit = DefaultReports
	}
	return &Reports{account: account, limit: limit}
}

// Add gives a report its report_seq, the next one, keeps it and tells the
// watches.
func (r *Reports) Add(e *order.Execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	e.ReportSeq = r.last
	if len(r.kept) < r.limit {
		r.kept = append(r.kept, *e)
	} else {
		r.kept[r.start] = *e
		r.start = (r.start + 1) % r.limit
	}
	for _, w := range r.watches {
		w.signal()
	}
}

// Last returns the report_seq of the newest report, 0 where there is none.
func (r *Reports) Last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Watch returns a watch that starts after a report_seq, as order.Desk has it. It
// must be closed.
func (r *Reports) Watch(after uint64) *Watch {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case after == order.FromNow:
		after = r.last
	case after > r.last: // of an earlier run: silence would say that nothing has come
		after = 0
	}
	w := &Watch{reports: r, next: after + 1, ready: make(chan struct{}, 1)}
	r.watches = append(r.watches, w)
	if r.last >= w.next {
		w.signal()
	}
	return w
}

// Watch reads an account's reports from its ring; it holds none itself. It is an
// order.Watch.
type Watch struct {
	reports *Reports
	next    uint64 // report_seq
	ready   chan struct{}
}

var _ order.Watch = (*Watch)(nil)

func (w *Watch) signal() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// Ready is signalled when there is something to Take.
func (w *Watch) Ready() <-chan struct{} { return w.ready }

// Take appends at most limit reports that are next.
func (w *Watch) Take(dst []order.Execution, limit int) []order.Execution {
	r := w.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.last - uint64(len(r.kept)) + 1
	w.next = max(w.next, oldest)
	for ; limit > 0 && w.next <= r.last; limit-- {
		dst = append(dst, r.kept[(r.start+int(w.next-oldest))%len(r.kept)])
		w.next++
	}
	if w.next <= r.last {
		w.signal()
	}
	return dst
}

// Account returns the name of the account.
func (w *Watch) Account() string { return w.reports.account }

// Last returns the report_seq that the watch has come to.
func (w *Watch) Last() uint64 {
	w.reports.mu.Lock()
	defer w.reports.mu.Unlock()
	return w.next - 1
}

// Newest returns the report_seq of the account's newest report.
func (w *Watch) Newest() uint64 { return w.reports.Last() }

// Close ends the watch; a second call does nothing.
func (w *Watch) Close() {
	r := w.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.watches, w); i >= 0 {
		r.watches = slices.Delete(r.watches, i, i+1)
	}
}
