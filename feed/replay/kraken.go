package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kraken reads cryptofeed's captures of Kraken's WebSocket API v1. Ticks are
// what of the book channel changes the best bid or ask, one a message at most;
// other channels and the events are only counted.
type kraken struct {
	market *market
}

// krakenPayload is a snapshot (as, bs) or an update (a, b).
type krakenPayload struct {
	AllAsks *[]krakenLevel `json:"as"`
	AllBids *[]krakenLevel `json:"bs"`
	Asks    *[]krakenLevel `json:"a"`
	Bids    *[]krakenLevel `json:"b"`
}

func (d *kraken) decode(line []byte, e *event) (err error) {
	var body []byte
	e.kind, e.at, body, err = cryptofeed(line)
	if err != nil || e.kind != "" {
		return err
	}
	if len(body) > 0 && body[0] == '{' {
		var m struct {
			Event string `json:"event"`
		}
		if err := unmarshal(body, &m); err != nil {
			return err
		}
		if m.Event == "" {
			return errors.New(`JSON has no "event"`)
		}
		e.kind = m.Event
		return nil
	}
	var parts []json.RawMessage
	if err := unmarshal(body, &parts); err != nil {
		return err
	}
	n := len(parts)
	if n < 4 {
		return fmt.Errorf("an array of %d elements, want [channelID, payload, channel, pair]", n)
	}
	channel, err := text("channel", parts[n-2])
	if err != nil {
		return err
	}
	pair, err := text("pair", parts[n-1])
	if err != nil {
		return err
	}
	name, depth, _ := strings.Cut(string(channel), "-")
	if name != "book" {
		e.kind = name
		return nil
	}
	return d.book(e, pair, depth, parts[1:n-2])
}

// book applies the payloads of one message: a snapshot, or one or two updates
// (of two, one has the asks and the other the bids).
func (d *kraken) book(e *event, pair []byte, depth string, payloads []json.RawMessage) error {
	in, err := d.market.instrument(pair)
	if err != nil {
		return err
	}
	levels, err := strconv.Atoi(depth)
	if err != nil || levels < 1 {
		return fmt.Errorf("channel book-%s names no depth", depth)
	}
	var changes []change
	for _, raw := range payloads {
		var p krakenPayload
		if err := unmarshal(raw, &p); err != nil {
			return err
		}
		switch all, some := p.AllAsks != nil || p.AllBids != nil, p.Asks != nil || p.Bids != nil; {
		case all == some:
			return errors.New("a payload of book needs as and bs, or a or b")
		case all && len(payloads) > 1:
			return errors.New("a snapshot beside another payload")
		case all:
			e.kind = "snapshot"
		default:
			e.kind = "update"
		}
		for _, asks := range []*[]krakenLevel{p.AllAsks, p.Asks} {
			changes = appendLevels(changes, false, asks)
		}
		for _, bids := range []*[]krakenLevel{p.AllBids, p.Bids} {
			changes = appendLevels(changes, true, bids)
		}
	}
	apply := in.update
	if e.kind == "snapshot" {
		apply = in.replace
	}
	if err := e.book(in, changes, apply); err != nil {
		return err
	}
	in.book.trim(levels)
	return nil
}

func appendLevels(changes []change, bid bool, levels *[]krakenLevel) []change {
	if levels == nil {
		return changes
	}
	changes = slices.Grow(changes, len(*levels))
	for _, l := range *levels {
		l.bid = bid
		changes = append(changes, change(l))
	}
	return changes
}

// krakenLevel is ["price","volume","time"], and "r" at the end where a level
// that had fallen out of the depth is published again.
type krakenLevel change

// UnmarshalJSON reads a level exactly; its time is not used.
func (l *krakenLevel) UnmarshalJSON(data []byte) error {
	var r row
	if err := r.parse(data); err != nil {
		return err
	}
	if r.n != 3 && (r.n != 4 || string(r.cells[3]) != `"r"`) {
		return fmt.Errorf(`level %s is not price, volume, time, and "r" at most`, shorten(data))
	}
	c, err := r.level(0)
	*l = krakenLevel(c)
	return err
}
