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

	PayloadBytesPerDelivery *float64 `json:"payload_bytes_per_delivery"` // the ticks as encoded
	FramingBytesPerDelivery *float64 `json:"framing_bytes_per_delivery"` // the rest of them
	TCP                     *TCP     `json:"tcp"`

	Fairness *Fairness `json:"fairness"`

	Stamp         string `json:"stamp"` // where the receive stamp is taken
	StreamsBroken int    `json:"streams_broken"`
	Problems      int64  `json:"problems"`
	Interrupted   bool   `json:"interrupted"`

	Injected *Injected `json:"injected"` // what the exchange did wrong on purpose; nil: nothing

	Schedule *Schedule `json:"-"` // of the exchange, where it was asked; goes into the cell
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
