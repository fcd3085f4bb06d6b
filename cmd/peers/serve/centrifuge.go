package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/centrifugal/centrifuge"
)

// CentrifugePath is where the centrifuge peer takes WebSocket connections.
const CentrifugePath = "/connection/websocket"

// centrifugePeer is a node with its defaults and a channel for each symbol.
type centrifugePeer struct {
	market *Market
	node   *centrifuge.Node
	ready  chan struct{}
}

func newCentrifuge(m *Market) Peer { return &centrifugePeer{market: m, ready: make(chan struct{})} }

// Serve is Peer's.
func (p *centrifugePeer) Serve(ctx context.Context, ln net.Listener) error {
	if err := p.start(); err != nil {
		return errors.Join(err, ln.Close())
	}
	close(p.ready)
	mux := http.NewServeMux()
	mux.Handle(CentrifugePath, centrifuge.NewWebsocketHandler(p.node, centrifuge.WebsocketConfig{}))
	err := serveHTTP(ctx, ln, mux)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, p.node.Shutdown(stop))
}

func (p *centrifugePeer) start() error {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		return err
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{}}, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, done centrifuge.SubscribeCallback) {
			done(centrifuge.SubscribeReply{}, nil)
		})
	})
	p.node = node
	return node.Run()
}

func (p *centrifugePeer) started() <-chan struct{} { return p.ready }

// Publish is Peer's.
func (p *centrifugePeer) Publish(t *Tick) {
	if _, err := p.node.Publish(p.market.names[t.Index], t.Bytes); err != nil {
		p.market.dropped.Add(1)
	}
}
