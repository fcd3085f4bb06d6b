package measure

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
)

// world is a schedule over a few symbols, as an exchange had it, and a window on it.
type world struct {
	symbols   []string
	ticks     []feed.Tick // in the order of publishing
	published int         // the rest stood in the schedule only
	from, to  int64
}

func drawWorld(t *rapid.T) *world {
	w := &world{}
	for i := range rapid.IntRange(1, 3).Draw(t, "symbols") {
		w.symbols = append(w.symbols, fmt.Sprintf("SYM%d", i+1))
	}
	seqs := make([]uint64, len(w.symbols))
	orders := rapid.Bool().Draw(t, "with orders")
	due := int64(100)
	add := func(tick feed.Tick) {
		i := rapid.IntRange(0, len(w.symbols)-1).Draw(t, "symbol")
		seqs[i]++
		tick.Symbol, tick.Seq, tick.HubSeq = w.symbols[i], seqs[i], uint64(len(w.ticks)+1)
		tick.PublishNS = tick.DueNS
		w.ticks = append(w.ticks, tick)
	}
	for range rapid.IntRange(0, 40).Draw(t, "published") {
		if orders && rapid.IntRange(0, 4).Draw(t, "order") == 0 {
			// An order's tick is due when it happens, which lateness of the schedule
			// puts behind what is published after it.
			add(feed.Tick{DueNS: due + rapid.Int64Range(0, 6).Draw(t, "after"), Origin: feed.OriginOrder})
			continue
		}
		due += rapid.Int64Range(0, 3).Draw(t, "step")
		add(feed.Tick{DueNS: due, Origin: feed.OriginSchedule})
	}
	w.published = len(w.ticks)
	for range rapid.IntRange(0, 3).Draw(t, "unpublished") {
		due += rapid.Int64Range(0, 3).Draw(t, "step")
		add(feed.Tick{DueNS: due, Origin: feed.OriginSchedule})
	}
	w.from = rapid.Int64Range(95, due+5).Draw(t, "from")
	w.to = rapid.Int64Range(w.from+1, due+10).Draw(t, "to")
	return w
}

// script is what one stream says, in order.
type script struct {
	asked    []string // the symbols that the fleet asked for
	messages []feed.Message
	slow     bool // the exchange ended it for being slow
}

// drawScript plays an exchange that serves one stream and fails at times: each
// tick arrives, is lost, is conflated or dropped with a word that comes now or
// later; then single messages come twice, late, or not at all.
func drawScript(t *rapid.T, w *world) *script {
	s := &script{asked: slices.Clone(w.symbols[:rapid.IntRange(1, len(w.symbols)).Draw(t, "asked")])}
	e := &exchange{t: t, s: s, told: map[string]uint64{}, pending: map[string]*feed.Skipped{}, live: map[string]bool{}}
	e.reasons = rapid.SampledFrom([][]feed.SkipReason{
		{feed.SkipConflated}, {feed.SkipDropped}, {feed.SkipConflated, feed.SkipDropped, feed.SkipGap},
	}).Draw(t, "reasons")
	// Few faults as often as many, so that each is also seen alone.
	e.faults = rapid.SliceOfDistinct(rapid.SampledFrom(allFaults), rapid.ID[string]).Draw(t, "faults")
	start := rapid.IntRange(0, w.published).Draw(t, "start") * rapid.IntRange(0, 1).Draw(t, "late start")
	last := map[string]uint64{}
	end := w.published
	if e.faulty("end early") {
		end = rapid.IntRange(start, w.published).Draw(t, "end")
	}
	for i := range end {
		if i == start {
			e.subscribe(s.asked, last)
		}
		tick := w.ticks[i]
		if i >= start {
			e.publish(tick, last, w)
		}
		last[tick.Symbol] = tick.Seq
	}
	if start >= end && !e.faulty("never subscribed") {
		e.subscribe(s.asked, last)
	}
	for _, symbol := range s.asked {
		e.tell(symbol)
	}
	if e.faulty("slow") {
		s.slow = true
		e.say(feed.Message{Problem: &feed.Problem{Code: feed.CodeSlowConsumer, Fatal: true}})
	}
	e.disturb()
	return s
}

var allFaults = []string{
	"lose", "skip", "tell late", "split", "from zero", "end early", "never subscribed", "slow",
	"unsubscribe", "resume", "stray", "batch", "move", "repeat", "remove",
}

type exchange struct {
	t       *rapid.T
	s       *script
	faults  []string
	reasons []feed.SkipReason
	live    map[string]bool
	told    map[string]uint64 // the last sequence sent or skipped, by symbol
	pending map[string]*feed.Skipped
}

// faulty says whether a fault strikes here: often, where it was chosen.
func (e *exchange) faulty(fault string) bool {
	return slices.Contains(e.faults, fault) && rapid.IntRange(0, 3).Draw(e.t, fault) > 1
}

