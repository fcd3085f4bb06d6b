package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// natsPeer is nats-server in this process, with a subject for each symbol. Its
// publisher is a client in the same process, as an embedding program has it.
type natsPeer struct {
	market    *Market
	webSocket bool
	client    *nats.Conn
	ready     chan struct{}
}

func newNATS(m *Market) Peer { return &natsPeer{market: m, ready: make(chan struct{})} }
func newNATSWebSocket(m *Market) Peer {
	return &natsPeer{market: m, webSocket: true, ready: make(chan struct{})}
}

const natsStart = 10 * time.Second

// Serve is Peer's. The server listens by itself, so it takes over ln's port.
func (p *natsPeer) Serve(ctx context.Context, ln net.Listener) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if err := ln.Close(); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("nats: %s is no TCP address", ln.Addr()))
	}
	opts := &server.Options{Host: addr.IP.String(), Port: addr.Port, NoLog: true, NoSigs: true, MaxConn: 1 << 20}
	if p.webSocket {
		opts.Websocket = server.WebsocketOpts{Host: opts.Host, Port: opts.Port, NoTLS: true}
		opts.Port = server.RANDOM_PORT
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	ns.Start()
	defer func() { ns.Shutdown(); ns.WaitForShutdown() }()
	if !ns.ReadyForConnections(natsStart) {
		return errors.New("nats: the server did not become ready")
	}
	p.client, err = nats.Connect("", nats.InProcessServer(ns))
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	defer p.client.Close()
	close(p.ready)
	<-ctx.Done()
	return nil
}

func (p *natsPeer) started() <-chan struct{} { return p.ready }

// Publish is Peer's. The client sends what it is given at once, from a goroutine of its own.
func (p *natsPeer) Publish(t *Tick) {
	if p.client.Publish(p.market.names[t.Index], t.Bytes) != nil {
		p.market.dropped.Add(1)
	}
}
