package fleet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// control serves the debug address of the venue.
func (v *venue) control(t *testing.T) *Control {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /debug/run", func(w http.ResponseWriter, r *http.Request) {
		var times struct {
			Start int64 `json:"start_ns"`
			Stop  int64 `json:"stop_ns"`
		}
		if err := json.NewDecoder(r.Body).Decode(&times); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if !v.run(times.Start, times.Stop) {
			http.Error(w, "the source runs already", http.StatusConflict)
		}
	})
	mux.HandleFunc("GET /debug/ledger", func(w http.ResponseWriter, r *http.Request) {
		var from, to int64
		if _, err := fmt.Sscanf(r.URL.RawQuery, "from=%d&to=%d", &from, &to); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if v.ledger != nil {
			if err := v.ledger(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		_ = json.NewEncoder(w).Encode(v.account(from, to))
		v.answered.Store(true)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := NewControl(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// account is the ledger of a window, once nothing is to come in it.
func (v *venue) account(from, to int64) *measure.Ledger {
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.next < to {
		v.advanced.Wait()
	}
	l := &measure.Ledger{Complete: true, Counters: map[string]int64{measure.WrittenBytes: 1 << 20},
		Process: measure.Process{CPUUserNS: 1 << 30, RSSBytes: 1 << 20}}
	for _, symbol := range v.symbols {
		due := measure.SymbolDue{Symbol: symbol}
		for _, t := range v.schedule {
			if t.Symbol != symbol || t.DueNS < from || t.DueNS >= to {
				continue
			}
			if due.Scheduled++; due.FirstSeq == 0 {
				due.FirstSeq = t.Seq
			}
			due.LastSeq = t.Seq
		}
		l.Scheduled += due.Scheduled
		if due.Scheduled > 0 {
			l.Symbols = append(l.Symbols, due)
		}
	}
	return l
}
