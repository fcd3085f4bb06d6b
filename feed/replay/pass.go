package replay

import (
	"bytes"
	"errors"
	"io"

	"github.com/tickgauge/tickgauge/feed"
)

// Kinds of line that no venue sends, and counts that are no lines.
const (
	kindBlank          = "blank"
	kindBad            = "bad"
	kindOther          = "other"
	kindClockBackwards = "clock_backwards"
	kindFar            = "level_out_of_range"
)

// What a file may name its messages is bounded: it must not fill the memory.
const (
	maxKinds    = 64
	maxKindName = 40
)

// pass is one reading of the capture, from its first line to its last.
type pass struct {
	in      *input
	decoder decoder
	market  *market
	skipBad bool
	counts  map[string]int64 // nil: do not count

	ticks           int64
	firstNS, lastNS int64 // receive times of the ticks so far; lastNS never falls
}

// next reads up to the next tick, and returns io.EOF after the last.
func (p *pass) next(e *event) error {
	for {
		*e = event{}
		line, err := p.in.next()
		if err == nil {
			if len(bytes.TrimSpace(line)) == 0 {
				p.count(kindBlank, 1)
				continue
			}
			err = p.decoder.decode(line, e)
		} else if !errors.Is(err, errLong) {
			return err
		}
		if err != nil {
			if !p.skipBad {
				return p.in.at(err)
			}
			p.count(kindBad, 1)
			continue
		}
		p.count(p.kind(e.kind), 1)
		if e.far > 0 {
			p.count(kindFar, e.far)
		}
		if e.in != nil {
			return p.tick(e)
		}
	}
}

func (p *pass) tick(e *event) error {
	if err := p.market.list(e.in); err != nil {
		return p.in.at(err)
	}
	switch {
	case p.ticks == 0:
		p.firstNS, p.lastNS = e.at, e.at
	case e.at < p.lastNS:
		p.count(kindClockBackwards, 1)
	default:
		p.lastNS = e.at
	}
	p.ticks++
	e.update.Symbol = e.in.index
	e.update.ExchangeTSNS = e.at
	e.update.Origin = feed.OriginCapture
	return nil
}

func (p *pass) count(kind string, n int64) {
	if p.counts != nil {
		p.counts[kind] += n
	}
}

// kind returns what to count a message as.
func (p *pass) kind(name string) string {
	_, known := p.counts[name]
	if !known && (name == "" || len(name) > maxKindName || len(p.counts) >= maxKinds) {
		return kindOther
	}
	return name
}

// restart goes back to before the first line, with empty books.
func (p *pass) restart() error {
	p.market.reset()
	p.ticks, p.firstNS, p.lastNS = 0, 0, 0
	return p.in.rewind()
}

// scan reads the whole capture.
func (p *pass) scan() error {
	var e event
	for {
		if err := p.next(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
