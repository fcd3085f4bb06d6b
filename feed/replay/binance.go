package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
)

// binance reads "<receive ns> <JSON>", the JSON being a message of the combined
// streams, a depth snapshot, or the answer to a request. Ticks are bookTicker
// and trade; depth is only counted, as bookTicker gives the best already.
type binance struct {
	market *market
	frame  binanceFrame
	data   binanceData
}

type binanceFrame struct {
	Stream       json.RawMessage `json:"stream"`
	Data         json.RawMessage `json:"data"`
	LastUpdateID json.RawMessage `json:"lastUpdateId"`
	ID           json.RawMessage `json:"id"`
}

// binanceData has the fields of both kinds of tick. Names differ in case alone.
type binanceData struct {
	Event      json.RawMessage `json:"e"`
	EventTime  ignored         `json:"E"`
	Symbol     json.RawMessage `json:"s"`
	S          ignored         `json:"S"`
	Bid        json.RawMessage `json:"b"`
	BidSize    json.RawMessage `json:"B"`
	Ask        json.RawMessage `json:"a"`
	AskSize    json.RawMessage `json:"A"`
	Price      json.RawMessage `json:"p"`
	P          ignored         `json:"P"`
	Size       json.RawMessage `json:"q"`
	Q          ignored         `json:"Q"`
	TradeID    json.RawMessage `json:"t"`
	TradeTime  ignored         `json:"T"`
	BuyerMaker json.RawMessage `json:"m"`
	M          ignored         `json:"M"` // always true, and no longer used by the venue
}

func (d *binance) decode(line []byte, e *event) (err error) {
	stamp, body, found := bytes.Cut(line, []byte(" "))
	if !found {
		return errors.New("want <receive ns> <JSON>")
	}
	if e.at, err = nanoseconds(stamp); err != nil {
		return err
	}
	f, m := &d.frame, &d.data
	clearFields(&f.Stream, &f.Data, &f.LastUpdateID, &f.ID)
	if err := unmarshal(body, f); err != nil {
		return err
	}
	if len(f.Stream) == 0 {
		switch {
		case len(f.LastUpdateID) > 0:
			e.kind = "depthSnapshot"
		case len(f.ID) > 0:
			e.kind = "response"
		default:
			return errors.New("JSON has neither stream and data nor lastUpdateId")
		}
		return nil
	}
	stream, err := text("stream", f.Stream)
	if err != nil {
		return err
	}
	name, kind, _ := bytes.Cut(stream, []byte("@"))
	kind, _, _ = bytes.Cut(kind, []byte("@"))
	if all, found := bytes.CutPrefix(name, []byte("!")); found {
		kind = all // such as !bookTicker: of all symbols
	}
	switch {
	case len(f.Data) == 0 || f.Data[0] != '{' && f.Data[0] != '[':
		return fmt.Errorf("stream %q without data", shorten(stream))
	case f.Data[0] == '[':
		e.kind = string(kind)
		return nil
	}
	clearFields(&m.Event, &m.Symbol, &m.Bid, &m.BidSize, &m.Ask, &m.AskSize, &m.Price, &m.Size, &m.TradeID, &m.BuyerMaker)
	if err := unmarshal(f.Data, m); err != nil {
		return err
	}
	if len(m.Event) > 0 { // bookTicker of the spot market has none
		if kind, err = text("e", m.Event); err != nil {
			return err
		}
	}
	switch string(kind) {
	case "bookTicker":
		e.kind = "bookTicker"
		return d.quote(e)
	case "trade":
		e.kind = "trade"
		return d.trade(e)
	}
	e.kind = string(kind)
	return nil
}

func (d *binance) quote(e *event) error {
	in, err := d.instrument()
	if err != nil {
		return err
	}
	var q quote
	if q.bidPx, q.bidSz, err = bestOf("b", d.data.Bid, "B", d.data.BidSize); err != nil {
		return err
	}
	if q.askPx, q.askSz, err = bestOf("a", d.data.Ask, "A", d.data.AskSize); err != nil {
		return err
	}
	if err := q.crossed(); err != nil {
		return err
	}
	for _, px := range []feed.Price{q.bidPx, q.askPx} {
		if err := in.onGrid(px); err != nil {
			return err
		}
	}
	in.learn(q.bidPx)
	in.learn(q.askPx)
	e.quote(in, q)
	return nil
}

// bestOf reads one side of a bookTicker; an empty one has size 0, its price too.
func bestOf(pxField string, pxRaw json.RawMessage, szField string, szRaw json.RawMessage) (feed.Price, feed.Size, error) {
	sz, err := size(szField, szRaw)
	if err != nil || sz == 0 {
		return 0, 0, err
	}
	px, err := price(pxField, pxRaw)
	return px, sz, err
}

func (d *binance) trade(e *event) error {
	in, err := d.instrument()
	if err != nil {
		return err
	}
	px, err := price("p", d.data.Price)
	if err != nil {
		return err
	}
	sz, err := tradeSize("q", d.data.Size)
	if err != nil {
		return err
	}
	id, err := tradeID("t", d.data.TradeID)
	if err != nil {
		return err
	}
	var aggressor feed.Side
	switch string(d.data.BuyerMaker) {
	case "true":
		aggressor = feed.SideSell
	case "false":
		aggressor = feed.SideBuy
	default:
		return fmt.Errorf(`"m" is neither true nor false: %s`, shorten(d.data.BuyerMaker))
	}
	return e.trade(in, px, sz, id, aggressor)
}

func (d *binance) instrument() (*instrument, error) {
	name, err := text("s", d.data.Symbol)
	if err != nil {
		return nil, err
	}
	return d.market.instrument(name)
}