func (e *exchange) say(m feed.Message) { e.s.messages = append(e.s.messages, m) }

func (e *exchange) subscribe(symbols []string, last map[string]uint64) {
	m := &feed.Subscribed{}
	for _, symbol := range symbols {
		m.Symbols = append(m.Symbols, feed.SymbolSeq{Symbol: symbol, Seq: last[symbol]})
		e.told[symbol], e.live[symbol] = last[symbol], true
	}
	e.say(feed.Message{Subscribed: m})
}

// tell sends the Skipped that waits for a symbol.
func (e *exchange) tell(symbol string) {
	if s := e.pending[symbol]; s != nil {
		e.say(feed.Message{Skipped: s})
		delete(e.pending, symbol)
	}
}

func (e *exchange) publish(tick feed.Tick, last map[string]uint64, w *world) {
	symbol := tick.Symbol
	if !e.live[symbol] {
		if e.faulty("stray") {
			e.say(feed.Message{Skipped: &feed.Skipped{Symbol: symbol, FromSeq: tick.Seq, ToSeq: tick.Seq, Reason: feed.SkipConflated}})
			e.say(feed.Message{Ticks: []feed.Tick{tick}})
		}
		if slices.Contains(e.s.asked, symbol) && e.faulty("unsubscribe") { // and subscribe again
			e.subscribe([]string{symbol}, last)
		}
	}
	if !e.live[symbol] {
		return
	}
	switch {
	case e.faulty("unsubscribe"):
		delete(e.pending, symbol)
		e.live[symbol] = false
		e.say(feed.Message{Unsubscribed: &feed.Unsubscribed{Symbols: []feed.SymbolSeq{{Symbol: symbol, Seq: e.told[symbol]}}}})
		return
	case e.faulty("resume"):
		e.resume(symbol, last[symbol], w)
	}
	switch {
	case e.faulty("lose"):
		e.tell(symbol)
	case e.faulty("skip"):
		if s := e.pending[symbol]; s != nil && !e.faulty("split") {
			s.ToSeq = tick.Seq
		} else {
			e.tell(symbol)
			e.pending[symbol] = &feed.Skipped{Symbol: symbol, FromSeq: tick.Seq, ToSeq: tick.Seq,
				FirstDueNS: tick.DueNS, Reason: rapid.SampledFrom(e.reasons).Draw(e.t, "reason")}
			if e.told[symbol] == tick.Seq-1 && e.faulty("from zero") {
				e.pending[symbol].FromSeq, e.pending[symbol].FirstDueNS = 0, 0
			}
		}
	default:
		if !e.faulty("tell late") {
			e.tell(symbol)
		}
		e.deliver(tick)
	}
	e.told[symbol] = tick.Seq
}

func (e *exchange) deliver(tick feed.Tick) {
	if n := len(e.s.messages); n > 0 && len(e.s.messages[n-1].Ticks) > 0 && e.faulty("batch") {
		e.s.messages[n-1].Ticks = append(e.s.messages[n-1].Ticks, tick)
		return
	}
	e.say(feed.Message{Ticks: []feed.Tick{tick}})
}

// resume is a stream that comes back with a cursor, of a while ago at times: the
// ring's ticks come again, or a gap is told.
func (e *exchange) resume(symbol string, newest uint64, w *world) {
	e.tell(symbol)
	told := e.told[symbol]
	e.subscribe([]string{symbol}, map[string]uint64{symbol: newest})
	if rapid.Bool().Draw(e.t, "gap") {
		e.say(feed.Message{Skipped: &feed.Skipped{Symbol: symbol, ToSeq: newest, Reason: feed.SkipGap}})
		return
	}
	told -= min(told, rapid.Uint64Range(0, 3).Draw(e.t, "cursor of before"))
	for _, tick := range w.ticks[:w.published] {
		if tick.Symbol == symbol && tick.Seq > told && tick.Seq <= newest {
			e.deliver(tick)
		}
	}
}

// disturb moves, repeats and removes single messages that carry ticks or skips.
func (e *exchange) disturb() {
	const k = 4 // places that a message moves at most
	for i := 0; i < len(e.s.messages); i++ {
		m := e.s.messages[i]
		if m.Ticks == nil && m.Skipped == nil {
			continue
		}
		to := min(i+1+rapid.IntRange(0, k-1).Draw(e.t, "places"), len(e.s.messages))
		switch {
		case e.faulty("repeat"):
			e.s.messages = slices.Insert(e.s.messages, to, m)
			i++
		case e.faulty("remove"):
			e.s.messages = slices.Delete(e.s.messages, i, i+1)
			i--
		case e.faulty("move"):
			e.s.messages = slices.Insert(e.s.messages, to, m)
			e.s.messages = slices.Delete(e.s.messages, i, i+1)
		}
	}
}
