package clients

import (
	"context"
	"errors"

	"github.com/tickgauge/tickgauge/order"
)

// Ack is the answer to an order: the first execution with its id, one that
// refuses it too, and when that came.
type Ack struct {
	ReceivedNS int64 // CLOCK_MONOTONIC, at the earliest point that the library gives; the client names it
	Execution  order.Execution
}

// ErrNotSent is wrapped by errors of orders that never left: the connection was gone
// before. Another connection may take them.
var ErrNotSent = errors.New("the connection was gone before the order was sent")

// OrderDialer opens the connections of one way to execute orders. Any goroutine
// may call it.
type OrderDialer interface {
	// DialOrders opens connection number conn, counted from 0. ctx bounds the
	// dialling alone.
	DialOrders(ctx context.Context, conn int) (OrderConn, error)
}

// OrderConn is one connection that takes orders. Any goroutine may call it.
type OrderConn interface {
	// OpenOrders returns an entry on the connection, which is a stream of its own
	// where the transport has streams. ctx bounds the opening alone.
	OpenOrders(ctx context.Context) (OrderEntry, error)
	// Close closes the connection, and with it the entries.
	Close() error
}

// OrderEntry executes orders, one at a time. One goroutine may use it, except
// that Close may come from any.
type OrderEntry interface {
	// Execute sends a new order and returns its answer. An order that is refused has
	// an Ack as well. An error says that nothing is known of the outcome, unless it is
	// ErrNotSent; a *feed.Problem is what the exchange said in place of an execution.
	// ctx ends the
	// wait, after which an entry that is a stream is of no more use.
	Execute(ctx context.Context, req *order.Request) (Ack, error)
	// Close ends the entry.
	Close() error
}
