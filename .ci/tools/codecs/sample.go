package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/tickgauge/tickgauge/ci/tools/codecs/messages"
)

const (
	many    = 50  // ticks of a message, positions of a portfolio
	padding = 900 // makes an order about 1 KB
)

func sampleTick(i int) *messages.Tick {
	n := int64(i)
	return &messages.Tick{Symbol: fmt.Sprintf("SYM%04d", 42+i), Seq: 123_456, HubSeq: 12_345_678 + uint64(i),
		DueNs: 987_654_321_012_345 + n, PublishNs: 987_654_321_054_321 + n, ExchangeTsNs: 1_767_225_600_123_456_789 + n,
		BidPx: 61_837_630_000_000 + n*1e7, BidSz: 12_50000000, AskPx: 61_837_640_000_000 + n*1e7, AskSz: 7_25000000,
		LastPx: 61_837_630_000_000, Origin: 1}
}

func sampleTicks() *messages.Ticks {
	m := new(messages.Ticks)
	for i := range many {
		m.Ticks = append(m.Ticks, sampleTick(i))
	}
	return m
}

// sampleOrder is an immediate-or-cancel limit order to buy 1.
func sampleOrder() *messages.Order {
	return &messages.Order{Account: "acct-1", ClOrdId: "w0042-00123456", Symbol: "SYM0042", Side: 1, OrdType: 1, TimeInForce: 2,
		OrderQty: 1_00000000, Price: 61_837_640_000_000, Padding: strings.Repeat("x", padding)}
}

func samplePortfolio() *messages.Portfolio {
	p := &messages.Portfolio{Account: "acct-1", AsOfNs: 1_767_225_600_123_456_789, Cash: 1_250_000_000_000_000}
	for i := range many {
		n := int64(i)
		p.Positions = append(p.Positions, &messages.Position{Symbol: fmt.Sprintf("SYM%04d", i), Quantity: (n - 20) * 1_00000000,
			AvgPx: 61_837_640_000_000 - n*1e9, LastPx: 61_900_000_000_000, Unrealized: n * 62_360_000_000, Realized: -n * 1_000_000_007,
			OpenedNs: 1_767_000_000_000_000_000 + n*1e9, Tags: []string{"momentum", "eu"}})
	}
	return p
}

// subject is a message that codecs are compared on.
type subject struct {
	name   string
	value  proto.Message
	remake func() proto.Message // an empty one
}

func subjects() []subject {
	return []subject{
		{"tick", sampleTick(0), func() proto.Message { return new(messages.Tick) }},
		{"order, 1 KB", sampleOrder(), func() proto.Message { return new(messages.Order) }},
		{"50 ticks", sampleTicks(), func() proto.Message { return new(messages.Ticks) }},
		{"portfolio of 50", samplePortfolio(), func() proto.Message { return new(messages.Portfolio) }},
	}
}
