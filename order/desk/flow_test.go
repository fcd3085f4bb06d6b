package desk

import (
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// flow makes up what traders and the feed do, by a source of numbers: pick gives
// one of n, from 0. Prices are so few that most orders meet others, and ids so few
// that changes find orders: open ones, ended ones and those of other accounts.
type flow struct {
	pick  func(n int) int
	names int
	sent  []order.Request
}

// step does one thing to both of a twin.
func (f *flow) step(w *twin) {
	w.t.Helper()
	switch f.pick(12) {
	case 0:
		symbol := f.pick(len(symbols))
		bid := f.price(symbol)
		ask := bid + feed.Price(f.pick(4))*symbols[symbol].TickSize // 0: crossed
		bidSz, askSz := f.qty(), f.qty()
		switch f.pick(8) {
		case 0:
			bid = 0
		case 1:
			askSz = 0
		}
		w.quote(symbol, bid, bidSz, ask, askSz)
	case 1:
		w.find(f.account(), f.known())
	default:
		req := f.request()
		f.sent = append(f.sent, req)
		w.submit(req)
	}
}

func (f *flow) account() string { return fmt.Sprint("acct-", 1+f.pick(twinAccounts)) }

func (f *flow) price(symbol int) feed.Price {
	return 100*one + feed.Price(f.pick(6))*symbols[symbol].TickSize
}

func (f *flow) qty() feed.Size {
	return feed.Size(1+f.pick(9)) * []feed.Size{1, lot, lot, lot, MaxOrderQty / 9}[f.pick(5)]
}

func (f *flow) side() feed.Side { return feed.SideBuy + feed.Side(f.pick(2)) }

// newID is one that was not used before; known is one of the last few.
func (f *flow) newID() string {
	f.names++
	return fmt.Sprint("id", f.names)
}

func (f *flow) known() string { return fmt.Sprint("id", max(0, f.names-f.pick(12))) }

func (f *flow) request() order.Request {
	var req order.Request
	symbol := f.pick(len(symbols))
	switch f.pick(12) {
	case 0, 1, 2, 3: // which rest, or would
		req = limitOrder(f.account(), f.newID(), f.side(), f.qty(), f.price(symbol), order.TimeInForce(f.pick(2)))
	case 4, 5:
		req = limitOrder(f.account(), f.newID(), f.side(), f.qty(), f.price(symbol), order.IOC+order.TimeInForce(f.pick(2)))
	case 6:
		req = marketOrder(f.account(), f.newID(), f.side(), f.qty())
		req.TimeInForce = order.TimeInForce(f.pick(4))
	case 7:
		account, orig := f.target()
		req = cancelOf(account, f.newID(), orig)
		if f.pick(3) == 0 {
			req.ClOrdID = ""
		}
	case 8, 9:
		account, orig := f.target()
		req = replaceOf(account, f.newID(), orig, f.qty(), f.price(symbol))
	case 10: // of an open order what makes it a little more or less, at its price
		req = f.nudge()
	case 11:
		return f.odd()
	}
	if req.Action == order.ActionExecute {
		req.Symbol = symbols[symbol].Name
	}
	return req
}

// target is what a change may be about, mostly something of its own account.
func (f *flow) target() (account, id string) {
	if len(f.sent) == 0 || f.pick(4) == 0 {
		return f.account(), f.known()
	}
	was := f.sent[max(0, len(f.sent)-1-f.pick(12))]
	return was.Account, was.ClOrdID
}

func (f *flow) nudge() order.Request {
	if len(f.sent) == 0 {
		return cancelOf(f.account(), f.newID(), f.known())
	}
	was := f.sent[max(0, len(f.sent)-1-f.pick(8))]
	return replaceOf(was.Account, f.newID(), was.ClOrdID, was.OrderQty+feed.Size(f.pick(5)-2)*lot, was.Price)
}

// odd is a request sent again, as it was or with one thing changed.
func (f *flow) odd() order.Request {
	if len(f.sent) == 0 {
		return order.Request{}
	}
	req := f.sent[max(0, len(f.sent)-1-f.pick(16))]
	switch f.pick(18) {
	case 0:
		req.Account = ""
	case 1:
		req.Account = "acct-4"
	case 2:
		req.ClOrdID = ""
	case 3:
		req.ClOrdID += "\n"
	case 4:
		req.ClOrdID = "\xff"
	case 5:
		req.OrigClOrdID = f.known()
	case 6:
		req.Symbol = "C"
	case 7:
		req.Side = feed.Side(f.pick(4))
	case 8:
		req.Type = order.Type(f.pick(4))
	case 9:
		req.TimeInForce = order.TimeInForce(f.pick(6))
	case 10:
		req.OrderQty = []feed.Size{0, -1, MaxOrderQty, MaxOrderQty + 1}[f.pick(4)]
	case 11:
		req.Price = []feed.Price{0, -one, req.Price + 1, 1 << 62}[f.pick(4)]
	case 12:
		req.Action = order.Action(f.pick(5))
	case 13:
		req.ClOrdID = f.known()
	case 14:
		req.Account = f.account()
	}
	return req
}
