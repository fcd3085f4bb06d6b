package grpcserver

import (
	"context"
	"errors"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// GetQuote returns the newest tick of a symbol.
func (m *marketData) GetQuote(_ context.Context, req *pb.GetQuoteRequest) (*pb.Tick, error) {
	t, ok, err := m.exchange.Hub().Newest(req.GetSymbol())
	if err != nil {
		return nil, m.refuse(err)
	}
	if !ok {
		return nil, m.refuse(&feed.Problem{Code: feed.CodeNoTick, Symbol: req.GetSymbol(), Message: "the symbol has had no tick yet"})
	}
	return wire.TickToProto(&t), nil
}

// ListSymbols returns what the exchange lists.
func (m *marketData) ListSymbols(context.Context, *pb.ListSymbolsRequest) (*pb.SymbolList, error) {
	return wire.SymbolsToProto(m.exchange.Hub().Symbols()), nil
}

// refuse returns the status of a call that is refused. One whose client waits no
// longer is none.
func (m *marketData) refuse(err error) error {
	var p *feed.Problem
	if errors.As(err, &p) {
		m.exchange.CountProblem()
		err = p.Bounded()
	}
	return wire.GRPCStatus(err)
}
