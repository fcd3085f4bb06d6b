package grpcclient

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// ListSymbols asks the exchange at target, a host:port, what it lists. A target
// that answers as no exchange does wraps clients.ErrNoExchange.
func ListSymbols(ctx context.Context, target string) ([]feed.Symbol, error) {
	list, err := listSymbols(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("list symbols of %s: %w", target, err)
	}
	return wire.SymbolsFromProto(list), nil
}

func listSymbols(ctx context.Context, target string) (*pb.SymbolList, error) {
	cc, err := connect(ctx, target, func(ctx context.Context) (net.Conn, error) {
		return clients.TCPDialer(0, target).DialContext(ctx, "tcp", target)
	}, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = cc.Close() }()
	list, err := pb.NewMarketDataClient(cc).ListSymbols(ctx, &pb.ListSymbolsRequest{})
	switch {
	case err == nil:
		return list, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, explain(err)
}
