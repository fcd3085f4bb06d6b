// Package grpcserver serves the exchange over gRPC: MarketData, OrderEntry, health
// and reflection, with protobuf or, under the content-subtype json, JSON messages.
package grpcserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // for calls that come with it, whose answers it takes too
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/streams"
)

const (
	// handshakeTimeout ends connections that never finish the HTTP/2 preface.
	handshakeTimeout = 5 * time.Second
	// keepaliveTime and keepaliveTimeout find peers that vanished without a FIN.
	keepaliveTime    = time.Minute
	keepaliveTimeout = 20 * time.Second
	// clientPings is how often a client may ping, with streams or without; grpc-go
	// would cut one that does so more often than every 5 minutes.
	clientPings = 5 * time.Second
	// maxHeaderBytes bounds the headers of a request; grpc-go would take 16 MB.
	maxHeaderBytes = 64 << 10
	// spareStreams is how many more streams a connection may have than the exchange.
	// A client waits by itself at this limit, so it must come after the exchange's
	// own, which refuses in words, and leave room for unary calls.
	spareStreams = 1000
)

// Server is a gRPC server over an exchange. Its Serve may be called once.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	market *marketData
}

// New returns a server of e that has not started.
func New(e *streams.Exchange) *Server { return newServer(e, handshakeTimeout) }

func newServer(e *streams.Exchange, handshakeTimeout time.Duration) *Server {
	limits := e.Options().Limits
	market := &marketData{exchange: e}
	security := insecure.NewCredentials()
	if config := e.Options().TLS; config != nil {
		security = credentials.NewTLS(config) // clones it, and offers h2 alone
	}
	s := &Server{
		grpc: grpc.NewServer(
			grpc.Creds(security),
			grpc.MaxRecvMsgSize(limits.MaxMessageBytes),
			grpc.MaxHeaderListSize(maxHeaderBytes),
			grpc.MaxConcurrentStreams(uint32(min(limits.MaxStreams, math.MaxInt32-spareStreams)+spareStreams)),
			grpc.ConnectionTimeout(handshakeTimeout),
			grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: clientPings, PermitWithoutStream: true}),
			grpc.InTapHandle(market.refuseUnknownEncoding),
			// The reading buffer of a subscriber's connection sees little but control frames.
			grpc.ReadBufferSize(4<<10),
		),
		health: health.NewServer(),
		market: market,
	}
	pb.RegisterMarketDataServer(s.grpc, s.market)
	s.grpc.RegisterService(orderEntryDesc(), &orderEntry{market: market})
	healthpb.RegisterHealthServer(s.grpc, s.health)
	for _, service := range []string{pb.MarketData_ServiceDesc.ServiceName, pb.OrderEntry_ServiceDesc.ServiceName} {
		s.health.SetServingStatus(service, healthpb.HealthCheckResponse_SERVING)
	}
	reflection.Register(s.grpc)
	return s
}

// Serve serves on ln until ctx is done; then calls have grace to end, and the
// rest is cut. Health turns NOT_SERVING when the exchange begins to shut down, or
// with ctx. Serve closes ln and returns nil after a stop, or why ln failed, and in
// either case when all that it started has ended.
func (s *Server) Serve(ctx context.Context, ln net.Listener, grace time.Duration) error {
	accepting := newHandshakes(ln)
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(accepting) }()
	var err error
	select {
	case err = <-served:
	case <-s.market.exchange.Closing():
		s.health.Shutdown()
		select {
		case err = <-served:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	s.health.Shutdown()
	accepting.Cut()
	stopped := make(chan struct{})
	cut := time.AfterFunc(grace, func() {
		defer close(stopped)
		s.grpc.Stop()
	})
	s.grpc.GracefulStop()
	if !cut.Stop() {
		<-stopped
	}
	s.market.running.Wait()
	if err == nil {
		err = <-served
	}
	if err == nil || errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return fmt.Errorf("serve gRPC: %w", err)
}
