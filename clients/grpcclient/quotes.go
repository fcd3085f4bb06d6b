package grpcclient

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// ListSymbols asks the exchange at target, a host:port, what it lists.
func ListSymbols(ctx context.Context, target string) ([]feed.Symbol, error) {
	cc, err := grpc.NewClient("passthrough:///"+target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableServiceConfig(), grpc.WithNoProxy())
	if err != nil {
		return nil, fmt.Errorf("list symbols of %s: %w", target, err)
	}
	defer func() { _ = cc.Close() }()
	list, err := pb.NewMarketDataClient(cc).ListSymbols(ctx, &pb.ListSymbolsRequest{})
	switch s := status.Convert(err); {
	case s.Code() == codes.Unimplemented:
		return nil, fmt.Errorf("list symbols of %s: %w: %s", target, clients.ErrNoExchange, s.Message())
	case err != nil:
		return nil, fmt.Errorf("list symbols of %s: %s: %s", target, s.Code(), s.Message())
	}
	return wire.SymbolsFromProto(list), nil
}
