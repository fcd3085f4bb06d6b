package measure

import (
	"errors"
	"fmt"
)

// Orders is one run of a trader as results.json has it, schema
// tickgauge.results/v2: times in ns. A nil figure was not measured.
// docs/results.md explains each.
type Orders struct {
	Path             string  `json:"path"` // grpc-unary, rest-unary, grpc-stream, websocket or rest+sse
	HTTPVersion      string  `json:"http_version"`
	Encoding         string  `json:"encoding"`
	Workers          int     `json:"workers"`
	Rate             float64 `json:"rate"` // orders/s of the open loop; 0: closed loop
	Connections      int     `json:"connections"`
	PayloadBytes     int     `json:"payload_bytes"` // orders were padded to it; 0: not
	TLS              bool    `json:"tls"`
	Compression      string  `json:"compression"` // gzip or deflate; empty: none
	Symbol           string  `json:"symbol"`
	Account          string  `json:"account"`
	StreamsBeside    int     `json:"streams_beside"`
	StreamsTransport string  `json:"streams_transport"` // of those; empty where there are none

	Valid       bool     `json:"valid"`
	Saturated   bool     `json:"saturated"`
	Reasons     []string `json:"reasons"` // why not valid, or saturated
	Started     string   `json:"started"` // the window, RFC 3339; empty in a v1 file
	DurationNS  int64    `json:"duration_ns"`
	Interrupted bool     `json:"interrupted"`

	Sent         int64   `json:"sent"` // acked + rejected + failed
	Acked        int64   `json:"acked"`
	Filled       int64   `json:"filled"` // of the acked ones, whole; the rest was canceled, or a part of it
	Rejected     int64   `json:"rejected"`
	Failed       int64   `json:"failed"`        // without an execution: nothing is known of the outcome
	FirstFailure string  `json:"first_failure"` // what the first of them said
	Throughput   float64 `json:"throughput"`    // acked in a second

	Reopened int64 `json:"reopened"` // workers' connections or streams that broke and were opened again

	FirstRejection string `json:"first_rejection"` // why the first rejected one was

	Latency            *Quantiles `json:"latency_ns"`  // of the acked ones
	LatencyHDR         string     `json:"latency_hdr"` // the whole of it, as Histogram.Encode gives it; empty where there is none
	Service            *Quantiles `json:"service_ns"`  // what they report to have waited
	LatencyWithService *Quantiles `json:"latency_with_service_ns"`
	Lag                *Quantiles `json:"lag_ns"`        // open loop: sent - due
	TraderLag          *Quantiles `json:"trader_lag_ns"` // how late the process got to run
	Connect            *Quantiles `json:"connect_ns"`    // until an order could be sent

	ServerCPUNSPerOrder *int64 `json:"server_cpu_ns_per_order"` // of an exchange that published nothing else
	ClientCPUNSPerOrder *int64 `json:"client_cpu_ns_per_order"`

	NegativeLatencies int64  `json:"negative_latencies"`
	MostNegative      int64  `json:"most_negative_latency_ns"` // 0 where none is negative
	Stamp             string `json:"stamp"`                    // where the answer's stamp is taken
}

// OrderEvidence is what a trader's run is judged by, beside its figures.
type OrderEvidence struct {
	Due         int64 // orders due in the window; 0 in a closed loop
	Down        int64 // workers that had no connection in the end
	TraderLag   *Lag
	Interrupted bool
	Ledger      *Ledger // nil: the exchange was not asked
	NoLedger    error   // it was, and this came of it
}

// maxFailed is the share of orders that may fail: beyond it the run is one of an
// exchange that was gone, or refused, for a part of it.
const maxFailed = 0.01

// maxAway is the share of the workers' time that may go to outages.
const maxAway = 0.01

// maxWaited is the share of orders of an open loop that may have waited for a
// free worker.
const maxWaited = 0.01

// Finish takes what the recorder has and what the trader's process used in the
// window, and judges. A run is valid when every order
// is accounted for and the trader kept its schedule; apart from that it is
// saturated when the orders waited for free workers.
func (o *Orders) Finish(r *OrderRecorder, trader Process, e OrderEvidence) {
	t := r.sum()
	from, to := r.fromNS.Load(), r.toNS.Load()
	o.Started, o.DurationNS, o.Interrupted = Started(from), to-from, e.Interrupted
	o.Sent, o.Acked, o.Filled, o.Rejected, o.Failed = t.sent, t.acked, t.filled, t.rejected, t.failed
	o.FirstFailure, o.FirstRejection = t.firstFailure.text, t.firstRejection.text
	o.Throughput = float64(t.acked) / (float64(max(to-from, 1)) / 1e9)
	o.Latency, o.Connect = t.latency.Quantiles(), t.connect.Quantiles()
	o.LatencyHDR = t.latency.Encode()
	o.NegativeLatencies, o.MostNegative = t.latency.Negative()
	if t.served > 0 {
		o.Service = t.service.Quantiles()
		if e.Ledger != nil && !e.Ledger.ServiceRealtime { // else it may be in the latency already
			o.LatencyWithService = t.withService.Quantiles()
		}
	}
	if e.Due > 0 {
		o.Lag = t.lag.Quantiles()
	}
	if e.TraderLag != nil {
		o.TraderLag = &e.TraderLag.Quantiles
	}
	if why := o.otherLedger(e.Ledger); why != "" {
		e.Ledger, e.NoLedger = nil, errors.New(why)
		o.LatencyWithService = nil
	}
	o.ClientCPUNSPerOrder = perOrder(trader.CPUUserNS+trader.CPUSystemNS, o.Acked+o.Rejected)
	if l := e.Ledger; l != nil && l.Counters[TicksWritten] == 0 && l.Scheduled == 0 { // else what it used was not for orders alone
		o.ServerCPUNSPerOrder = perOrder(l.Process.CPUUserNS+l.Process.CPUSystemNS-l.Counters[ServiceCPU], l.Counters[OrderRequests])
	}
	o.judge(t, e)
}

