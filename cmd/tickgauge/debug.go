package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// counters are what the meter samples: names, and a reader in their order.
func (r *running) counters() ([]string, func([]int64) []int64) {
	names := []string{
		measure.WrittenBytes, measure.PayloadBytes, measure.ReadBytes, measure.TicksWritten, measure.WriteNS,
		measure.Enqueued, measure.Conflated, measure.Dropped, measure.Disconnected, measure.StreamsOpen,
		measure.OrderRequests, measure.ServiceCPU, "orders_rejected", "orders_repeated", "order_ids", "order_trades", "quotes_crossed", "reports_lost",
		"published", "streams_opened", "streams_refused", "streams_timed_out", "problems", "connections_accepted", "fault_cpu_ns",
	}
	return names, func(dst []int64) []int64 {
		t, h, e, d := r.traffic.Count(), r.hub.Stats(), r.exchange.Stats(), r.desk.Stats()
		return append(dst, t.WrittenBytes, r.written.payload.Load(), t.ReadBytes, r.written.ticks.Load(), r.written.ns.Load(),
			h.Enqueued, h.Conflated, h.Dropped, h.Disconnected, e.Open,
			d.Requests, r.desk.PacerCPU(), d.Rejected, d.Repeated, int64(r.desk.Remembered()), d.Trades, d.CrossedQuotes, e.ReportsLost,
			h.Published, e.Opened, e.Refused, e.TimedOut, e.Problems, t.Accepted, r.faults.cpu())
	}
}

// debugHandler serves the control of a held source, the ledger and pprof.
func debugHandler(r *running, meter *measure.Meter) http.Handler {
	mux := http.NewServeMux()
	sent := &sent{traffic: r.traffic, written: r.written}
	mux.HandleFunc("POST /debug/run", func(w http.ResponseWriter, req *http.Request) {
		r.startSource(w, req, func() { meter.MarkIdle(); sent.start() })
	})
	mux.HandleFunc("GET /debug/ledger", func(w http.ResponseWriter, req *http.Request) { r.ledger(w, req, meter, sent) })
	mux.HandleFunc("GET /debug/ca.pem", r.authority)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// startSource calls started once the source knows when to start.
func (r *running) startSource(w http.ResponseWriter, req *http.Request, started func()) {
	var times struct {
		StartNS *int64 `json:"start_ns"`
		StopNS  int64  `json:"stop_ns"`
		Epoch   string `json:"epoch"` // where given: of the exchange that is meant
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&times); err != nil {
		http.Error(w, `want {"start_ns": N, "stop_ns": N} in CLOCK_MONOTONIC: `+err.Error(), http.StatusBadRequest)
		return
	}
	if times.Epoch != "" && times.Epoch != r.hub.Epoch() {
		http.Error(w, "this is the debug address of another exchange, epoch "+r.hub.Epoch(), http.StatusPreconditionFailed)
		return
	}
	now := feed.Now()
	if times.StartNS == nil {
		times.StartNS = &now
	}
	if start, stop := *times.StartNS, times.StopNS; start < now-int64(startPast) || start > now+int64(startAhead) || stop != 0 && stop > start+int64(longestRun) && stop > start {
		http.Error(w, fmt.Sprintf("start_ns must lie within %s before and %s after now, %d, and stop_ns at most %s later", startPast, startAhead, now, longestRun), http.StatusBadRequest)
		return
	}
	switch err := r.publisher.Start(*times.StartNS, times.StopNS); {
	case errors.Is(err, feed.ErrStarted):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		started()
		r.faults.start(*times.StartNS)
		writeJSON(w, times)
	}
}

// The times that a held source may be given. Due times of another clock would be
// published all at once, or never.
const (
	startPast  = time.Second
	startAhead = 10 * time.Minute
	longestRun = 7 * 24 * time.Hour
)

// ledgerAhead is how far in the future a window may end: the answer waits for it.
const ledgerAhead = 10 * time.Minute

// ledger answers once everything due in the window is published or given up.
func (r *running) ledger(w http.ResponseWriter, req *http.Request, meter *measure.Meter, sent *sent) {
	from, errFrom := strconv.ParseInt(req.FormValue("from"), 10, 64)
	to, errTo := strconv.ParseInt(req.FormValue("to"), 10, 64)
	if errFrom != nil || errTo != nil || to <= from {
		http.Error(w, "want ?from=NS&to=NS in CLOCK_MONOTONIC, from before to", http.StatusBadRequest)
		return
	}
	if to > feed.Now()+int64(ledgerAhead) {
		http.Error(w, fmt.Sprintf("the window ends more than %s from now, which is %d", ledgerAhead, feed.Now()), http.StatusBadRequest)
		return
	}
	symbols := r.hub.Symbols()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	// A second beyond the grace: the publisher counts what it gives up.
	for r.publisher.Started() && !r.schedule.Complete(to) && feed.Now() < to+int64(feed.LateGrace+time.Second) {
		select {
		case <-req.Context().Done():
			return
		case <-ticker.C:
		}
	}
	window, err := r.schedule.Window(from, to, len(symbols))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l := measure.Ledger{
		Version: version, Epoch: r.hub.Epoch(), BootID: feed.BootID(), FromNS: from, ToNS: to,
		Complete: window.Complete, Ended: window.Ended, Scheduled: window.Scheduled, Unpublished: window.Unpublished,
		Schedule: r.published, ServiceRealtime: r.realService, Symbols: []measure.SymbolDue{}, PublishLag: measure.LagOf(window.LagNS),
	}
	for i, s := range window.Symbols {
		if s.Scheduled > 0 {
			l.Symbols = append(l.Symbols, measure.SymbolDue{Symbol: symbols[i].Name, Scheduled: s.Scheduled, Unpublished: s.Unpublished, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq})
		}
	}
	if l.Injected, l.InjectedSymbols, err = r.faults.injected(from, to); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.Process, l.Counters, l.Totals = meter.Window(from, to)
	l.TCP = sent.tcp()
	writeJSON(w, l)
}

// authority answers with the CA that clients have to trust.
func (r *running) authority(w http.ResponseWriter, _ *http.Request) {
	if r.ca == nil {
		http.Error(w, "the exchange made no certificate; start it with --tls self", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-pem-file")
	_, _ = w.Write(r.ca) // the client may be gone
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
