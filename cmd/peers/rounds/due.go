package rounds

import (
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/cmd/peers/read"
)

// Due returns how many ticks were due to all streams in the window of a ledger,
// those included that were never published.
func Due(l *measure.Ledger, p read.Placement) int64 {
	by := l.BySymbol()
	due := int64(0)
	for i, n := range p.Subscribers() {
		due += by[p.Name(i)].Scheduled * n
	}
	return due
}
