package book

import (
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// FuzzBook takes the first byte as the scale and then five bytes a call: which, the
// side and kind of order, a price, a quantity, and a handle or the other price.
// Nothing is refused beforehand, so that orders without side, quantity or price
// come too.
func FuzzBook(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, 5, 0, 0, 1, 5, 3, 0, 5, 0, 0, 0, 0})
	f.Add([]byte{1, 7, 0, 3, 7, 5, 0, 1, 3, 9, 0, 6, 0, 4, 9, 0, 7, 0, 5, 9, 6})
	f.Add([]byte{3, 0, 1, 5, 9, 0, 0, 1, 5, 9, 0, 0, 1, 5, 9, 0, 0, 8 | 6, 5, 9, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 300 {
			return
		}
		w, s := newTwin(), scales[data[0]%byte(len(scales))]
		for data = data[1:]; len(data) >= 5; data = data[5:] {
			o := op{call: "aaaaacrq"[data[0]%8], pick: int(data[4])}
			o.order = Order{
				Side:        feed.Side(1 + data[1]%2),
				Type:        order.Limit,
				TimeInForce: order.TimeInForce(data[1] >> 1 % 4),
				Price:       s.px * feed.Price(data[2]%10), // 0 is none
				Qty:         s.qty * feed.Size(data[3]%10),
			}
			switch data[1] >> 3 {
			case 1:
				o.order.Type = order.Market
			case 2:
				o.order.Side = feed.Side(data[4])
			case 3:
				o.order.Type = order.Type(data[4])
			case 4:
				o.order.TimeInForce = order.TimeInForce(data[4])
			case 5:
				o.order.Price, o.order.Qty = -o.order.Price, -o.order.Qty
			}
			o.askPx, o.askSz = s.px*feed.Price(data[4]%10), s.qty*feed.Size(data[4]>>4%10)
			if err := w.apply(o); err != nil {
				t.Fatalf("%c %+v: %v", o.call, o, err)
			}
		}
	})
}
