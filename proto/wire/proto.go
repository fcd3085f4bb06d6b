package wire

import (
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// TickToProto returns the tick as the generated type.
func TickToProto(t *feed.Tick) *pb.Tick {
	return &pb.Tick{
		Symbol:        t.Symbol,
		Seq:           t.Seq,
		HubSeq:        t.HubSeq,
		DueNs:         t.DueNS,
		PublishNs:     t.PublishNS,
		ExchangeTsNs:  t.ExchangeTSNS,
		BidPx:         int64(t.BidPx),
		BidSz:         int64(t.BidSz),
		AskPx:         int64(t.AskPx),
		AskSz:         int64(t.AskSz),
		LastPx:        int64(t.LastPx),
		LastSz:        int64(t.LastSz),
		TradeId:       t.TradeID,
		AggressorSide: pb.Side(t.Aggressor),
		Origin:        pb.Origin(t.Origin),
	}
}

// TickFromProto returns the tick of the generated type; a side or an origin that
// is not known is an error, and a nil p is a zero tick.
func TickFromProto(p *pb.Tick) (feed.Tick, error) {
	var t feed.Tick
	if err := tickFromProto(p, &t); err != nil {
		return feed.Tick{}, fmt.Errorf("decode protobuf: tick.%w", err)
	}
	return t, nil
}

func tickFromProto(p *pb.Tick, t *feed.Tick) error {
	side, err := enumFromProto[feed.Side]("aggressorSide", p.GetAggressorSide(), sideNames)
	if err != nil {
		return err
	}
	origin, err := enumFromProto[feed.Origin]("origin", p.GetOrigin(), originNames)
	if err != nil {
		return err
	}
	*t = feed.Tick{
		Symbol:       p.GetSymbol(),
		Seq:          p.GetSeq(),
		HubSeq:       p.GetHubSeq(),
		DueNS:        p.GetDueNs(),
		PublishNS:    p.GetPublishNs(),
		ExchangeTSNS: p.GetExchangeTsNs(),
		BidPx:        feed.Price(p.GetBidPx()),
		BidSz:        feed.Size(p.GetBidSz()),
		AskPx:        feed.Price(p.GetAskPx()),
		AskSz:        feed.Size(p.GetAskSz()),
		LastPx:       feed.Price(p.GetLastPx()),
		LastSz:       feed.Size(p.GetLastSz()),
		TradeID:      p.GetTradeId(),
		Aggressor:    side,
		Origin:       origin,
	}
	return nil
}

// SymbolsToProto returns the listed symbols as the generated type, in their order.
func SymbolsToProto(symbols []feed.Symbol) *pb.SymbolList {
	list := &pb.SymbolList{Symbols: make([]*pb.ListedSymbol, len(symbols))}
	for i, s := range symbols {
		list.Symbols[i] = &pb.ListedSymbol{Name: s.Name, TickSize: int64(s.TickSize)}
	}
	return list
}

// SymbolsFromProto returns the listed symbols of the generated type, in their order.
func SymbolsFromProto(p *pb.SymbolList) []feed.Symbol {
	out := make([]feed.Symbol, len(p.GetSymbols()))
	for i, s := range p.GetSymbols() {
		out[i] = feed.Symbol{Name: s.GetName(), TickSize: feed.Price(s.GetTickSize())}
	}
	return out
}
