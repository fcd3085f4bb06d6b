package measure

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
)

// below draws a number in [0, 2^bits), all as likely: rapid's own ranges prefer
// the small ones, with which little happens.
func below(t *rapid.T, bits int, label string) int {
	n := 0
	for range bits {
		n <<= 1
		if rapid.Bool().Draw(t, label) {
			n |= 1
		}
	}
	return n
}

// world is a schedule over a few symbols, as an exchange had it, and a window on it.
type world struct {
	symbols   []string
	ticks     []feed.Tick // in the order of publishing
	published int         // the rest stood in the schedule only
	from, to  int64
}

func drawWorld(t *rapid.T) *world {
	w := &world{}
	for i := range 1 + below(t, 1, "symbols") {
		w.symbols = append(w.symbols, fmt.Sprintf("SYM%d", i+1))
	}
	seqs := make([]uint64, len(w.symbols))
	orders := rapid.Bool().Draw(t, "with orders")
	due := int64(100)
	add := func(tick feed.Tick) {
		i := below(t, len(w.symbols)-1, "symbol")
		seqs[i]++
		tick.Symbol, tick.Seq, tick.HubSeq = w.symbols[i], seqs[i], uint64(len(w.ticks)+1)
		tick.PublishNS = tick.DueNS
		w.ticks = append(w.ticks, tick)
	}
	for range below(t, 5, "published") {
		if orders && below(t, 2, "order") == 3 {
			// An order's tick is due when it happens, which lateness of the schedule
			// puts behind what is published after it.
			add(feed.Tick{DueNS: due + int64(below(t, 3, "after")), Origin: feed.OriginOrder})
			continue
		}
		due += int64(below(t, 2, "step"))
		add(feed.Tick{DueNS: due, Origin: feed.OriginSchedule})
	}
	w.published = len(w.ticks)
	for range below(t, 2, "unpublished") {
		due += int64(below(t, 2, "step"))
		add(feed.Tick{DueNS: due, Origin: feed.OriginSchedule})
	}
	w.from = 98 + int64(below(t, 4, "from"))
	w.to = w.from + 1 + int64(below(t, 5, "length"))
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
	s := &script{asked: slices.Clone(w.symbols[:1+below(t, len(w.symbols)-1, "asked")])}
	e := &exchange{t: t, s: s, told: map[string]uint64{}, pending: map[string]*feed.Skipped{}, live: map[string]bool{}}
	e.reasons = rapid.SampledFrom([][]feed.SkipReason{
		{feed.SkipConflated}, {feed.SkipDropped}, {feed.SkipConflated, feed.SkipDropped, feed.SkipGap},
	}).Draw(t, "reasons")
	for _, fault := range allFaults {
		if below(t, 2, fault) == 3 {
			e.faults = append(e.faults, fault)
		}
	}
	start := 0
	if e.faulty("start late") {
		start = rapid.IntRange(0, w.published).Draw(t, "start")
	}
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
	"lose", "skip", "tell late", "split", "from zero", "start late", "end early", "never subscribed", "slow",
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

// faulty says whether a fault strikes here: every other time, where it was chosen.
func (e *exchange) faulty(fault string) bool {
	return slices.Contains(e.faults, fault) && rapid.Bool().Draw(e.t, fault)
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
	told -= min(told, uint64(below(e.t, 2, "cursor of before")))
	for _, tick := range w.ticks[:w.published] {
		if tick.Symbol == symbol && tick.Seq > told && tick.Seq <= newest {
			e.deliver(tick)
		}
	}
}

// disturb moves by up to four places, repeats and removes single messages that
// carry ticks or skips.
func (e *exchange) disturb() {
	for i := 0; i < len(e.s.messages); i++ {
		m := e.s.messages[i]
		if m.Ticks == nil && m.Skipped == nil {
			continue
		}
		to := min(i+1+below(e.t, 2, "places"), len(e.s.messages))
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
