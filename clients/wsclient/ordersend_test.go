package wsclient

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// What ends an order that waits is an error, and never an empty ack.
func TestExecuteIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct {
		stop func(cancel func(), c clients.OrderConn, e clients.OrderEntry)
		want error
	}{
		"by its context":            {func(cancel func(), _ clients.OrderConn, _ clients.OrderEntry) { cancel() }, context.Canceled},
		"by closing the entry":      {func(_ func(), _ clients.OrderConn, e clients.OrderEntry) { _ = e.Close() }, errClosed},
		"by closing the connection": {func(_ func(), c clients.OrderConn, _ clients.OrderEntry) { _ = c.Close() }, errClosed},
	} {
		t.Run(name, func(t *testing.T) {
			waiting := make(chan struct{})
			c, e := trading(t, floor(func(peer, *order.Request) { close(waiting) }), OrderOptions{})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			given := make(chan error, 1)
			go func() {
				ack, err := e.Execute(ctx, limit("a", "A"))
				if ack != (clients.Ack{}) {
					t.Errorf("%+v beside an error", ack)
				}
				given <- err
			}()
			<-waiting
			test.stop(cancel, c, e)
			if err := <-given; !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if _, err := e.Execute(within(t, patience), limit("b", "A")); err == nil {
				t.Error("the next order: no error")
			}
		})
	}
}

// A stream that ends says why, to an order that waits and to one that comes later.
func TestOrdersEnded(t *testing.T) {
	bye := &feed.Problem{Code: feed.CodeShuttingDown, Message: "bye", Fatal: true}
	for name, test := range map[string]struct {
		end     func(peer)
		problem feed.ProblemCode
		says    string
	}{
		"shutdown": {end: func(p peer) {
			p.say(feed.Message{Problem: bye})
			_ = p.Close(websocket.StatusGoingAway, bye.Error())
		}, problem: feed.CodeShuttingDown, says: "1001 SHUTTING_DOWN"},
		"close without a word":  {end: func(p peer) { _ = p.Close(4321, "because") }, says: "4321 because"},
		"the exchange dies":     {end: func(peer) {}, says: "fail"},
		"a message of nonsense": {end: func(p peer) { p.sayRaw([]byte("\xff{")); p.ordered() }, says: "decode"},
		"a frame of another kind": {end: func(p peer) {
			_ = p.Write(context.Background(), websocket.MessageBinary, []byte("{}"))
			p.ordered()
		}, says: "frame"},
		"a message too large": {end: func(p peer) { p.sayRaw(make([]byte, maxMessageBytes+1)); p.ordered() }, says: "too big"},
	} {
		for _, when := range []string{"while it waits", "before"} {
			t.Run(name+" "+when, func(t *testing.T) {
				_, e := trading(t, func(p peer) {
					if when == "before" {
						test.end(p)
					} else if _, _, ok := p.ordered(); ok {
						test.end(p)
					}
				}, OrderOptions{Encoding: wire.JSON})
				_, err := e.Execute(within(t, patience), limit("a", "A"))
				var p *feed.Problem
				switch {
				case test.problem != "" && (!errors.As(err, &p) || p.Code != test.problem || !p.Fatal):
					t.Errorf("%v, want %s", err, test.problem)
				case test.problem == "":
					wantText(t, err, test.says)
				}
				if test.problem == "" {
					return
				}
				// The reason was told; the next order hears of the end.
				_, err = e.Execute(within(t, patience), limit("b", "A"))
				wantText(t, err, test.says)
			})
		}
	}
}

// A closing frame says more than a write that failed, which says more than the
// read that failed after it.
func TestUnanswered(t *testing.T) {
	broken, write := errors.New("read broke"), errors.New("write broke")
	closed := fmt.Errorf("read: %w", websocket.CloseError{Code: 1001, Reason: "bye"})
	for _, test := range []struct {
		write, read error
		closing     bool
		want        string
	}{
		{nil, broken, false, "read broke"},
		{write, broken, false, "write broke"},
		{nil, closed, false, "1001 bye"},
		{write, closed, false, "1001 bye"},
		{nil, closed, true, errClosed.Error()},
		{write, broken, true, errClosed.Error()},
	} {
		c := &connection{dialer: &Dialer{target: "venue:1"}}
		c.closing.Store(test.closing)
		wantText(t, (&entry{conn: c}).unanswered(test.write, test.read), test.want)
	}
}
