package measure

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	us = int64(time.Microsecond)
	ms = int64(time.Millisecond)
)

// judged is a run whose evidence is in order until a case spoils it.
type judged struct {
	d Deliveries
	l Ledger
	e Evidence
}

func recorded(values ...int64) *Histogram {
	h := NewHistogram()
	for _, v := range values {
		h.Record(v)
	}
	return h
}

func goodRun() *judged {
	j := &judged{
		d: Deliveries{
			Due: 10_000, Received: 10_000,
			Latency: recorded(ms), WithConflated: recorded(ms), Decoded: recorded(ms), PublishLag: recorded(100 * us),
			Connect: recorded(ms), FirstTick: recorded(ms), MeanByThird: [3]int64{ms, ms, ms},
		},
		l: Ledger{Complete: true, Scheduled: 1000, PublishLag: &Lag{Quantiles: Quantiles{P99: 100 * us}, MeanByThird: [3]int64{us, us, us}}},
	}
	j.e = Evidence{Deliveries: &j.d, Ledger: &j.l, FleetLag: &Lag{Quantiles: Quantiles{P99: 200 * us}, MeanByThird: [3]int64{us, us, us}}}
	return j
}

func (j *judged) judge() *Run {
	r := &Run{Reasons: []string{"of before"}}
	r.Fill(&j.d)
	r.Judge(j.e)
	return r
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(j *judged)
		reason string // "" where the run is in order
	}{
		{"in order", func(*judged) {}, ""},
		{"no ledger, no probe", func(j *judged) { j.e.Ledger, j.e.FleetLag = nil, nil }, ""},
		{"ledger without lags", func(j *judged) { j.l.PublishLag = nil }, ""},

		{"another version", func(j *judged) { j.e.Version, j.e.ExchangeVersion = "v2", "v1" }, "the exchange is tickgauge v1 and the fleet is v2: use one build for both"},
		{"the same version", func(j *judged) { j.e.Version, j.e.ExchangeVersion = "v2", "v2" }, ""},
		{"nothing due", func(j *judged) { j.d.Due, j.d.Received = 0, 0 }, "nothing was due in the window"},
		{"nothing received", func(j *judged) { j.d.Received, j.d.Missed, j.d.Unpublished = 0, 10_000, 10_000 }, "nothing was received"},
		{"99.5% published", func(j *judged) { j.l.Unpublished, j.d.Received, j.d.Missed, j.d.Unpublished = 5, 9950, 50, 50 }, ""},
		{"99.4% published", func(j *judged) { j.l.Unpublished, j.d.Received, j.d.Missed, j.d.Unpublished = 6, 9940, 60, 60 },
			"only 99.4% of what was due was published"},
		{"still publishing", func(j *judged) { j.l.Complete = false }, "the exchange was still publishing the window when asked"},
		{"publisher just in time", func(j *judged) { j.l.PublishLag.P99 = 499 * us }, ""},
		{"publisher late", func(j *judged) { j.l.PublishLag.P99 = 501 * us }, "the publisher was late: p99 501µs of a latency p99 of 1ms"},
		{"publisher late by what arrived", func(j *judged) { j.e.Ledger, j.d.PublishLag = nil, recorded(600*us) },
			"the publisher was late: p99 600."},
		{"publisher fell behind", func(j *judged) { j.l.PublishLag.MeanByThird = [3]int64{ms, ms, 3 * ms} },
			"the publisher fell behind: its mean lag rose from 1ms in the first two thirds to 3ms in the last"},
		{"fleet late", func(j *judged) { j.e.FleetLag.P99 = 600 * us }, "the fleet was late: p99 600µs"},
		{"fleet fell behind", func(j *judged) { j.e.FleetLag.MeanByThird = [3]int64{0, 0, 2 * ms} },
			"the fleet fell behind: its mean lag rose from 0s in the first two thirds to 2ms in the last"},
		{"missed", func(j *judged) { j.d.Received, j.d.Missed = 9999, 1 }, "1 deliveries are missing without a word"},
		{"missed beside what was not published", func(j *judged) { j.d.Received, j.d.Missed, j.d.Unpublished = 9990, 10, 7 },
			"3 deliveries are missing without a word"},
		{"duplicated", func(j *judged) { j.d.Duplicated = 2 }, "2 deliveries came twice and 0 out of order"},
		{"reordered", func(j *judged) { j.d.Reordered = 3 }, "0 deliveries came twice and 3 out of order"},
		{"stray", func(j *judged) { j.d.Stray = 4 }, "4 deliveries were of symbols that their stream had not subscribed to"},
		{"lost as injected", func(j *judged) { j.d.Received, j.d.Missed, j.l.Injected = 9995, 5, &Injected{Lost: 5} },
			"5 deliveries are missing without a word (5 injected)"},
		{"lost more than injected", func(j *judged) { j.d.Received, j.d.Missed, j.l.Injected = 9995, 5, &Injected{Lost: 3} },
			"5 deliveries are missing without a word (3 injected, so 2 are real)"},
		{"lost less than injected", func(j *judged) { j.l.Injected = &Injected{Lost: 3} },
			"0 deliveries are missing without a word (3 injected, so 3 were not found)"},
		{"lost as injected, some behind all that arrived", func(j *judged) {
			j.d.Received, j.d.Missed, j.d.Overdue, j.l.Injected = 9995, 5, 2, &Injected{Lost: 5}
		}, "5 deliveries are missing without a word (5 injected)"},
		{"twice and out of order as injected", func(j *judged) {
			j.d.Duplicated, j.d.Reordered, j.l.Injected = 2, 3, &Injected{Duplicated: 2, Reordered: 1}
		}, "2 deliveries came twice (2 injected) and 3 out of order (1 injected, so 2 are real)"},
		{"delayed and stalled", func(j *judged) { j.l.Injected = &Injected{Delayed: 10_000, Stalls: []Stall{{1, 2}}} }, ""},

		{"broken", func(j *judged) { j.e.StreamsBroken, j.e.FirstBreak = 5, errors.New("cut") }, "5 streams broke: cut"},
		{"negative latency", func(j *judged) { j.d.Latency.Record(-1500) }, "1 latencies are negative, the smallest -1.5µs"},
		{"foreign clock", func(j *judged) { j.d.ForeignClock = 1; j.d.Latency.Record(-5) },
			"the exchange runs on another machine or boot: no one-way latency"},
		{"too long", func(j *judged) { j.d.WithConflated.Record(int64(time.Hour)) }, "histogram: 1 values beyond 5m0s, 0 lost in merging"},
		{"too long to decode", func(j *judged) { j.d.Decoded.Record(int64(time.Hour)) }, "histogram: 1 values beyond"},
		{"too long to publish", func(j *judged) { j.d.PublishLag.Record(int64(time.Hour)) }, "histogram: 1 values beyond"},
		{"too long to connect", func(j *judged) { j.d.Connect.Record(int64(time.Hour)) }, "histogram: 1 values beyond"},
		{"too long to the first tick", func(j *judged) { j.d.FirstTick.Record(int64(time.Hour)) }, "histogram: 1 values beyond"},
		{"unbalanced", func(j *judged) { j.d.Unbalanced = 7 }, "7 deliveries more than were due were received: the ledger is not that of these streams"},
		{"unproven", func(j *judged) { j.e.Unproven = 2 }, "2 streams had no tick of a symbol after the window, so that what was due at its end is not known; give --debug-target"},
		{"source ended", func(j *judged) { j.e.Ledger.Ended = true }, "the source ended before the window did"},
		{"other streams", func(j *judged) { j.e.Streams, j.e.Ledger.Totals = 3, map[string]int64{StreamsOpen: 5} },
			"the exchange served 2 other streams beside the fleet's"},
		{"interrupted", func(j *judged) { j.e.Interrupted = true }, "interrupted before the end of the window"},

		{"0.1% skipped", func(j *judged) { j.d.Received, j.d.Conflated, j.d.Dropped = 9990, 5, 5 }, ""},
		{"conflated", func(j *judged) { j.d.Received, j.d.Conflated = 9989, 11 }, "saturated: 0.11% was conflated or dropped"},
		{"dropped", func(j *judged) { j.d.Received, j.d.Dropped = 5000, 5000 }, "saturated: 50.00% was conflated or dropped"},
		{"latency grows", func(j *judged) { j.d.MeanByThird = [3]int64{5 * ms, 10 * ms, 16 * ms} },
			"saturated: the mean latency rose from 5ms in the first third to 16ms in the last"},
		{"latency grows within the noise", func(j *judged) { j.d.MeanByThird = [3]int64{ms, 5 * ms, 10 * ms} }, ""},
		{"latency grows, but by less than three times", func(j *judged) { j.d.MeanByThird = [3]int64{50 * ms, 90 * ms, 150 * ms} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := goodRun()
			c.spoil(j)
			r := j.judge()
			saturated := strings.HasPrefix(c.reason, "saturated: ")
			if valid := c.reason == "" || saturated; r.Valid != valid || r.Saturated != saturated {
				t.Errorf("valid %t, saturated %t; want %t, %t", r.Valid, r.Saturated, valid, saturated)
			}
			switch {
			case c.reason == "" && (r.Reasons == nil || len(r.Reasons) > 0):
				t.Errorf("reasons %#v, want none and not nil", r.Reasons)
			case c.reason != "" && (len(r.Reasons) != 1 || !strings.HasPrefix(r.Reasons[0], c.reason)):
				t.Errorf("reasons %q, want %q alone", r.Reasons, c.reason)
			}
		})
	}
}

