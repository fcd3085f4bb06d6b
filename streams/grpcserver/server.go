// Package grpcserver serves the exchange over gRPC: MarketData, health and
// reflection, with protobuf or, under the content-subtype json, JSON messages.
package grpcserver

import (
	"context"
	"math"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

const (
	// handshakeTimeout ends connections that never finish the HTTP/2 preface.
	handshakeTimeout = 5 * time.Second
	// keepaliveTime and keepaliveTimeout find peers that vanished without a FIN.
	keepaliveTime    = time.Minute
	keepaliveTimeout = 20 * time.Second
)

// Server is a gRPC server over an exchange.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
}

// New returns a server of e that has not started.
func New(e *streams.Exchange) *Server {
	limits := e.Options().Limits
	s := &Server{
		grpc: grpc.NewServer(
			grpc.MaxRecvMsgSize(limits.MaxMessageBytes),
			grpc.MaxConcurrentStreams(uint32(min(limits.MaxStreams, math.MaxInt32))),
			grpc.ConnectionTimeout(handshakeTimeout),
			grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
			grpc.InTapHandle(refuseUnknownEncoding),
			// The reading buffer of a subscriber's connection sees little but control frames.
			grpc.ReadBufferSize(4<<10),
			grpc.SharedWriteBuffer(true),
		),
		health: health.NewServer(),
	}
	pb.RegisterMarketDataServer(s.grpc, &marketData{exchange: e})
	healthpb.RegisterHealthServer(s.grpc, s.health)
	s.health.SetServingStatus(pb.MarketData_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	reflection.Register(s.grpc)
	return s
}

// Serve serves on ln until ctx is done; then health turns NOT_SERVING, calls have
// grace to end, and the rest is cut. It closes ln and returns nil after a stop.
func (s *Server) Serve(ctx context.Context, ln net.Listener, grace time.Duration) error {
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.health.Shutdown()
	cut := time.AfterFunc(grace, s.grpc.Stop)
	defer cut.Stop()
	s.grpc.GracefulStop()
	return <-served
}

// refuseUnknownEncoding runs before a stream exists. grpc-go takes a content
// subtype that it has no codec for as protobuf, in silence.
func refuseUnknownEncoding(ctx context.Context, info *tap.Info) (context.Context, error) {
	_, err := encodingOf(info.Header)
	return ctx, err
}

func encodingOf(md metadata.MD) (wire.Encoding, error) {
	contentType := ""
	if v := md.Get("content-type"); len(v) > 0 {
		contentType = v[0]
	}
	subtype, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(contentType), "application/grpc"), ";")
	switch strings.TrimPrefix(subtype, "+") {
	case "", "proto":
		return wire.Protobuf, nil
	case "json":
		return wire.JSON, nil
	}
	return 0, status.Errorf(codes.Unimplemented, "UNSUPPORTED: content-type %q is not served; use application/grpc, application/grpc+proto or application/grpc+json", contentType)
}
