package desk

import (
	"fmt"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// Service is what an order waits in simulated service (a risk check, say) before
// it matches. Each order waits by itself; they do not queue for it.
type Service struct {
	Time time.Duration
	// Realtime waits it out and reports what was really waited; otherwise an order
	// goes on at once and reports Time.
	Realtime bool
}

// MaxServiceTime bounds Service.Time, so that a desk closes in time.
const MaxServiceTime = time.Second

// maxWaiting bounds the orders that wait at once.
const maxWaiting = 1 << 16

// pacer has orders wait out their service.
type pacer struct {
	*feed.Pacer
	service Service
}

func newPacer(s Service) (*pacer, error) {
	if s.Time < 0 || s.Time > MaxServiceTime {
		return nil, fmt.Errorf("service time %s: want 0 to %s", s.Time, MaxServiceTime)
	}
	return &pacer{feed.NewPacer(maxWaiting), s}, nil
}

// serve waits, where the service is real, and returns what to report in ns.
func (p *pacer) serve() int64 {
	if !p.service.Realtime || p.service.Time == 0 {
		return int64(p.service.Time)
	}
	began := feed.Now()
	woken := make(chan struct{})
	if p.Wake(began+int64(p.service.Time), func() { close(woken) }) {
		select {
		case <-woken:
		case <-p.Stopped():
		}
	}
	return feed.Now() - began
}

// PacerCPU returns the CPU time in ns that waiting out the service times took, to
// be kept apart from that of orders.
func (d *Desk) PacerCPU() int64 { return d.pacer.CPU() }
