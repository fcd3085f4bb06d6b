package measure

// Run is one repetition of a cell as results.json has it, schema
// tickgauge.results/v2: times in ns, sizes in bytes. A nil figure was not
// measured. docs/results.md explains each.
type Run struct {
	Round      int      `json:"round"`   // of the comparison, from 1; 0: of none
	Started    string   `json:"started"` // the window, RFC 3339; empty in a v1 file
	Valid      bool     `json:"valid"`
	Saturated  bool     `json:"saturated"`
	Reasons    []string `json:"reasons"` // why not valid, or saturated
	DurationNS int64    `json:"duration_ns"`

	Due        int64 `json:"due"`
	Received   int64 `json:"received"`
	Conflated  int64 `json:"conflated"`
	Dropped    int64 `json:"dropped"`
	Missed     int64 `json:"missed"`
	Duplicated int64 `json:"duplicated"`
	Reordered  int64 `json:"reordered"`

	Latency              *Quantiles `json:"latency_ns"`
	LatencyHDR           string     `json:"latency_hdr"` // the whole of it, as Histogram.Encode gives it; empty where there is none
	LatencyWithConflated *Quantiles `json:"latency_with_conflated_ns"`
	DecodedLatency       *Quantiles `json:"decoded_latency_ns"`
	PublishLag           *Quantiles `json:"publish_lag_ns"`
	FleetLag             *Quantiles `json:"fleet_lag_ns"`
	Connect              *Quantiles `json:"connect_ns"`
	FirstTick            *Quantiles `json:"first_tick_ns"`
	OpenAllNS            int64      `json:"open_all_ns"`

	NegativeLatencies int64 `json:"negative_latencies"`
	MostNegative      int64 `json:"most_negative_latency_ns"` // 0 where none is negative

	Server               *Cost    `json:"server"`
	Fleet                *Cost    `json:"fleet"`
	WireBytesPerDelivery *float64 `json:"wire_bytes_per_delivery"`

	Fairness *Fairness `json:"fairness"`

	Stamp         string `json:"stamp"` // where the receive stamp is taken
	StreamsBroken int    `json:"streams_broken"`
	Problems      int64  `json:"problems"`
	Interrupted   bool   `json:"interrupted"`

	Schedule *Schedule `json:"-"` // of the exchange, where it was asked; goes into the cell
}

// Cost is what a process used in the window.
type Cost struct {
	CPUNSPerDelivery  *int64 `json:"cpu_ns_per_delivery"`
	RSSBytes          int64  `json:"rss_bytes"`
	RSSBytesPerStream int64  `json:"rss_bytes_per_stream"` // growth since before the first stream
}

// CostOf divides what a process used by the deliveries and streams it served.
func CostOf(p Process, deliveries int64, streams int) *Cost {
	c := &Cost{RSSBytes: p.RSSBytes, RSSBytesPerStream: max(p.RSSBytes-p.RSSBaselineBytes, 0) / int64(max(streams, 1))}
	if deliveries > 0 {
		ns := (p.CPUUserNS + p.CPUSystemNS) / deliveries
		c.CPUNSPerDelivery = &ns
	}
	return c
}

// Fill takes the figures of a closed account.
func (r *Run) Fill(d *Deliveries) {
	r.Due, r.Received, r.Conflated, r.Dropped = d.Due, d.Received, d.Conflated, d.Dropped
	r.Missed, r.Duplicated, r.Reordered, r.Problems = d.Missed, d.Duplicated, d.Reordered, d.Problems
	r.PublishLag = d.PublishLag.Quantiles()
	r.Fairness = d.Fairness
	r.Connect, r.FirstTick = d.Connect.Quantiles(), d.FirstTick.Quantiles()
	if d.ForeignClock > 0 {
		return // stamps of two clocks make no latency
	}
	r.Latency, r.LatencyWithConflated = d.Latency.Quantiles(), d.WithConflated.Quantiles()
	r.LatencyHDR = d.Latency.Encode()
	r.DecodedLatency = d.Decoded.Quantiles()
	r.NegativeLatencies, r.MostNegative = d.Latency.Negative()
}

// FillCosts takes what the fleet's process used in the window and, where the
// exchange was asked, what its ledger says.
func (r *Run) FillCosts(fleet Process, l *Ledger, streams int) {
	r.Fleet = CostOf(fleet, r.Received, streams)
	if l == nil {
		return
	}
	// By what the exchange itself wrote, which may be to others too.
	served, ok := l.Counters[TicksWritten]
	if !ok {
		served = r.Received
	}
	r.Server = CostOf(l.Process, served, max(streams, int(l.Totals[StreamsOpen])))
	if served > 0 {
		bytes := float64(l.Counters[WrittenBytes]) / float64(served)
		r.WireBytesPerDelivery = &bytes
	}
}
