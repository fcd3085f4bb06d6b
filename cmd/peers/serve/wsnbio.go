package serve

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/lesismal/nbio/logging"
	"github.com/lesismal/nbio/nbhttp"
	"github.com/lesismal/nbio/nbhttp/websocket"
	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/proto/wire"
)

// nbioPeer is lesismal/nbio in its non-blocking mode: pollers read, and writes go
// to the socket from whoever writes.
type nbioPeer struct {
	market *Market
	fan    *fan[*websocket.Conn]

	mu         sync.Mutex
	subscribed map[*websocket.Conn][]int
}

func newNBIO(m *Market) Peer {
	p := &nbioPeer{market: m, subscribed: make(map[*websocket.Conn][]int)}
	p.fan = newFan(len(m.names), p.each)
	return p
}

// Serve is Peer's.
func (p *nbioPeer) Serve(ctx context.Context, ln net.Listener) error {
	logging.SetLevel(logging.LevelNone)
	upgrader := websocket.NewUpgrader()
	upgrader.Subprotocols = []string{wire.SubprotocolProto}
	upgrader.CheckOrigin = func(*http.Request) bool { return true }
	upgrader.KeepaliveTime = 0
	upgrader.OnOpen(func(ws *websocket.Conn) {
		_ = ws.WriteMessage(websocket.BinaryMessage, message(p.market.hello())) // an error shows in reading
	})
	upgrader.OnMessage(p.ask)
	upgrader.OnClose(p.gone)
	mux := http.NewServeMux()
	mux.HandleFunc(wire.WebSocketPath, func(w http.ResponseWriter, r *http.Request) {
		_, _ = upgrader.Upgrade(w, r, nil) // the client was told
	})
	engine := nbhttp.NewEngine(nbhttp.Config{
		Network: "tcp", Addrs: []string{ln.Addr().String()}, MaxLoad: 1 << 20, Handler: mux,
		Listen: func(string, string) (net.Listener, error) { return ln, nil },
	})
	if err := engine.Start(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	p.fan.run(ctx, g)
	err := g.Wait()
	engine.Stop()
	return err
}

// Publish is Peer's.
func (p *nbioPeer) Publish(t *Tick) { p.fan.Publish(t) }

func (p *nbioPeer) each(part []*websocket.Conn, t *Tick) {
	for _, ws := range part {
		if ws.WriteMessage(websocket.BinaryMessage, t.Bytes) != nil {
			p.market.dropped.Add(1)
		}
	}
}

func (p *nbioPeer) ask(ws *websocket.Conn, _ websocket.MessageType, b []byte) {
	symbols, err := p.market.subscribe(b)
	if err != nil {
		_ = ws.WriteClose(1008, err.Error())
		return
	}
	_ = ws.WriteMessage(websocket.BinaryMessage, message(p.market.subscribed(symbols)))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subscribed[ws] = append(p.subscribed[ws], symbols...)
	for _, i := range symbols {
		p.fan.of(key(ws)).add(i, ws)
	}
}

// gone may be called while the connection is written to, under its part's lock.
func (p *nbioPeer) gone(ws *websocket.Conn, _ error) {
	go func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, i := range p.subscribed[ws] {
			p.fan.of(key(ws)).remove(i, ws)
		}
		delete(p.subscribed, ws)
	}()
}
