package desk

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/order"
	"pgregory.net/rapid"
)

// TestDeskIsItsReference checks the desk against the slow one over random flows of
// several accounts, symbols and quotes: every answer, every report, every trade and
// the whole books after every step, and that all of it can be true.
func TestDeskIsItsReference(t *testing.T) {
	for range 20 { // times rapid's 100 flows
		rapid.Check(t, func(t *rapid.T) {
			w := newTwin(t, options{
				ids:     rapid.SampledFrom([]int{0, 1, 3, 20}).Draw(t, "ids"),
				open:    rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "open"),
				service: rapid.SampledFrom([]time.Duration{0, 50 * time.Microsecond}).Draw(t, "service"),
			})
			f := &flow{pick: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }}
			for range rapid.IntRange(1, 60).Draw(t, "steps") {
				f.step(w)
			}
		})
	}
}

// TestDeskIsItsReferenceAtLength does the same with flows that are too long for
// rapid, and looks whether all that can be said was said.
func TestDeskIsItsReferenceAtLength(t *testing.T) {
	const steps = 4000
	types, statuses, codes := map[order.ExecType]int{}, map[order.Status]int{}, map[order.RejectCode]int{}
	for seed, o := range []options{{}, {ids: 1, open: 50}, {ids: 30, service: time.Second}, {ids: 1000, open: 8}} {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		w := newTwin(t, o)
		f := &flow{pick: r.IntN}
		for range steps {
			f.step(w)
		}
		for _, e := range w.reports {
			types[e.ExecType]++
			statuses[e.OrdStatus]++
			codes[e.Reject]++
		}
		if s := w.desk.Stats(); s.Trades != int64(len(w.trades)) || s.Trades < steps/20 || s.Repeated == 0 || s.CrossedQuotes == 0 {
			t.Errorf("options %+v: stats %+v, %d trades were told", o, s, len(w.trades))
		}
	}
	for e := order.ExecNew; e <= order.ExecRejected; e++ {
		if types[e] < 100 {
			t.Errorf("only %d reports of exec_type %d", types[e], e)
		}
	}
	for s := order.New; s <= order.Rejected; s++ {
		if statuses[s] < 100 {
			t.Errorf("only %d reports of ord_status %d", statuses[s], s)
		}
	}
	for _, code := range []order.RejectCode{
		order.RejectUnknownSymbol, order.RejectBadID, order.RejectBadSide, order.RejectBadType, order.RejectBadTIF, order.RejectBadQty,
		order.RejectBadPrice, order.RejectOffGrid, order.RejectDuplicate, order.RejectUnknownOrder, order.RejectTooLate,
		order.RejectBelowCum, order.RejectTooManyOpen,
	} {
		if codes[code] == 0 {
			t.Errorf("nothing was refused as %s", code)
		}
	}
	t.Logf("types %v, statuses %v, codes %v", types, statuses, codes)
}
