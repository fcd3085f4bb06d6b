package measure

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// OrderRecorder takes what became of every order of a trader. An order belongs to
// the window by the time its latency counts from: its due time, or in a closed
// loop when it was sent. Any goroutine may call it; it allocates nothing per order.
type OrderRecorder struct {
	fromNS, toNS atomic.Int64
	shards       []*orderShard
}

type orderShard struct {
	mu sync.Mutex
	orderTally
}

// orderTally sums the orders of a shard's workers in the window.
type orderTally struct {
	sent, acked, filled, rejected, failed int64
	waited                                int64 // for a free worker
	served                                int64 // report a service time
	awayNS                                int64 // of workers, from an order that failed until they had a connection again
	firstFailure, firstRejection          first

	latency, service, withService, lag, connect *Histogram

	lagSum, lagCount [3]int64 // by third of the window
}

// first is what the earliest order of a kind said.
type first struct {
	text string
	atNS int64
}

func (f *first) take(o first) {
	if o.text != "" && (f.text == "" || o.atNS < f.atNS) {
		*f = o
	}
}

func newOrderTally() orderTally {
	return orderTally{latency: NewHistogram(), service: NewHistogram(), withService: NewHistogram(), lag: NewHistogram(), connect: NewHistogram()}
}

// NewOrderRecorder returns a recorder for workers numbered from 0.
func NewOrderRecorder(workers int) *OrderRecorder {
	r := &OrderRecorder{}
	for range min(4*runtime.GOMAXPROCS(0), max(workers, 1)) {
		r.shards = append(r.shards, &orderShard{orderTally: newOrderTally()})
	}
	return r
}

// SetWindow sets the measured part of the run, [fromNS, toNS) in CLOCK_MONOTONIC.
// It must be called before the first order of the window; the end may come earlier
// later on, but not before a time that an order counts from.
func (r *OrderRecorder) SetWindow(fromNS, toNS int64) {
	r.fromNS.Store(fromNS)
	r.toNS.Store(toNS)
}

// Sent is an order on its way. AtNS is what its latency counts from, and SentNS
// when it was sent.
type Sent struct {
	AtNS, SentNS int64
	Waited       bool // for a free worker
}

func (r *OrderRecorder) shard(worker int) *orderShard { return r.shards[worker%len(r.shards)] }

func (r *OrderRecorder) counts(atNS int64) bool {
	return atNS >= r.fromNS.Load() && atNS < r.toNS.Load()
}

// Connected says how long a worker's connection took until an order could be sent.
func (r *OrderRecorder) Connected(worker int, ns int64) {
	s := r.shard(worker)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connect.Record(ns)
}

// Sending counts an order that is being sent. One of the three below must follow.
func (r *OrderRecorder) Sending(worker int, o Sent) {
	from, to := r.fromNS.Load(), r.toNS.Load()
	if o.AtNS < from || o.AtNS >= to {
		return
	}
	s := r.shard(worker)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	if o.Waited {
		s.waited++
	}
	lag := max(o.SentNS-o.AtNS, 0)
	s.lag.Record(lag)
	third := min(3*(o.AtNS-from)/max(to-from, 1), 2)
	s.lagSum[third] += lag
	s.lagCount[third]++
}

// Acked counts an order that was taken, its answer's stamp, the service time that it
// reports, and whether it was filled whole.
func (r *OrderRecorder) Acked(worker int, o Sent, ackedNS, serviceNS int64, filled bool) {
	if !r.counts(o.AtNS) {
		return
	}
	s := r.shard(worker)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked++
	if filled {
		s.filled++
	}
	s.latency.Record(ackedNS - o.AtNS)
	s.service.Record(serviceNS)
	s.withService.Record(ackedNS - o.AtNS + serviceNS)
	if serviceNS != 0 {
		s.served++
	}
}

// Rejected counts an order that was refused, and why.
func (r *OrderRecorder) Rejected(worker int, o Sent, why string) {
	if !r.counts(o.AtNS) {
		return
	}
	s := r.shard(worker)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejected++
	s.firstRejection.take(first{why, o.SentNS})
}

// Failed counts an order of whose outcome nothing is known.
func (r *OrderRecorder) Failed(worker int, o Sent, err error) {
	if !r.counts(o.AtNS) {
		return
	}
	s := r.shard(worker)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed++
	s.firstFailure.take(first{err.Error(), o.SentNS})
}

// Away says that a worker had no use of its connection from the sending of an order
// that failed until toNS.
func (r *OrderRecorder) Away(worker int, fromNS, toNS int64) {
	ns := min(toNS, r.toNS.Load()) - max(fromNS, r.fromNS.Load())
	if ns <= 0 {
		return
	}
	s := r.shard(worker)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awayNS += ns
}

// OrderProgress is what a running trader has done in its window so far.
type OrderProgress struct{ Sent, Acked, Rejected, Failed int64 }

// Progress sums the counts so far.
func (r *OrderRecorder) Progress() (p OrderProgress) {
	for _, s := range r.shards {
		s.mu.Lock()
		p.Sent += s.sent
		p.Acked += s.acked
		p.Rejected += s.rejected
		p.Failed += s.failed
		s.mu.Unlock()
	}
	return p
}

func (r *OrderRecorder) sum() *orderTally {
	sum := newOrderTally()
	for _, s := range r.shards {
		s.mu.Lock()
		sum.add(&s.orderTally)
		s.mu.Unlock()
	}
	return &sum
}

func (t *orderTally) add(o *orderTally) {
	t.sent += o.sent
	t.acked += o.acked
	t.filled += o.filled
	t.rejected += o.rejected
	t.failed += o.failed
	t.waited += o.waited
	t.served += o.served
	t.awayNS += o.awayNS
	t.firstFailure.take(o.firstFailure)
	t.firstRejection.take(o.firstRejection)
	t.latency.Merge(o.latency)
	t.service.Merge(o.service)
	t.withService.Merge(o.withService)
	t.lag.Merge(o.lag)
	t.connect.Merge(o.connect)
	for i := range t.lagSum {
		t.lagSum[i] += o.lagSum[i]
		t.lagCount[i] += o.lagCount[i]
	}
}

func (t *orderTally) lagThirds() (mean [3]int64) {
	for i := range mean {
		mean[i] = t.lagSum[i] / max(t.lagCount[i], 1)
	}
	return mean
}
