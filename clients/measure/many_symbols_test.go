package measure

import (
	"fmt"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// A stream of more symbols than are looked through finds each one's account.
func TestStreamOfManySymbols(t *testing.T) {
	const symbols, ticks = 10 * linearSymbols, 3
	r := NewRecorder(1)
	r.SetWindow(1, 100)
	var names []string
	subscribed := &feed.Subscribed{}
	due := make(map[string]SymbolDue)
	for i := range symbols {
		name := fmt.Sprintf("S%d", i)
		names = append(names, name)
		subscribed.Symbols = append(subscribed.Symbols, feed.SymbolSeq{Symbol: name})
		due[name] = SymbolDue{Symbol: name, Scheduled: ticks, FirstSeq: 1, LastSeq: ticks}
	}
	r.Opening(0, names...)
	r.Message(0, 1, 1, &feed.Message{Hello: &feed.Hello{BootID: feed.BootID()}})
	r.Message(0, 1, 1, &feed.Message{Subscribed: subscribed})
	for seq := uint64(1); seq <= ticks; seq++ {
		for i, name := range names {
			if seq == 2 && i == 7*linearSymbols {
				continue // lost
			}
			tick := feed.Tick{Symbol: name, Seq: seq, DueNS: int64(10 * seq), PublishNS: int64(10 * seq), Origin: feed.OriginSchedule}
			r.Message(0, 60, 60, &feed.Message{Ticks: []feed.Tick{tick}})
		}
	}
	r.Message(0, 60, 60, &feed.Message{Ticks: []feed.Tick{{Symbol: "never asked for", Seq: 1, DueNS: 10}}})
	d := r.Finish(due)
	if d.Due != symbols*ticks || d.Received != d.Due-1 || d.Missed != 1 || d.Stray != 1 || d.Duplicated+d.Reordered != 0 {
		t.Errorf("account %+v, want all but one of %d received and one stray", d, symbols*ticks)
	}
}
