package trader

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// AckedElsewhere returns a way to execute orders that go through orders and are
// acked by the first execution with their id on one stream of watch, which is
// opened with the first connection and closed with the last. Account is the one
// that trades, by name: the exchange tells a stream of no account that is not
// named. Every order must have an id of its own.
func AckedElsewhere(orders clients.OrderDialer, watch clients.Dialer, account string) clients.OrderDialer {
	return &elsewhere{orders: orders, watch: watch, account: account}
}

// elsewhere is an OrderDialer whose answers come on a stream.
type elsewhere struct {
	orders  clients.OrderDialer
	watch   clients.Dialer
	account string

	mu    sync.Mutex
	users int
	acks  *acks
}

// DialOrders opens a connection for orders, and the stream where there is none.
func (d *elsewhere) DialOrders(ctx context.Context, conn int) (clients.OrderConn, error) {
	a, err := d.use(ctx)
	if err != nil {
		return nil, err
	}
	c, err := d.orders.DialOrders(ctx, conn)
	if err != nil {
		d.release(a)
		return nil, err
	}
	return &elsewhereConn{OrderConn: c, acks: a, release: sync.OnceFunc(func() { d.release(a) })}, nil
}

func (d *elsewhere) use(ctx context.Context) (*acks, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.acks != nil && d.acks.lost() == nil {
		d.users++
		return d.acks, nil
	}
	a := &acks{waiting: make(map[string]chan clients.Ack), ended: make(chan struct{})}
	conn, err := d.watch.Dial(ctx, 0, a)
	if err != nil {
		return nil, err
	}
	if err := conn.Open(ctx, 0, feed.Subscribe{Account: d.account}); err != nil {
		_ = conn.Close()
		return nil, err
	}
	a.conn = conn
	d.acks, d.users = a, 1 // those of a stream that was lost close nothing any more
	return a, nil
}

func (d *elsewhere) release(a *acks) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.acks != a {
		_ = a.conn.Close() // lost; closing again only waits
		return
	}
	if d.users--; d.users == 0 {
		_ = a.conn.Close()
		d.acks = nil
	}
}

type elsewhereConn struct {
	clients.OrderConn
	acks    *acks
	release func()
}

// OpenOrders opens an entry. A stream of acks that was lost opens none.
func (c *elsewhereConn) OpenOrders(ctx context.Context) (clients.OrderEntry, error) {
	if err := c.acks.lost(); err != nil {
		return nil, err
	}
	e, err := c.OrderConn.OpenOrders(ctx)
	if err != nil {
		return nil, err
	}
	return &elsewhereEntry{OrderEntry: e, acks: c.acks, came: make(chan clients.Ack, 1)}, nil
}

// Close closes the connection, and the stream with the last one.
func (c *elsewhereConn) Close() error {
	err := c.OrderConn.Close()
	c.release()
	return err
}

type elsewhereEntry struct {
	clients.OrderEntry
	acks *acks
	came chan clients.Ack // has room for the one that is awaited
}

// Execute sends an order and waits for its first execution on the stream. One that
// is refused and of no account has none there: its answer is the ack.
func (e *elsewhereEntry) Execute(ctx context.Context, req *order.Request) (clients.Ack, error) {
	e.acks.await(req.ClOrdID, e.came)
	defer e.forget(req.ClOrdID)
	answer, err := e.OrderEntry.Execute(ctx, req)
	if err != nil {
		return clients.Ack{}, err
	}
	if answer.Execution.ReportSeq == 0 {
		return answer, nil
	}
	var ack clients.Ack
	select {
	case ack = <-e.came:
	case <-e.acks.ended:
		select {
		case ack = <-e.came: // before the end
		default:
			return clients.Ack{}, e.acks.lost()
		}
	case <-ctx.Done():
		return clients.Ack{}, context.Cause(ctx)
	}
	// The first execution tells that the order was taken, the answer what came of it.
	return clients.Ack{ReceivedNS: ack.ReceivedNS, Execution: answer.Execution}, nil
}

func (e *elsewhereEntry) forget(clOrdID string) {
	e.acks.forget(clOrdID)
	select {
	case <-e.came: // after an error; it must not be taken for the next one's
	default:
	}
}

// acks is the sink of the stream: it gives each first execution to who waits.
type acks struct {
	conn  clients.Conn
	ended chan struct{}
	err   error // set before ended is closed

	mu      sync.Mutex
	waiting map[string]chan clients.Ack // by ClOrdID; as many as entries
}

var errAcksClosed = errors.New("the stream of acks is closed")

// Deliver is clients.Sink's.
func (a *acks) Deliver(d *clients.Delivery) {
	if d.Execution == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if came := a.waiting[d.Execution.ClOrdID]; came != nil {
		delete(a.waiting, d.Execution.ClOrdID)
		came <- clients.Ack{ReceivedNS: d.ReceivedNS, Execution: *d.Execution}
	}
}

// Ended is clients.Sink's.
func (a *acks) Ended(_ int, err error) {
	if a.err = errAcksClosed; err != nil {
		a.err = fmt.Errorf("the stream of acks ended: %w", err)
	}
	close(a.ended)
}

func (a *acks) lost() error {
	select {
	case <-a.ended:
		return a.err
	default:
		return nil
	}
}

func (a *acks) await(clOrdID string, came chan clients.Ack) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting[clOrdID] = came
}

func (a *acks) forget(clOrdID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, clOrdID)
}
