package fanout

import "sync"

// Conn is a connection with its streams. It is dropped, not closed: what is
// scheduled on it has then to do nothing.
type Conn struct {
	lane *lane
	sink Sink // nil: its streams write by themselves

	mu     sync.Mutex
	first  *Task // that are ready, oldest first
	last   *Task
	active bool // in the lane's queue, held, in a turn, or waited for

	// Of whoever has the connection while it is active:
	notBefore int64 // when its next turn may begin, CLOCK_MONOTONIC; 0: at once
}

// Task is one stream on a connection.
type Task struct {
	conn *Conn
	run  func() bool

	// Under conn.mu:
	state state
	next  *Task
}

type state uint8

const (
	idle state = iota
	ready
	running
	again // scheduled while it ran
)

// NewTask returns a stream of the connection. Run writes what is ready, or gives it
// to the sink, and reports whether more is ready already. It is never called twice
// at a time.
func (c *Conn) NewTask(run func() bool) *Task { return &Task{conn: c, run: run} }

// Schedule has run called soon. What is scheduled already stays so; what runs now
// runs again. It never blocks and calls nobody, so that it may be called under any
// lock that run does not take while it has one of this package.
func (t *Task) Schedule() {
	c := t.conn
	c.mu.Lock()
	switch t.state {
	case idle:
		c.push(t)
	case running:
		t.state = again
	}
	start := !c.active && c.first != nil
	if start {
		c.active = true
	}
	c.mu.Unlock()
	if start {
		c.lane.add(c)
	}
}

func (c *Conn) push(t *Task) {
	t.state = ready
	if c.last == nil {
		c.first = t
	} else {
		c.last.next = t
	}
	c.last = t
}

// waiting returns the last of the tasks that are ready now, which bounds a turn: what
// becomes ready in it waits for the next one.
func (c *Conn) waiting() *Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *Conn) take() *Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.first
	if t == nil {
		return nil
	}
	c.first, t.next = t.next, nil
	if c.first == nil {
		c.last = nil
	}
	t.state = running
	return t
}

// ran ends a run. On a connection that nobody has, which happens to streams that
// held their worker, it begins the next turn.
func (c *Conn) ran(t *Task, more bool) {
	c.mu.Lock()
	if more || t.state == again {
		c.push(t)
	} else {
		t.state = idle
	}
	start := !c.active && c.first != nil
	if start {
		c.active = true
	}
	c.mu.Unlock()
	if start {
		c.lane.add(c)
	}
}

// release ends the turn of an active connection.
func (c *Conn) release() {
	c.mu.Lock()
	c.active = c.first != nil
	again := c.active
	c.mu.Unlock()
	if again {
		c.lane.add(c)
	}
}

// alone waits in a goroutine of its own until the connection takes bytes again.
func (c *Conn) alone() {
	c.sink.Wait()
	c.release()
}
