package measure

import (
	"context"
	"sync"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// Phase is what a fleet or a trader is doing.
type Phase struct {
	Name    string
	Elapsed time.Duration
	Length  time.Duration // 0: not known
}

// Phases keeps the phase that is under way. Any goroutine may call it.
type Phases struct {
	mu      sync.Mutex
	current Phase
	began   int64
}

// Begin begins a phase.
func (p *Phases) Begin(name string, length time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.began = Phase{Name: name, Length: length}, feed.Now()
}

// Report calls report with the phase once in each interval until ctx is done, and
// returns nil.
func (p *Phases) Report(ctx context.Context, every time.Duration, report func(Phase)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		p.mu.Lock()
		now := p.current
		now.Elapsed = time.Duration(feed.Now() - p.began)
		p.mu.Unlock()
		report(now)
	}
}
