package wire

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

var (
	errSeveral   = errors.New("several of ticks, hello, subscribed, unsubscribed, snapshot, skipped, heartbeat, problem, execution in one message")
	errNoRequest = errors.New("want exactly one of subscribe, unsubscribe, ping")
	errUTF8      = errors.New("is not UTF-8")
)

// checkMessage says why m cannot be written, so that what writes it cannot fail.
func checkMessage(m *feed.Message) error {
	if !oneAtMost(m, nil) {
		return errSeveral
	}
	for i := range m.Ticks {
		if err := checkTick(&m.Ticks[i]); err != nil {
			return fmt.Errorf("ticks[%d].%w", i, err)
		}
	}
	switch {
	case m.Hello != nil:
		h := m.Hello
		return errors.Join(checkText("hello.version", h.Version), checkText("hello.epoch", h.Epoch),
			checkText("hello.bootId", h.BootID), checkLimits(&h.Limits))
	case m.Subscribed != nil:
		s := m.Subscribed
		return errors.Join(checkSeqs("subscribed", s.Symbols), checkEnum("subscribed.policy", s.Policy, policyNames),
			checkText("subscribed.cursor", s.Cursor))
	case m.Unsubscribed != nil:
		return checkSeqs("unsubscribed", m.Unsubscribed.Symbols)
	case m.Snapshot != nil:
		if err := checkTick(&m.Snapshot.Tick); err != nil {
			return fmt.Errorf("snapshot.tick.%w", err)
		}
		return checkText("snapshot.cursor", m.Snapshot.Cursor)
	case m.Skipped != nil:
		s := m.Skipped
		return errors.Join(checkText("skipped.symbol", s.Symbol), checkEnum("skipped.reason", s.Reason, reasonNames),
			checkText("skipped.cursor", s.Cursor))
	}
	return nil
}

// oneAtMost reports whether no more than one field of m, and e, is set.
func oneAtMost(m *feed.Message, e *order.Execution) bool {
	return count(len(m.Ticks) > 0, m.Hello != nil, m.Subscribed != nil, m.Unsubscribed != nil,
		m.Snapshot != nil, m.Skipped != nil, m.Heartbeat != nil, m.Problem != nil, e != nil) <= 1
}

// oneRequest reports whether exactly one field of q is set.
func oneRequest(q *feed.Request) bool {
	return count(q.Subscribe != nil, q.Unsubscribe != nil, q.Ping != nil) == 1
}

func count(set ...bool) int {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}

func checkRequest(q *feed.Request) error {
	switch {
	case !oneRequest(q):
		return errNoRequest
	case q.Subscribe != nil:
		s := q.Subscribe
		if s.AfterReportSeq != 0 && !s.Resume {
			return errors.New("subscribe.afterReportSeq: set without Resume")
		}
		return errors.Join(checkTexts("subscribe.symbols", s.Symbols), checkEnum("subscribe.policy", s.Policy, policyNames),
			checkText("subscribe.cursor", s.Cursor), checkText("subscribe.account", s.Account))
	case q.Unsubscribe != nil:
		return checkTexts("unsubscribe.symbols", q.Unsubscribe.Symbols)
	}
	return nil
}

func checkTick(t *feed.Tick) error {
	if !utf8.ValidString(t.Symbol) {
		return checkText("symbol", t.Symbol)
	}
	if int(t.Aggressor) >= len(sideNames) {
		return checkEnum("aggressorSide", t.Aggressor, sideNames)
	}
	return checkEnum("origin", t.Origin, originNames)
}

func checkLimits(l *feed.Limits) error {
	for _, f := range [...]struct {
		name  string
		value int
	}{
		{"maxMessageBytes", l.MaxMessageBytes},
		{"maxSymbolsPerStream", l.MaxSymbolsPerStream},
		{"maxSubscribesPerSecond", l.MaxSubscribesPerSecond},
		{"maxStreams", l.MaxStreams},
		{"queueTicks", l.QueueTicks},
	} {
		if f.value < 0 || uint64(f.value) > math.MaxUint32 {
			return fmt.Errorf("hello.limits.%s: %d is not in 0 to %d", f.name, f.value, uint32(math.MaxUint32))
		}
	}
	return nil
}

func checkSeqs(name string, seqs []feed.SymbolSeq) error {
	for i := range seqs {
		if !utf8.ValidString(seqs[i].Symbol) {
			return fmt.Errorf("%s.symbols[%d].symbol: %s %w", name, i, quoteShort(seqs[i].Symbol), errUTF8)
		}
	}
	return nil
}

func checkTexts(name string, texts []string) error {
	for i, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%s[%d]: %s %w", name, i, quoteShort(s), errUTF8)
		}
	}
	return nil
}

func checkText(name, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s: %s %w", name, quoteShort(text), errUTF8)
	}
	return nil
}
