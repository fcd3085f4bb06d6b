package streams

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newExchange returns an exchange of the symbols A, B, C and D.
func newExchange(t *testing.T, opts Options) *Exchange {
	t.Helper()
	text := func(dst []byte, _ string, tick *feed.Tick) []byte {
		return fmt.Appendf(dst, "%s%d", tick.Symbol, tick.Seq)
	}
	hub, err := feed.NewHub([]feed.Symbol{{Name: "A", TickSize: 1}, {Name: "B", TickSize: 1}, {Name: "C", TickSize: 1}, {Name: "D", TickSize: 1}},
		feed.HubOptions{Epoch: "e", Encoders: []feed.Encoder{text}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewExchange(hub, opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// publish publishes a tick for each letter of symbols.
func publish(e *Exchange, symbols string) {
	for _, s := range []byte(symbols) {
		e.hub.Publish(&feed.Update{Symbol: int(s - 'A')}, feed.Now())
	}
}

// client is a session with the subscriber at its other end. Its Writer blocks
// until the subscriber reads, or the session is cut, as a transport's does.
type client struct {
	t       *testing.T
	session *Session
	lines   chan string // what is written
	fail    string      // the line that the transport does not take
	done    chan error  // what Run returned
}

// connect opens a session and runs it. It is for a synctest bubble.
func connect(t *testing.T, e *Exchange) *client {
	t.Helper()
	c := open(t, e)
	c.run()
	return c
}

func open(t *testing.T, e *Exchange) *client {
	t.Helper()
	s, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, session: s, lines: make(chan string), done: make(chan error, 1)}
}

func (c *client) run() {
	go func() {
		defer c.session.Close()
		c.done <- c.session.Run(c)
	}()
}

var errTransport = fmt.Errorf("the transport failed")

func (c *client) write(line string) error {
	if line == c.fail {
		return errTransport
	}
	select {
	case c.lines <- line:
		return nil
	case <-c.session.Context().Done():
		return fmt.Errorf("write: %w", context.Cause(c.session.Context()))
	}
}

func (c *client) WriteTicks(ticks [][]byte) error {
	line := "ticks"
	for _, b := range ticks {
		line += " " + string(b)
	}
	return c.write(line)
}

func (c *client) WriteMessage(m *feed.Message) error {
	switch {
	case m.Hello != nil:
		return c.write("hello")
	case m.Subscribed != nil:
		return c.write("subscribed" + symbols(m.Subscribed.Symbols))
	case m.Unsubscribed != nil:
		return c.write("unsubscribed" + symbols(m.Unsubscribed.Symbols))
	case m.Snapshot != nil:
		return c.write(fmt.Sprintf("snapshot %s%d", m.Snapshot.Tick.Symbol, m.Snapshot.Tick.Seq))
	case m.Skipped != nil:
		return c.write(fmt.Sprintf("skipped %s%d-%d", m.Skipped.Symbol, m.Skipped.FromSeq, m.Skipped.ToSeq))
	case m.Heartbeat != nil:
		return c.write(fmt.Sprintf("heartbeat %d", m.Heartbeat.PingID))
	case m.Problem != nil:
		return c.write("problem " + string(m.Problem.Code))
	}
	return c.write(fmt.Sprintf("%+v", *m))
}

func (c *client) WriteExecution(e *order.Execution) error {
	return c.write(fmt.Sprintf("execution %s %d", e.ClOrdID, e.ReportSeq))
}

func symbols(list []feed.SymbolSeq) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, " %s%d", s.Symbol, s.Seq)
	}
	return b.String()
}

// reads reads the lines wanted and no others.
func (c *client) reads(lines ...string) {
	c.t.Helper()
	for _, want := range lines {
		if got := <-c.lines; got != want {
			c.t.Errorf("the stream says %q, want %q", got, want)
		}
	}
}

// isQuiet checks that nothing is being written.
func (c *client) isQuiet() {
	c.t.Helper()
	synctest.Wait()
	select {
	case got := <-c.lines:
		c.t.Errorf("the stream says %q, want nothing", got)
	default:
	}
}

func (c *client) says(req feed.Request) {
	c.t.Helper()
	if err := c.session.Handle(&req); err != nil {
		c.t.Errorf("handle %+v: %v", req, err)
	}
}

// ends checks what Run returned, by the code of the problem.
func (c *client) ends(code feed.ProblemCode) {
	c.t.Helper()
	if err := <-c.done; problemCode(err) != code {
		c.t.Errorf("the session ended with %v, want %s", err, code)
	}
}

// cut ends the session, and waits for it.
func (c *client) cut() {
	c.t.Helper()
	c.session.End(nil)
	if err := <-c.done; !errors.Is(err, context.Canceled) {
		c.t.Errorf("a session that was cut ended with %v", err)
	}
}

func subscribe(names ...string) feed.Request {
	return feed.Request{Subscribe: &feed.Subscribe{Symbols: names}}
}

func unsubscribe(names ...string) feed.Request {
	return feed.Request{Unsubscribe: &feed.Unsubscribe{Symbols: names}}
}

func ping(id uint64) feed.Request { return feed.Request{Ping: &feed.Ping{ID: id}} }

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
