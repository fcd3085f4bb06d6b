package feed

// Side is the side of an order or of a trade's aggressor.
type Side uint8

// The sides; SideNone stands where there was no trade or the venue did not say.
const (
	SideNone Side = iota
	SideBuy
	SideSell
)

// Origin says where a tick came from.
type Origin uint8

// Ticks of OriginOrder come from trades of the exchange's own book and stand
// outside the schedule: they count in no account of deliveries.
const (
	OriginNone Origin = iota
	OriginSchedule
	OriginCapture
	OriginOrder
)

// Tick is the full state of one symbol after one update. LastPx is carried
// forward from the last trade; LastSz, TradeID and Aggressor are set on the
// ticks that are trades.
type Tick struct {
	Symbol       string
	Seq          uint64 // per symbol, from 1, no holes
	HubSeq       uint64 // over all symbols, from 1, no holes
	DueNS        int64  // CLOCK_MONOTONIC, when the schedule wanted it published
	PublishNS    int64  // CLOCK_MONOTONIC, when the hub published it
	ExchangeTSNS int64  // wall clock, or the capture's receive time
	BidPx        Price
	BidSz        Size
	AskPx        Price
	AskSz        Size
	LastPx       Price
	LastSz       Size
	TradeID      uint64
	Aggressor    Side
	Origin       Origin
}

// IsTrade reports whether the tick is a trade.
func (t *Tick) IsTrade() bool { return t.LastSz != 0 }

// Symbol is an instrument the exchange lists.
type Symbol struct {
	Name     string
	TickSize Price // the grid of its prices
}

// Update is what a Source says happened to one symbol; the Hub merges it into
// the symbol's state and makes a Tick of it.
type Update struct {
	Symbol       int   // index into the source's Symbols
	AtNS         int64 // when, since the start of the source's schedule
	ExchangeTSNS int64 // the capture's receive time; 0 lets the publisher stamp the wall clock
	Origin       Origin

	Quote bool // the four below replace the best bid and ask; a missing side is 0
	BidPx Price
	BidSz Size
	AskPx Price
	AskSz Size

	LastPx    Price // not 0: replaces the last price
	LastSz    Size  // not 0: the update is a trade
	TradeID   uint64
	Aggressor Side
}

// Source yields a schedule of updates in order of time. It is read by one
// goroutine. Opening gives what is published before the schedule starts, so that
// a subscriber has a snapshot; it may be empty. Next fills u and returns io.EOF
// after the last update.
type Source interface {
	Symbols() []Symbol
	Opening() []Update
	Next(u *Update) error
}
