package main

import (
	"github.com/tickgauge/tickgauge/ci/tools/codecs/messages"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// The codecs of the exchange: from and to its own types, with their checks. Its JSON
// writes prices and 64-bit integers as decimal strings.

func prepareJSON(s subject) *pair     { return prepareWire(s, wire.JSON, wire.TickJSON) }
func prepareProtobuf(s subject) *pair { return prepareWire(s, wire.Protobuf, wire.TickProtobuf) }

func prepareWire(s subject, enc wire.Encoding, tick int) *pair {
	switch v := s.value.(type) {
	case *messages.Tick:
		// As the hub encodes it, and the streams join one to a message.
		t, encode := domainTick(v), wire.HubEncoders()[tick]
		object := make([]byte, 0, 1<<10)
		one := make([][]byte, 1)
		return pairOf(enc, []feed.Tick{t}, func(dst []byte) ([]byte, error) {
			object = encode(object[:0], "", &t)
			one[0] = object
			return wire.AppendTicks(dst, enc, one), nil
		})
	case *messages.Ticks:
		var m feed.Message
		for _, t := range v.Ticks {
			m.Ticks = append(m.Ticks, domainTick(t))
		}
		return pairOf(enc, m.Ticks, func(dst []byte) ([]byte, error) { return wire.AppendMessage(dst, enc, &m) })
	case *messages.Order:
		q := order.Request{Action: order.ActionExecute, Account: v.Account, ClOrdID: v.ClOrdId, Symbol: v.Symbol, Side: feed.Side(v.Side),
			Type: order.Type(v.OrdType), TimeInForce: order.TimeInForce(v.TimeInForce), OrderQty: feed.Size(v.OrderQty), Price: feed.Price(v.Price)}
		return &pair{
			encode: func(dst []byte) ([]byte, error) { return wire.AppendOrder(dst, enc, &q, v.Padding) },
			decode: func(data []byte) (any, error) {
				out := new(order.Request)
				return out, wire.UnmarshalOrder(enc, data, order.ActionExecute, out)
			},
			value: &q,
		}
	}
	return nil
}

func pairOf(enc wire.Encoding, ticks []feed.Tick, encode func(dst []byte) ([]byte, error)) *pair {
	return &pair{
		encode: encode,
		decode: func(data []byte) (any, error) {
			m := new(feed.Message)
			return m, wire.UnmarshalMessage(enc, data, m)
		},
		value: &feed.Message{Ticks: ticks},
	}
}

func domainTick(t *messages.Tick) feed.Tick {
	return feed.Tick{Symbol: t.Symbol, Seq: t.Seq, HubSeq: t.HubSeq, DueNS: t.DueNs, PublishNS: t.PublishNs, ExchangeTSNS: t.ExchangeTsNs,
		BidPx: feed.Price(t.BidPx), BidSz: feed.Size(t.BidSz), AskPx: feed.Price(t.AskPx), AskSz: feed.Size(t.AskSz),
		LastPx: feed.Price(t.LastPx), LastSz: feed.Size(t.LastSz), TradeID: t.TradeId, Aggressor: feed.Side(t.AggressorSide), Origin: feed.Origin(t.Origin)}
}
