package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Options say which peer is served, and what it publishes once it is told to.
type Options struct {
	Name        string
	Addr        string // where ticks are served; port 0 takes a free one
	Debug       string // where the source is started, with the ledger and pprof
	Symbols     int
	Rate        float64 // ticks/s over all symbols
	MaxDuration time.Duration
}

// Ready is the line that Run prints once it serves.
type Ready struct {
	Ready bool   `json:"ready"`
	Addr  string `json:"addr"`
	Debug string `json:"debug"`
}

// Run serves a peer until ctx or the duration is done, and prints a ready line.
// Nothing is published before POST /debug/run on the debug address.
func Run(ctx context.Context, opts Options, out io.Writer) error {
	row, err := Find(opts.Name)
	if err != nil {
		return err
	}
	market, err := NewMarket(opts.Symbols, opts.Rate)
	if err != nil {
		return err
	}
	if opts.MaxDuration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.MaxDuration)
		defer cancel()
	}
	var listen net.ListenConfig
	ln, err := listen.Listen(ctx, "tcp", opts.Addr)
	if err != nil {
		return fmt.Errorf("peer %s: %w", row.Name, err)
	}
	debug, err := listen.Listen(ctx, "tcp", opts.Debug)
	if err != nil {
		return errors.Join(fmt.Errorf("peer %s: %w", row.Name, err), ln.Close())
	}
	ready := Ready{Ready: true, Addr: ln.Addr().String(), Debug: debug.Addr().String()}
	peer := row.New(market)
	encode := wire.HubEncoders()[row.Encoding]
	schedule := feed.NewScheduleLog(0)
	publisher := feed.NewPublisher(market.hub, market.source, feed.PublisherOptions{Log: schedule,
		Published: publish(market, encode, peer)})
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return peer.Serve(ctx, ln) })
	g.Go(func() error { return serveDebug(ctx, debug, control{market, publisher, schedule}.handler()) })
	g.Go(func() error { return ended(publisher.Run(ctx)) })
	if s, ok := peer.(starter); ok {
		select {
		case <-s.started():
		case <-ctx.Done():
			return g.Wait() // with why it did not start
		}
	}
	line, err := json.Marshal(ready)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, string(line)); err != nil {
		return err
	}
	return ended(g.Wait())
}

// publish hands each tick of the schedule to the peer. Opening ticks, which the
// publisher has before anybody listens, are left out.
func publish(m *Market, encode feed.Encoder, peer Peer) func(*feed.Update) {
	opening := len(m.names)
	return func(u *feed.Update) {
		if opening > 0 {
			opening--
			return
		}
		tick, _, err := m.hub.Newest(m.names[u.Symbol])
		if err != nil {
			panic("serve: " + err.Error()) // the hub lists the source's symbols
		}
		t := &Tick{Tick: tick, Index: u.Symbol}
		t.Bytes = encode(make([]byte, 0, 256), m.hub.Epoch(), &t.Tick)
		peer.Publish(t)
	}
}

// ended passes over the error of a context that is done, which is the ordinary end.
func ended(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
