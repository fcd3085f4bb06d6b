package feed

type queued struct {
	frame  *Frame
	member *member
}

// frameQueue is a circular buffer that grows by doubling up to the bound its
// owner gives.
type frameQueue struct {
	buf   []queued
	start int
	len   int
}

func (q *frameQueue) at(i int) *queued {
	if i += q.start; i >= len(q.buf) {
		i -= len(q.buf)
	}
	return &q.buf[i]
}

func (q *frameQueue) push(e queued, bound int) {
	if q.len == len(q.buf) {
		q.grow(min(max(4, 2*q.len), max(bound, q.len+1)))
	}
	q.len++
	*q.at(q.len - 1) = e
	e.member.waiting++
}

func (q *frameQueue) grow(places int) {
	buf := make([]queued, places)
	for i := range q.len {
		buf[i] = *q.at(i)
	}
	q.buf, q.start = buf, 0
}

func (q *frameQueue) popFront() queued {
	e := q.buf[q.start]
	q.buf[q.start] = queued{}
	q.start = (q.start + 1) % len(q.buf)
	q.len--
	e.member.waiting--
	return e
}

// popSuperseded takes out the oldest tick of m's symbol, for which a newer one
// is about to enter; where none waits, the oldest tick that has a newer one of
// its own symbol behind it. One exists in a full queue, since the queue has a
// place for every symbol.
func (q *frameQueue) popSuperseded(m *member) queued {
	for i := range q.len {
		e := q.at(i).member
		if e == m || m.waiting == 0 && e.waiting > 1 {
			return q.remove(i)
		}
	}
	return q.popFront()
}

// remove closes the hole from the front, where superseded ticks mostly stand.
func (q *frameQueue) remove(i int) queued {
	e := *q.at(i)
	for ; i > 0; i-- {
		*q.at(i) = *q.at(i - 1)
	}
	*q.at(0) = e
	return q.popFront()
}

// removeGone takes out every tick of members that are gone.
func (q *frameQueue) removeGone() {
	kept := 0
	for i := range q.len {
		e := *q.at(i)
		if e.member.gone {
			e.member.waiting = 0
			continue
		}
		*q.at(kept) = e
		kept++
	}
	for i := kept; i < q.len; i++ {
		*q.at(i) = queued{}
	}
	q.len = kept
}