// otherLedger says why a ledger is not that of the exchange which answered, or not
// of these orders alone; empty where it may be. The ledger's counts are interpolated
// between samples, and orders are on their way at the edges of the window.
func (o *Orders) otherLedger(l *Ledger) string {
	if l == nil {
		return ""
	}
	const edges = 0.1 // s
	served, answered := l.Counters[OrderRequests], o.Acked+o.Rejected
	slack := answered/10 + 2*int64(o.Workers) + int64(edges*float64(answered)/(float64(max(o.DurationNS, 1))/1e9))
	switch {
	case served < answered-slack:
		return fmt.Sprintf("the exchange at the debug address served %d orders in the window, and %d were answered: it is another exchange, or was started anew", served, answered)
	case served > answered+o.Failed+slack:
		return fmt.Sprintf("the exchange at the debug address served %d orders in the window, and %d were the trader's", served, answered)
	}
	return ""
}

func perOrder(ns, orders int64) *int64 {
	if orders == 0 {
		return nil
	}
	ns /= orders
	return &ns
}

func (o *Orders) judge(t *orderTally, e OrderEvidence) {
	o.Reasons, o.Valid, o.Saturated = []string{}, true, false
	invalid := func(format string, args ...any) {
		o.Valid = false
		o.Reasons = append(o.Reasons, fmt.Sprintf(format, args...))
	}
	switch {
	case o.Sent == 0 && e.Due > 0:
		invalid("none of the %d orders that were due in the window was sent: those before it still waited for the %d workers", e.Due, o.Workers)
	case o.Sent == 0 && o.Rate > 0:
		invalid("no order was due in the window at %g orders/s: make it longer", o.Rate)
	case o.Sent == 0:
		invalid("no order was sent in the window: make it longer")
	case o.Failed == o.Sent:
		invalid("all orders failed: %s", o.FirstFailure)
	case o.Acked == 0:
		invalid("no order was acked; the first was rejected: %s", o.FirstRejection)
	case float64(o.Failed) > maxFailed*float64(o.Sent):
		invalid("%.1f%% of the orders failed, the first: %s", 100*float64(o.Failed)/float64(o.Sent), o.FirstFailure)
	}
	if e.Down > 0 {
		invalid("%d of %d workers had no connection at the end of the window: %s", e.Down, o.Workers, o.FirstFailure)
	}
	// A closed loop loses one order for each worker to an outage, however long.
	if share := float64(t.awayNS) / float64(max(o.DurationNS, 1)*int64(max(o.Workers, 1))); share > maxAway {
		invalid("the workers spent %.1f%% of the window on orders that failed and on new connections: %s", 100*share, o.FirstFailure)
	}
	if answered := o.Acked + o.Rejected + o.Failed; answered != o.Sent {
		invalid("%d orders were sent and %d accounted for", o.Sent, answered)
	}
	if e.Due > 0 {
		if share := float64(o.Sent) / float64(e.Due); share < minPublishedShare {
			invalid("only %.1f%% of the orders that were due were sent", 100*share)
		}
	}
	if e.TraderLag != nil {
		switch lag := e.TraderLag.P99; {
		case lag > maxLag:
			invalid("the trader was late: p99 %s, more than the %s that any run may have", rounded(lag), rounded(maxLag))
		case e.Due > 0 && o.Latency != nil && 2*lag >= o.Latency.P99:
			invalid("the trader was late: p99 %s of a latency p99 of %s", rounded(lag), rounded(o.Latency.P99))
		}
	}
	if o.NegativeLatencies > 0 {
		invalid("%d latencies are negative, the smallest %s", o.NegativeLatencies, rounded(o.MostNegative))
	}
	for _, h := range []*Histogram{t.latency, t.service, t.withService, t.lag, t.connect} {
		if f := h.Fault(); f != "" {
			invalid("histogram: %s", f)
		}
	}
	if e.NoLedger != nil {
		invalid("%v", e.NoLedger)
	}
	if e.Interrupted {
		invalid("interrupted before the end of the window")
	}
	if e.Due > 0 {
		// What was due and never sent waits still.
		if share := float64(t.waited+max(e.Due-o.Sent, 0)) / float64(e.Due); share > maxWaited {
			o.Saturated = true
			o.Reasons = append(o.Reasons, fmt.Sprintf("saturated: %.1f%% of the orders waited for one of the %d workers; give more of them, or a lower rate", 100*share, o.Workers))
		}
		if third := t.lagThirds(); rising(third) {
			o.Saturated = true
			o.Reasons = append(o.Reasons, fmt.Sprintf("saturated: orders were sent ever later, from %s in the first two thirds to %s in the last",
				rounded((third[0]+third[1])/2), rounded(third[2])))
		}
	}
}
