package grpcclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// ListSymbols asks the exchange at target, a host:port, what it lists, with TLS
// where security is not nil. A target that answers as no exchange does wraps clients.ErrNoExchange.
func ListSymbols(ctx context.Context, target string, security *tls.Config) ([]feed.Symbol, error) {
	list, err := listSymbols(ctx, target, security)
	if err != nil {
		return nil, fmt.Errorf("list symbols of %s: %w", target, err)
	}
	return wire.SymbolsFromProto(list), nil
}

// GetQuote returns the newest tick of a symbol of the exchange at target, with TLS
// where security is not nil. What the exchange refuses is a *feed.Problem.
func GetQuote(ctx context.Context, target string, security *tls.Config, symbol string) (feed.Tick, error) {
	t, err := call(ctx, target, security, func(c pb.MarketDataClient) (*pb.Tick, error) {
		return c.GetQuote(ctx, &pb.GetQuoteRequest{Symbol: symbol})
	})
	var tick feed.Tick
	if err == nil {
		tick, err = wire.TickFromProto(t)
	}
	if err != nil {
		return feed.Tick{}, fmt.Errorf("quote of %s: %w", target, err)
	}
	return tick, nil
}

func listSymbols(ctx context.Context, target string, security *tls.Config) (*pb.SymbolList, error) {
	return call(ctx, target, security, func(c pb.MarketDataClient) (*pb.SymbolList, error) {
		return c.ListSymbols(ctx, &pb.ListSymbolsRequest{})
	})
}

// call makes one unary call on a connection of its own.
func call[T any](ctx context.Context, target string, security *tls.Config, ask func(pb.MarketDataClient) (*T, error)) (*T, error) {
	cc, err := connect(ctx, target, security, func(ctx context.Context) (net.Conn, error) {
		return clients.TCPDialer(0, target).DialContext(ctx, "tcp", target)
	}, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = cc.Close() }()
	answer, err := ask(pb.NewMarketDataClient(cc))
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, explain(err)
}
