// Package account keeps what an exchange remembers of its accounts: which
// requests were answered and how, the reports on their orders, and what they
// hold.
package account

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/order"
)

// The bounds of a Memory where they are left at zero.
const (
	DefaultIDs   = 262_144
	DefaultIDAge = 10 * time.Minute
)

// Key names a request: FIX asks a ClOrdID to be unique within an account.
type Key struct{ Account, ClOrdID string }

// Memory knows the requests of the recent past by their ids, so that one sent
// again gets its first answer, and what each was about, an S. It is bounded by count and age; what is older is
// forgotten, and its id may be used anew. Any goroutine may call it.
type Memory[S any] struct {
	limit int
	age   int64

	mu      sync.Mutex
	answers map[Key]*Answer[S]
	order   []*Answer[S] // a ring, oldest at start
	start   int
	len     int
}

// NewMemory returns a memory of at most limit ids, each for at most age; zeros
// take DefaultIDs and DefaultIDAge.
func NewMemory[S any](limit int, age time.Duration) (*Memory[S], error) {
	if limit < 0 || age < 0 {
		return nil, fmt.Errorf("new memory of ids: %d ids for %s, want positive bounds", limit, age)
	}
	if limit == 0 {
		limit = DefaultIDs
	}
	if age == 0 {
		age = DefaultIDAge
	}
	return &Memory[S]{limit: limit, age: int64(age), answers: make(map[Key]*Answer[S])}, nil
}

// Answer is what became of a request: its report once settled, and what it was
// about.
type Answer[S any] struct {
	key       Key
	atNS      int64
	request   order.Request
	settled   atomic.Bool // after it the two below never change
	execution *order.Execution
	subject   *S

	mu      sync.Mutex
	waiting chan struct{} // closed when settled; made by the first who waits
}

// Begin returns the answer of the request with that key, and whether the caller
// is the first to ask: then it must Settle the answer. nowNS is any clock that
// only grows, the same at each call.
func (m *Memory[S]) Begin(key Key, req order.Request, nowNS int64) (a *Answer[S], first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(m.limit, nowNS)
	if a := m.answers[key]; a != nil {
		return a, false
	}
	m.forget(m.limit-1, nowNS) // room for this one
	a = &Answer[S]{key: key, atNS: nowNS, request: req}
	m.answers[key] = a
	m.push(a)
	return a, true
}

// Len returns how many ids are remembered.
func (m *Memory[S]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.len
}

// forget drops what is more than keep, and what is too old. An answer that is
// still in flight stays, and those behind it: they are as many as there are
// requests at once.
func (m *Memory[S]) forget(keep int, nowNS int64) {
	for m.len > 0 {
		oldest := m.order[m.start]
		if m.len <= keep && nowNS-oldest.atNS < m.age {
			return
		}
		if !oldest.settled.Load() {
			return
		}
		delete(m.answers, oldest.key)
		m.order[m.start] = nil
		m.start = (m.start + 1) % len(m.order)
		m.len--
	}
}

func (m *Memory[S]) push(a *Answer[S]) {
	if m.len == len(m.order) {
		grown := make([]*Answer[S], max(64, 2*len(m.order)))
		for i := range m.len {
			grown[i] = m.order[(m.start+i)%len(m.order)]
		}
		m.order, m.start = grown, 0
	}
	m.order[(m.start+m.len)%len(m.order)] = a
	m.len++
}

// Find returns what the request with that key was about, nil where it is not
// known, or was about nothing.
func (m *Memory[S]) Find(key Key) *S {
	m.mu.Lock()
	a := m.answers[key]
	m.mu.Unlock()
	if a == nil || !a.settled.Load() { // not known yet to anybody
		return nil
	}
	return a.subject
}

// Settle gives the answer, which must never change, and what it is about, which may
// be nil. It is called once, by the one who began it.
func (a *Answer[S]) Settle(e *order.Execution, subject *S) {
	a.execution, a.subject = e, subject
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled.Store(true)
	if a.waiting != nil {
		close(a.waiting)
	}
}

// Same reports whether a request is the one that was answered, field by field.
func (a *Answer[S]) Same(req order.Request) bool { return a.request == req }

// Wait returns the answer once it is settled, or ctx's error.
func (a *Answer[S]) Wait(ctx context.Context) (order.Execution, error) {
	if a.settled.Load() {
		return *a.execution, nil
	}
	select {
	case <-a.wait():
		return *a.execution, nil
	case <-ctx.Done():
		return order.Execution{}, ctx.Err()
	}
}

// wait returns what is closed once the answer is settled.
func (a *Answer[S]) wait() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = make(chan struct{})
		if a.settled.Load() {
			close(a.waiting)
		}
	}
	return a.waiting
}
