package measure

// Ledger is the exchange's own account of a window, as GET /debug/ledger gives
// it. Times are CLOCK_MONOTONIC.
type Ledger struct {
	Version string `json:"version"`
	Epoch   string `json:"epoch"`
	BootID  string `json:"boot_id"`
	FromNS  int64  `json:"from_ns"`
	ToNS    int64  `json:"to_ns"`
	// Complete says that no update due in the window is still to be published.
	Complete    bool        `json:"complete"`
	Ended       bool        `json:"ended"`       // the source ended before the window did
	Scheduled   int64       `json:"scheduled"`   // updates due in the window
	Unpublished int64       `json:"unpublished"` // of them, never published
	Symbols     []SymbolDue `json:"symbols"`     // those with updates due in the window
	PublishLag  *Lag        `json:"publish_lag"`
	Process     Process     `json:"process"`
	TCP         *TCP        `json:"tcp"` // nil: the source was not started by request, or not on Linux
	Schedule    Schedule    `json:"schedule"`
	// Injected is what the exchange did wrong on purpose, nil where it was not told to.
	Injected        *Injected        `json:"injected"`
	InjectedSymbols []InjectedSymbol `json:"injected_symbols,omitempty"` // those with faults
	// ServiceRealtime says that orders wait out their service time; otherwise they
	// only report it.
	ServiceRealtime bool `json:"service_realtime"`
	// Counters are sums over the window of what the exchange counts.
	Counters map[string]int64 `json:"counters"`
	// Totals are the same since the start.
	Totals map[string]int64 `json:"totals"`
}

// Schedule says what an exchange publishes.
type Schedule struct {
	Source   string  `json:"source"` // synth, or the capture's file name
	Seed     uint64  `json:"seed"`   // of synth
	Rate     float64 `json:"rate"`   // ticks/s over all symbols; 0: the capture's own
	Arrivals string  `json:"arrivals"`
	Zipf     float64 `json:"zipf"`

	PayloadBytes int `json:"payload_bytes"` // ticks are padded to about so many; 0: not
}

// SymbolDue is what was scheduled of a symbol in a window.
type SymbolDue struct {
	Symbol      string `json:"symbol"`
	Scheduled   int64  `json:"scheduled"`
	Unpublished int64  `json:"unpublished"` // of them, never published
	FirstSeq    uint64 `json:"first_seq"`
	LastSeq     uint64 `json:"last_seq"` // what an unpublished one would have had
}

// BySymbol indexes the symbols by name.
func (l *Ledger) BySymbol() map[string]SymbolDue {
	out := make(map[string]SymbolDue, len(l.Symbols))
	for _, s := range l.Symbols {
		out[s.Symbol] = s
	}
	return out
}

// Counter names of a Ledger.
const (
	WrittenBytes = "written_bytes"
	PayloadBytes = "payload_bytes" // of WrittenBytes, those of the encoded ticks themselves
	ReadBytes    = "read_bytes"
	TicksWritten = "ticks_written"
	WriteNS      = "write_ns" // sum over writes of ticks, from call to return
	Enqueued     = "enqueued"
	Conflated    = "conflated"
	Dropped      = "dropped"
	Disconnected = "disconnected"
	StreamsOpen  = "streams_open" // now, in Totals

	OrderRequests = "orders"         // requests that the desk was given
	ServiceCPU    = "service_cpu_ns" // of waiting out simulated service
)

// Lag is how late something that has a schedule was.
type Lag struct {
	Quantiles
	MeanByThird [3]int64 `json:"mean_by_third"` // thirds of the window
}

// LagOf summarises lags in ns in the order of their schedule, nil where there are
// none. In the quantiles what is early counts as 0, and five minutes are the most.
func LagOf(lags []int64) *Lag {
	if len(lags) == 0 {
		return nil
	}
	h := NewHistogram()
	var lag Lag
	var sum, count [3]int64
	for i, ns := range lags {
		h.Record(min(max(ns, 0), longestLatency))
		third := i * 3 / len(lags)
		sum[third] += ns
		count[third]++
	}
	for i := range sum {
		lag.MeanByThird[i] = sum[i] / max(count[i], 1)
	}
	lag.Quantiles = *h.Quantiles()
	return &lag
}

// rises says whether the last third is clearly later than what came before: the
// schedule is no longer kept.
func (l *Lag) rises() bool {
	return l != nil && rising(l.MeanByThird)
}

// rising compares the last third with the mean of the first two. What is below a
// millisecond is the noise of a scheduler.
func rising(third [3]int64) bool {
	const noise = 1_000_000
	before := (third[0] + third[1]) / 2
	return third[2] > noise && third[2] > 2*before
}