// What is behind all that arrived may be on its way still; what is missing before it
// is lost.
func TestJudgeTellsLateFromLost(t *testing.T) {
	j := goodRun()
	j.d.Received, j.d.Missed, j.d.Overdue = 9990, 10, 7
	r := j.judge()
	want := []string{"3 deliveries are missing without a word", "saturated: 7 deliveries had not arrived when the fleet stopped waiting for late ones"}
	if r.Valid || !r.Saturated || !slices.Equal(r.Reasons, want) {
		t.Errorf("valid %t, saturated %t, reasons %q; want %q", r.Valid, r.Saturated, r.Reasons, want)
	}
	j.d.Missed = 7
	if r = j.judge(); r.Valid || !r.Saturated || len(r.Reasons) != 1 {
		t.Errorf("valid %t, saturated %t, reasons %q", r.Valid, r.Saturated, r.Reasons)
	}
}

func TestJudgeGivesEveryReason(t *testing.T) {
	j := goodRun()
	j.d.Received, j.d.Missed, j.d.Dropped = 8000, 1000, 1000
	j.e.Interrupted = true
	r := j.judge()
	if len(r.Reasons) != 3 || r.Valid || !r.Saturated {
		t.Errorf("valid %t, saturated %t, reasons %q; want three", r.Valid, r.Saturated, r.Reasons)
	}
}

func TestReasonsOfAValidRunAreAnEmptyList(t *testing.T) {
	b, err := json.Marshal(goodRun().judge())
	if err != nil || !strings.Contains(string(b), `"valid":true,"saturated":false,"reasons":[],`) {
		t.Errorf("JSON %s, error %v; want an empty list of reasons", b, err)
	}
}
