package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/tickgauge/tickgauge/clients/fleet"
	"github.com/tickgauge/tickgauge/clients/trader"
)

// progress shows what a fleet or a trader is doing: a line that is written over on a
// terminal, and plain lines now and then elsewhere.
type progress struct {
	out   *os.File
	name  string
	every time.Duration
	bar   *progressbar.ProgressBar // nil where out is no terminal
	seen  int64                    // deliveries at the last report
	at    time.Time
}

func newProgress(out *os.File, name string) *progress {
	p := &progress{out: out, name: name, every: 5 * time.Second, at: time.Now()}
	if term.IsTerminal(int(out.Fd())) {
		p.every = 500 * time.Millisecond
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(out), progressbar.OptionClearOnFinish(),
			progressbar.OptionSpinnerType(14), progressbar.OptionSetElapsedTime(false))
	}
	return p
}

// show is called by one goroutine.
func (p *progress) show(s fleet.Status) {
	line := fmt.Sprintf("%s: %s, %d of %d streams open", p.name, s.Name, s.Open, s.Streams)
	if s.Length > 0 {
		line += fmt.Sprintf(", %.0f of %.0f s", s.Elapsed.Seconds(), s.Length.Seconds())
	}
	if s.Progress.Received > 0 {
		now := time.Now()
		past := now.Sub(p.at)
		if p.seen == 0 {
			past = min(past, max(s.Elapsed, time.Millisecond)) // the window has just begun
		}
		line += fmt.Sprintf(", %.0f deliveries/s, p50 %s, p99 %s so far", float64(s.Progress.Received-p.seen)/past.Seconds(),
			coarse(s.Progress.P50), coarse(s.Progress.P99))
		p.seen, p.at = s.Progress.Received, now
	} else {
		p.at = time.Now()
	}
	p.line(line)
}

// showOrders is called by one goroutine.
func (p *progress) showOrders(s trader.Status) {
	line := fmt.Sprintf("%s: %s", p.name, s.Name)
	if s.Length > 0 {
		line += fmt.Sprintf(", %.0f of %.0f s", s.Elapsed.Seconds(), s.Length.Seconds())
	}
	if o := s.Progress; o.Sent > 0 {
		line += fmt.Sprintf(", %d sent, %d acked, %d rejected, %d failed so far", o.Sent, o.Acked, o.Rejected, o.Failed)
	}
	p.line(line)
}

func (p *progress) line(line string) {
	if p.bar == nil {
		fmt.Fprintln(p.out, line)
		return
	}
	p.bar.Describe(line)
	_ = p.bar.Add(1) // draws; an error would be the terminal's
}

// coarse writes ns to the two digits that the running figures may have.
func coarse(ns int64) time.Duration {
	unit := int64(1)
	for ns/unit >= 100 {
		unit *= 10
	}
	return time.Duration((ns + unit/2) / unit * unit)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
