package measure

import (
	"fmt"
	"time"
)

// Evidence is what a run is judged by.
type Evidence struct {
	Deliveries    *Deliveries
	Ledger        *Ledger // nil: the exchange was not asked
	FleetLag      *Lag
	Streams       int // of the fleet; 0: not known
	StreamsBroken int
	Unproven      int // symbols of streams of which it is not known that they got all; without a ledger
	FirstBreak    error
	Interrupted   bool
	// Of tickgauge; empty where not known.
	Version, ExchangeVersion string
}

// The bounds of the rule in docs/results.md.
const (
	minPublishedShare = 0.995
	maxSkippedShare   = 0.001
	// A machine on which a publisher or a fleet is so late is measured itself,
	// however long the latencies are that come of it.
	maxLag = int64(50 * time.Millisecond)
)

// Judge sets Valid, Saturated and the reasons of a run. A run is valid when the
// schedule was kept, nothing was missed in silence, and the fleet was in time to
// receive; apart from that it is saturated when more than 0.1% was conflated or
// dropped, or the latency still grew at the end.
func (r *Run) Judge(e Evidence) {
	r.Reasons, r.Valid, r.Saturated = []string{}, true, false
	invalid := func(format string, args ...any) {
		r.Valid = false
		r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
	}
	saturated := func(format string, args ...any) {
		r.Saturated = true
		r.Reasons = append(r.Reasons, fmt.Sprintf("saturated: "+format, args...))
	}
	d := e.Deliveries
	if e.Version != "" && e.ExchangeVersion != "" && e.Version != e.ExchangeVersion {
		invalid("the exchange is tickgauge %s and the fleet is %s: use one build for both", e.ExchangeVersion, e.Version)
	}
	injected := &Injected{}
	if e.Ledger != nil && e.Ledger.Injected != nil {
		injected = e.Ledger.Injected
	}
	if e.StreamsBroken > 0 {
		invalid("%d streams broke: %v", e.StreamsBroken, e.FirstBreak)
	}
	switch {
	case d.Due == 0:
		invalid("nothing was due in the window")
	case d.Received == 0:
		invalid("nothing was received")
	}
	if l := e.Ledger; l != nil && l.Scheduled > 0 {
		if share := 1 - float64(l.Unpublished)/float64(l.Scheduled); share < minPublishedShare {
			invalid("only %.1f%% of what was due was published", 100*share)
		}
		if l.Ended {
			invalid("the source ended before the window did")
		}
		if others := l.Totals[StreamsOpen] - int64(e.Streams); others > 0 && e.Streams > 0 {
			invalid("the exchange served %d other streams beside the fleet's", others)
		}
		if !l.Complete {
			invalid("the exchange was still publishing the window when asked")
		}
	}
	r.judgeLag(e, invalid)
	silent, overdue := d.Missed-d.Unpublished-d.Overdue, d.Overdue
	// An injected loss behind all that its stream received looks late.
	if behind := min(overdue, injected.Lost-silent); behind > 0 {
		silent, overdue = silent+behind, overdue-behind
	}
	if silent != 0 || injected.Lost != 0 {
		invalid("%d deliveries are missing without a word%s", silent, found(silent, injected.Lost))
	}
	if overdue > 0 {
		r.Valid = false
		saturated("%d deliveries had not arrived when the fleet stopped waiting for late ones", overdue)
	}
	if d.Unbalanced != 0 {
		invalid("%d deliveries more than were due were received: the ledger is not that of these streams", d.Unbalanced)
	}
	if e.Unproven != 0 {
		invalid("%d streams had no tick of a symbol after the window, so that what was due at its end is not known; give --debug-target", e.Unproven)
	}
	if d.Duplicated+d.Reordered+injected.Duplicated+injected.Reordered != 0 {
		invalid("%d deliveries came twice%s and %d out of order%s", d.Duplicated, found(d.Duplicated, injected.Duplicated), d.Reordered, found(d.Reordered, injected.Reordered))
	}
	if d.Stray != 0 {
		invalid("%d deliveries were of symbols that their stream had not subscribed to", d.Stray)
	}
	if n, smallest := d.Latency.Negative(); n > 0 && d.ForeignClock == 0 {
		invalid("%d latencies are negative, the smallest %s", n, time.Duration(smallest))
	}
	if d.ForeignClock > 0 {
		invalid("the exchange runs on another machine or boot: no one-way latency")
	}
	for _, h := range []*Histogram{d.WithConflated, d.Decoded, d.PublishLag, d.Connect, d.FirstTick} {
		if f := h.Fault(); f != "" {
			invalid("histogram: %s", f)
		}
	}
	if e.Interrupted {
		invalid("interrupted before the end of the window")
	}
	skipped := d.Conflated + d.Dropped
	if d.Due > 0 && float64(skipped) > maxSkippedShare*float64(d.Due) {
		saturated("%.2f%% was conflated or dropped", 100*float64(skipped)/float64(d.Due))
	}
	if grows(d.MeanByThird) {
		saturated("the mean latency rose from %s in the first third to %s in the last",
			rounded(d.MeanByThird[0]), rounded(d.MeanByThird[2]))
	}
}

func (r *Run) judgeLag(e Evidence, invalid func(string, ...any)) {
	publish := &Lag{}
	switch {
	case e.Ledger != nil && e.Ledger.PublishLag != nil:
		publish = e.Ledger.PublishLag
	case r.PublishLag != nil:
		publish.Quantiles = *r.PublishLag
	}
	if r.Latency == nil || e.StreamsBroken > 0 {
		return // what a broken run shows of lags is its consequence
	}
	for _, side := range []struct {
		who string
		lag *Lag
	}{{"the publisher", publish}, {"the fleet", e.FleetLag}} {
		if side.lag == nil {
			continue
		}
		switch {
		case side.lag.P99 > maxLag:
			invalid("%s was late: p99 %s, more than the %s that any run may have", side.who, rounded(side.lag.P99), rounded(maxLag))
		case 2*side.lag.P99 >= r.Latency.P99:
			invalid("%s was late: p99 %s of a latency p99 of %s", side.who, rounded(side.lag.P99), rounded(r.Latency.P99))
		}
		if side.lag.rises() {
			l := side.lag.MeanByThird
			invalid("%s fell behind: its mean lag rose from %s in the first two thirds to %s in the last", side.who, rounded((l[0]+l[1])/2), rounded(l[2]))
		}
	}
}

// grows says whether queues were still filling: the mean latency tripled over
// the window, beyond what a busy machine's noise does.
func grows(third [3]int64) bool {
	const noise = int64(10 * time.Millisecond)
	return third[2]-third[0] > noise && third[2] > 3*third[0]
}

// rounded is a duration with the digits that a reader wants.
func rounded(ns int64) time.Duration {
	d := time.Duration(ns)
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(10 * time.Nanosecond)
}
