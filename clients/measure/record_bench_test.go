package measure

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// BenchmarkRecordDelivery records whole deliveries as a fleet of 10,000 streams does:
// two stamps, the account, the histograms, fairness. Every goroutine reads streams of
// its own, as the readers of connections do. W1 spreads them over 100 symbols, W2
// gives all the same one; readers have all of their symbols in common.
func BenchmarkRecordDelivery(b *testing.B) {
	const streams = 10_000
	for _, w := range []struct {
		name    string
		symbols int
	}{{"W1", 100}, {"W2", 1}} {
		b.Run(w.name, func(b *testing.B) {
			r := NewRecorder(streams)
			r.SetWindow(0, 1<<62)
			readers := runtime.GOMAXPROCS(0)
			each := streams / readers
			for i := range streams {
				name := fmt.Sprintf("SYM%03d", i/readers%w.symbols)
				r.Opening(i, name)
				r.Message(i, 0, 0, subscribedTo(name))
			}
			var started atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				reader := int(started.Add(1)) - 1
				ticks := make([]feed.Message, each)
				for i := range ticks {
					ticks[i].Ticks = []feed.Tick{tickOf(r.streams[reader+i*readers].symbols[0].symbol, 1)}
				}
				for i := 0; pb.Next(); i++ {
					m := &ticks[i%each]
					t := &m.Ticks[0]
					r.Message(reader+i%each*readers, t.DueNS+80_000, t.DueNS+85_000, m)
					t.Seq++
					t.DueNS += 1000
				}
			})
		})
	}
}
