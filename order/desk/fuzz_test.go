package desk

import (
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// FuzzSubmit sends one request of any content to a desk where something rests,
// twice: whatever it is, the desk answers as its reference does, and what it says
// can be true.
func FuzzSubmit(f *testing.F) {
	f.Add(uint8(1), "acct-1", "new", "", "A", uint8(1), uint8(1), uint8(1), int64(5*lot), int64(101*one))
	f.Add(uint8(1), "", "new", "", "B", uint8(2), uint8(2), uint8(3), int64(MaxOrderQty+1), int64(0))
	f.Add(uint8(1), "acct-2", "new\x00", "bid", "A", uint8(2), uint8(1), uint8(2), int64(1), int64(99*one+1))
	f.Add(uint8(2), "acct-1", "", "bid", "", uint8(0), uint8(0), uint8(0), int64(0), int64(0))
	f.Add(uint8(2), "acct-9", "c", "bid", "A", uint8(1), uint8(1), uint8(1), int64(-1), int64(-1))
	f.Add(uint8(3), "acct-1", "r", "bid", "", uint8(0), uint8(0), uint8(0), int64(lot), int64(101*one))
	f.Add(uint8(3), "acct-1", "bid", "bid", "", uint8(0), uint8(0), uint8(0), int64(1), int64(1<<62))
	f.Add(uint8(3), "acct-1", strings.Repeat("r", 65), "ask\xff", "A", uint8(9), uint8(9), uint8(9), int64(-1<<63), int64(1<<63-1))
	f.Fuzz(func(t *testing.T, action uint8, account, id, orig, symbol string, side, typ, tif uint8, qty, price int64) {
		w := newTwin(t, options{open: 2})
		w.quote(0, 99*one, 3*lot, 101*one, 3*lot)
		w.submit(limitOrder("acct-1", "bid", feed.SideBuy, 4*lot, 100*one, order.Day))
		w.submit(limitOrder("acct-2", "ask", feed.SideSell, 4*lot, 101*one, order.Day))
		w.submit(limitOrder("acct-3", "part", feed.SideSell, lot, 100*one, order.Day))
		req := order.Request{
			Action: order.Action(action), Account: account, ClOrdID: id, OrigClOrdID: orig, Symbol: symbol, Side: feed.Side(side),
			Type: order.Type(typ), TimeInForce: order.TimeInForce(tif), OrderQty: feed.Size(qty), Price: feed.Price(price),
		}
		w.submit(req)
		w.submit(req)
		w.quote(0, 100*one, 9*lot, 102*one, 9*lot)
	})
}

// FuzzFlow takes its bytes for what traders and the feed do, see flow.
func FuzzFlow(f *testing.F) {
	f.Add([]byte("\x00\x02\x05\x01 two orders and a quote that meets them, and so on"))
	f.Add([]byte(strings.Repeat("\x03\x00\x00\x01\x02\x01\x01\x00\x08\x07\x03\x00", 5)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 2 || len(data) > 300 {
			return
		}
		w := newTwin(t, options{ids: int(data[0] % 8), open: int(data[1] % 8)})
		data = data[2:]
		flow := &flow{pick: func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b) % n
		}}
		for len(data) > 0 {
			flow.step(w)
		}
	})
}
