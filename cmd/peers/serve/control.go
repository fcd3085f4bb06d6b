package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

// control is the debug address of a peer: as much of the exchange's as a
// measurement needs.
type control struct {
	market    *Market
	publisher *feed.Publisher
	schedule  *feed.ScheduleLog
}

func (c control) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /debug/run", c.start)
	mux.HandleFunc("GET /debug/ledger", c.ledger)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

func (c control) start(w http.ResponseWriter, r *http.Request) {
	var times struct {
		StartNS int64 `json:"start_ns"`
		StopNS  int64 `json:"stop_ns"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&times); err != nil {
		http.Error(w, `want {"start_ns": N, "stop_ns": N} in CLOCK_MONOTONIC: `+err.Error(), http.StatusBadRequest)
		return
	}
	if err := c.publisher.Start(times.StartNS, times.StopNS); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
	}
}

// ledgerPatience is how long a window may still be open when it is asked for.
const ledgerPatience = 10 * time.Second

func (c control) ledger(w http.ResponseWriter, r *http.Request) {
	from, errFrom := strconv.ParseInt(r.FormValue("from"), 10, 64)
	to, errTo := strconv.ParseInt(r.FormValue("to"), 10, 64)
	if errFrom != nil || errTo != nil || to <= from {
		http.Error(w, "want ?from=NS&to=NS in CLOCK_MONOTONIC, from before to", http.StatusBadRequest)
		return
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	until := time.After(ledgerPatience)
	for waiting := true; waiting && !c.schedule.Complete(to); {
		select {
		case <-look.C:
		case <-until:
			waiting = false
		case <-r.Context().Done():
			return
		}
	}
	window, err := c.schedule.Window(from, to, len(c.market.names))
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	l := measure.Ledger{Version: "peer", Epoch: c.market.hub.Epoch(), BootID: feed.BootID(), FromNS: from, ToNS: to,
		Complete: window.Complete, Ended: window.Ended, Scheduled: window.Scheduled, Unpublished: window.Unpublished,
		PublishLag: measure.LagOf(window.LagNS),
		Totals:     map[string]int64{measure.Dropped: c.market.dropped.Load()}}
	for i, s := range window.Symbols {
		if s.Scheduled > 0 {
			l.Symbols = append(l.Symbols, measure.SymbolDue{Symbol: c.market.names[i], Scheduled: s.Scheduled,
				Unpublished: s.Unpublished, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(l) // who asked may be gone
}

func serveDebug(ctx context.Context, ln net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
