package replay

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
)

// coinbase reads cryptofeed's captures of the Coinbase Exchange feed. Ticks are
// match, and what of snapshot and l2update changes the best bid or ask: one tick
// a message at most. last_match, which tells of the trade before the capture,
// gives the next tick of its symbol a last price.
type coinbase struct {
	market *market
	head   coinbaseHead
}

type coinbaseHead struct {
	Type    json.RawMessage `json:"type"`
	Product json.RawMessage `json:"product_id"`
	Price   json.RawMessage `json:"price"`
	Size    json.RawMessage `json:"size"`
	Side    json.RawMessage `json:"side"`
	TradeID json.RawMessage `json:"trade_id"`
}

type coinbaseSnapshot struct {
	Bids *[]coinbaseLevel `json:"bids"`
	Asks *[]coinbaseLevel `json:"asks"`
}

type coinbaseUpdate struct {
	Changes *[]coinbaseChange `json:"changes"`
}

func (d *coinbase) decode(line []byte, e *event) (err error) {
	var body []byte
	e.kind, e.at, body, err = cryptofeed(line)
	if err != nil || e.kind != "" {
		return err
	}
	h := &d.head
	clearFields(&h.Type, &h.Product, &h.Price, &h.Size, &h.Side, &h.TradeID)
	if err := unmarshal(body, h); err != nil {
		return err
	}
	kind, err := text("type", h.Type)
	if err != nil {
		return err
	}
	switch string(kind) {
	case "":
		return errors.New(`JSON has no "type"`)
	case "l2update":
		e.kind = "l2update"
		return d.update(body, e)
	case "match":
		e.kind = "match"
		return d.match(e)
	case "last_match":
		e.kind = "last_match"
		return d.lastMatch()
	case "snapshot":
		e.kind = "snapshot"
		return d.snapshot(body, e)
	}
	e.kind = string(kind)
	return nil
}

func (d *coinbase) instrument() (*instrument, error) {
	name, err := text("product_id", d.head.Product)
	if err != nil {
		return nil, err
	}
	return d.market.instrument(name)
}

func (d *coinbase) snapshot(body []byte, e *event) error {
	in, err := d.instrument()
	if err != nil {
		return err
	}
	var m coinbaseSnapshot
	if err := unmarshal(body, &m); err != nil {
		return err
	}
	if m.Bids == nil || m.Asks == nil {
		return errors.New("a snapshot needs bids and asks")
	}
	levels := make([]change, 0, len(*m.Bids)+len(*m.Asks))
	for _, l := range *m.Bids {
		l.bid = true
		levels = append(levels, change(l))
	}
	for _, l := range *m.Asks {
		levels = append(levels, change(l))
	}
	return e.book(in, levels, in.replace)
}

func (d *coinbase) update(body []byte, e *event) error {
	in, err := d.instrument()
	if err != nil {
		return err
	}
	var m coinbaseUpdate
	if err := unmarshal(body, &m); err != nil {
		return err
	}
	if m.Changes == nil {
		return errors.New("an l2update needs changes")
	}
	changes := make([]change, len(*m.Changes))
	for i, c := range *m.Changes {
		changes[i] = change(c)
	}
	return e.book(in, changes, in.update)
}

func (d *coinbase) match(e *event) error {
	in, err := d.instrument()
	if err != nil {
		return err
	}
	px, err := price("price", d.head.Price)
	if err != nil {
		return err
	}
	sz, err := tradeSize("size", d.head.Size)
	if err != nil {
		return err
	}
	id, err := tradeID("trade_id", d.head.TradeID)
	if err != nil {
		return err
	}
	buy, err := isBuy(d.head.Side)
	if err != nil {
		return err
	}
	aggressor := feed.SideBuy
	if buy { // the side is the maker's
		aggressor = feed.SideSell
	}
	return e.trade(in, px, sz, id, aggressor)
}

func (d *coinbase) lastMatch() error {
	in, err := d.instrument()
	if err != nil {
		return err
	}
	px, err := price("price", d.head.Price)
	if err != nil {
		return err
	}
	if err := in.onGrid(px); err != nil {
		return err
	}
	in.learn(px)
	in.lastPx = px
	return nil
}

func isBuy(raw json.RawMessage) (bool, error) {
	switch string(raw) {
	case `"buy"`:
		return true, nil
	case `"sell"`:
		return false, nil
	}
	return false, fmt.Errorf("side is neither buy nor sell: %s", shorten(raw))
}

// coinbaseLevel is ["price","size"], of either side.
type coinbaseLevel change

// UnmarshalJSON reads a level exactly.
func (l *coinbaseLevel) UnmarshalJSON(data []byte) error {
	var r row
	if err := r.parse(data); err != nil {
		return err
	}
	if r.n != 2 {
		return fmt.Errorf("level %s has %d values, want price and size", shorten(data), r.n)
	}
	c, err := r.level(0)
	*l = coinbaseLevel(c)
	return err
}

// coinbaseChange is ["buy" or "sell","price","size"].
type coinbaseChange change

// UnmarshalJSON reads a change exactly.
func (c *coinbaseChange) UnmarshalJSON(data []byte) error {
	var r row
	if err := r.parse(data); err != nil {
		return err
	}
	if r.n != 3 {
		return fmt.Errorf("change %s has %d values, want side, price and size", shorten(data), r.n)
	}
	bid, err := isBuy(r.cells[0])
	if err != nil {
		return err
	}
	l, err := r.level(1)
	l.bid = bid
	*c = coinbaseChange(l)
	return err
}
