package wire

import (
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func unmarshalMessageJSON(data []byte, m *feed.Message, e **order.Execution) error {
	return readJSON(data, "", false, func(r *reader) error {
		var execution *order.Execution
		err := r.object(func(name []byte) error {
			if e != nil && string(name) == "execution" {
				execution = new(order.Execution)
				*e = execution
				return r.execution(execution)
			}
			return r.messageMember(name, m)
		})
		if err == nil && !oneAtMost(m, execution) {
			err = errSeveral
		}
		return err
	})
}

func (r *reader) messageMember(name []byte, m *feed.Message) error {
	switch string(name) {
	case "ticks":
		return r.ticks(&m.Ticks)
	case "hello":
		m.Hello = new(feed.Hello)
		return r.hello(m.Hello)
	case "subscribed":
		m.Subscribed = new(feed.Subscribed)
		return r.subscribed(m.Subscribed)
	case "unsubscribed":
		m.Unsubscribed = new(feed.Unsubscribed)
		return r.object(func(name []byte) error {
			if string(name) == "symbols" {
				return r.seqs(&m.Unsubscribed.Symbols)
			}
			return r.unknown()
		})
	case "snapshot":
		m.Snapshot = new(feed.Snapshot)
		return r.snapshot(m.Snapshot)
	case "skipped":
		m.Skipped = new(feed.Skipped)
		return r.skipped(m.Skipped)
	case "heartbeat":
		m.Heartbeat = new(feed.Heartbeat)
		return r.heartbeat(m.Heartbeat)
	case "problem":
		m.Problem = new(feed.Problem)
		return r.problem(m.Problem)
	}
	return r.unknown()
}

// ticks appends; each takes a place of the slice's capacity, and with it, where
// it is the same, the symbol of the tick that was there.
func (r *reader) ticks(to *[]feed.Tick) error {
	return r.array(func() error {
		n := len(*to)
		if n < cap(*to) {
			*to = (*to)[:n+1]
		} else {
			*to = append(*to, feed.Tick{})
		}
		return r.tick(&(*to)[n])
	})
}

// tick resets t, but takes its symbol again instead of making an equal string.
func (r *reader) tick(t *feed.Tick) error {
	before := t.Symbol
	*t = feed.Tick{}
	return r.object(func(name []byte) error {
		switch string(name) {
		case "symbol":
			return r.same(&t.Symbol, before)
		case "padding":
			_, err := r.text()
			return err
		case "seq":
			return r.uint64(&t.Seq)
		case "hubSeq":
			return r.uint64(&t.HubSeq)
		case "dueNs":
			return r.int64(&t.DueNS)
		case "publishNs":
			return r.int64(&t.PublishNS)
		case "exchangeTsNs":
			return r.int64(&t.ExchangeTSNS)
		case "bidPx":
			return r.price(&t.BidPx)
		case "bidSz":
			return r.size(&t.BidSz)
		case "askPx":
			return r.price(&t.AskPx)
		case "askSz":
			return r.size(&t.AskSz)
		case "lastPx":
			return r.price(&t.LastPx)
		case "lastSz":
			return r.size(&t.LastSz)
		case "tradeId":
			return r.uint64(&t.TradeID)
		case "aggressorSide":
			return readEnum(r, &t.Aggressor, sideNames)
		case "origin":
			return readEnum(r, &t.Origin, originNames)
		}
		return r.unknown()
	})
}

func (r *reader) hello(h *feed.Hello) error {
	return r.object(func(name []byte) error {
		switch string(name) {
		case "version":
			return r.string(&h.Version)
		case "epoch":
			return r.string(&h.Epoch)
		case "bootId":
			return r.string(&h.BootID)
		case "wallOffsetNs":
			return r.int64(&h.WallOffsetNS)
		case "heartbeatIntervalNs":
			return r.int64((*int64)(&h.HeartbeatInterval))
		case "limits":
			return r.limits(&h.Limits)
		}
		return r.unknown()
	})
}

func (r *reader) limits(l *feed.Limits) error {
	return r.object(func(name []byte) error {
		switch string(name) {
		case "maxMessageBytes":
			return r.count(&l.MaxMessageBytes)
		case "maxSymbolsPerStream":
			return r.count(&l.MaxSymbolsPerStream)
		case "maxSubscribesPerSecond":
			return r.count(&l.MaxSubscribesPerSecond)
		case "maxStreams":
			return r.count(&l.MaxStreams)
		case "queueTicks":
			return r.count(&l.QueueTicks)
		}
		return r.unknown()
	})
}

func (r *reader) subscribed(s *feed.Subscribed) error {
	return r.object(func(name []byte) error {
		switch string(name) {
		case "symbols":
			return r.seqs(&s.Symbols)
		case "policy":
			return readEnum(r, &s.Policy, policyNames)
		case "cursor":
			return r.string(&s.Cursor)
		}
		return r.unknown()
	})
}

func (r *reader) seqs(to *[]feed.SymbolSeq) error {
	return r.array(func() error {
		var s feed.SymbolSeq
		err := r.object(func(name []byte) error {
			switch string(name) {
			case "symbol":
				return r.string(&s.Symbol)
			case "seq":
				return r.uint64(&s.Seq)
			}
			return r.unknown()
		})
		*to = append(*to, s)
		return err
	})
}

func (r *reader) snapshot(s *feed.Snapshot) error {
	return r.object(func(name []byte) error {
		switch string(name) {
		case "tick":
			return r.tick(&s.Tick)
		case "cursor":
			return r.string(&s.Cursor)
		}
		return r.unknown()
	})
}

func (r *reader) skipped(s *feed.Skipped) error {
	return r.object(func(name []byte) error {
		switch string(name) {
		case "symbol":
			return r.string(&s.Symbol)
		case "fromSeq":
			return r.uint64(&s.FromSeq)
		case "toSeq":
			return r.uint64(&s.ToSeq)
		case "firstDueNs":
			return r.int64(&s.FirstDueNS)
		case "reason":
			return readEnum(r, &s.Reason, reasonNames)
		case "cursor":
			return r.string(&s.Cursor)
		}
		return r.unknown()
	})
}

func (r *reader) heartbeat(h *feed.Heartbeat) error {
	return r.object(func(name []byte) error {
		switch string(name) {
		case "sentNs":
			return r.int64(&h.SentNS)
		case "pingId":
			return r.uint64(&h.PingID)
		}
		return r.unknown()
	})
}

func (r *reader) problem(p *feed.Problem) error {
	return r.object(func(name []byte) error { return r.problemMember(name, p) })
}

func (r *reader) problemMember(name []byte, p *feed.Problem) error {
	switch string(name) {
	case "code":
		return r.string((*string)(&p.Code))
	case "message":
		return r.string(&p.Message)
	case "symbol":
		return r.string(&p.Symbol)
	case "requestId":
		return r.string(&p.RequestID)
	case "fatal":
		return r.bool(&p.Fatal)
	}
	return r.unknown()
}
