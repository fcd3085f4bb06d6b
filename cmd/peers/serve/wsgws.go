package serve

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/lxzan/gws"
	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/proto/wire"
)

// gwsPeer is lxzan/gws: a goroutine reads each connection, and its broadcaster
// writes a frame that is built once.
type gwsPeer struct {
	gws.BuiltinEventHandler
	market *Market
	fan    *fan[*gws.Conn]

	mu         sync.Mutex
	subscribed map[*gws.Conn][]int
}

func newGWS(m *Market) Peer {
	p := &gwsPeer{market: m, subscribed: make(map[*gws.Conn][]int)}
	p.fan = newFan(len(m.names), p.each)
	return p
}

// Serve is Peer's.
func (p *gwsPeer) Serve(ctx context.Context, ln net.Listener) error {
	upgrader := gws.NewUpgrader(p, &gws.ServerOption{SubProtocols: []string{wire.SubprotocolProto}})
	var open sync.WaitGroup
	mux := http.NewServeMux()
	mux.HandleFunc(wire.WebSocketPath, func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r)
		if err != nil {
			return // the client was told
		}
		open.Go(func() { // the handler ends, so that its buffers go
			defer context.AfterFunc(ctx, func() { _ = ws.NetConn().Close() })()
			ws.ReadLoop()
		})
	})
	g, ctx := errgroup.WithContext(ctx)
	p.fan.run(ctx, g)
	g.Go(func() error { return serveHTTP(ctx, ln, mux) })
	err := g.Wait()
	open.Wait()
	return err
}

// Publish is Peer's.
func (p *gwsPeer) Publish(t *Tick) { p.fan.Publish(t) }

func (p *gwsPeer) each(part []*gws.Conn, t *Tick) {
	b := gws.NewBroadcaster(gws.OpcodeBinary, t.Bytes)
	for _, ws := range part {
		if b.Broadcast(ws) != nil {
			p.market.dropped.Add(1)
		}
	}
	_ = b.Close() // gives the frame back
}

// OnOpen is gws.Event's.
func (p *gwsPeer) OnOpen(ws *gws.Conn) {
	_ = ws.WriteMessage(gws.OpcodeBinary, message(p.market.hello())) // an error shows in reading
}

// OnMessage is gws.Event's.
func (p *gwsPeer) OnMessage(ws *gws.Conn, m *gws.Message) {
	defer func() { _ = m.Close() }()
	symbols, err := p.market.subscribe(m.Bytes())
	if err != nil {
		_ = ws.WriteClose(1008, []byte(err.Error()))
		return
	}
	_ = ws.WriteMessage(gws.OpcodeBinary, message(p.market.subscribed(symbols)))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subscribed[ws] = append(p.subscribed[ws], symbols...)
	for _, i := range symbols {
		p.fan.of(key(ws.NetConn())).add(i, ws)
	}
}

// OnClose is gws.Event's.
func (p *gwsPeer) OnClose(ws *gws.Conn, _ error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.subscribed[ws] {
		p.fan.of(key(ws.NetConn())).remove(i, ws)
	}
	delete(p.subscribed, ws)
}

// key spreads connections over the parts of a fan.
func key(c net.Conn) int {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.Port >> 1 // ports of one destination are handed out in steps of two
	}
	return 0
}
