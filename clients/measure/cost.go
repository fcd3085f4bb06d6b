package measure

// Cost is what a process used in the window, as results.json has it. nil is not
// measured. Where it is the exchange's, deliveries are the ticks that it wrote.
type Cost struct {
	CPUNSPerDelivery       *int64 `json:"cpu_ns_per_delivery"` // user and system
	CPUUserNSPerDelivery   *int64 `json:"cpu_user_ns_per_delivery"`
	CPUSystemNSPerDelivery *int64 `json:"cpu_system_ns_per_delivery"`

	RSSBytes          int64 `json:"rss_bytes"`
	RSSBytesPerStream int64 `json:"rss_bytes_per_stream"` // growth since before the first stream
	// The others too are growth since then. Idle is when all streams were open and
	// nothing was published yet; it needs a source that waited for it.
	HeapBytesPerStream     *int64 `json:"heap_bytes_per_stream"`
	IdleRSSBytesPerStream  *int64 `json:"idle_rss_bytes_per_stream"`
	IdleHeapBytesPerStream *int64 `json:"idle_heap_bytes_per_stream"`

	Goroutines          *int64 `json:"goroutines"` // at the end of the window
	VoluntarySwitches   *int64 `json:"voluntary_switches"`
	InvoluntarySwitches *int64 `json:"involuntary_switches"`
	GC                  *GC    `json:"gc"`
}

// CostOf divides what a process used by the deliveries and streams it served.
func CostOf(p Process, deliveries int64, streams int) *Cost {
	grown := func(now, before int64) int64 { return max(now-before, 0) / int64(max(streams, 1)) }
	c := &Cost{RSSBytes: p.RSSBytes, RSSBytesPerStream: grown(p.RSSBytes, p.RSSBaselineBytes)}
	if deliveries > 0 {
		c.CPUNSPerDelivery = new((p.CPUUserNS + p.CPUSystemNS) / deliveries)
		c.CPUUserNSPerDelivery = new(p.CPUUserNS / deliveries)
		c.CPUSystemNSPerDelivery = new(p.CPUSystemNS / deliveries)
	}
	if p.GC == nil {
		return c // of a ledger that has no more
	}
	c.GC, c.Goroutines = p.GC, new(int64(p.Goroutines))
	c.VoluntarySwitches, c.InvoluntarySwitches = &p.VoluntarySwitches, &p.InvoluntarySwitches
	c.HeapBytesPerStream = new(grown(p.HeapBytes, p.HeapBaselineBytes))
	if p.Idle != nil {
		c.IdleRSSBytesPerStream = new(grown(p.Idle.RSSBytes, p.RSSBaselineBytes))
		c.IdleHeapBytesPerStream = new(grown(p.Idle.HeapBytes, p.HeapBaselineBytes))
	}
	return c
}

// DropSharedCosts takes out of the run what deliveries did not cause alone, where the
// exchange did other work beside them in the window. What they cost is then not
// known.
func (r *Run) DropSharedCosts() {
	r.WireBytesPerDelivery, r.PayloadBytesPerDelivery, r.FramingBytesPerDelivery, r.TCP = nil, nil, nil, nil
	if r.Server == nil {
		return
	}
	r.Server = &Cost{RSSBytes: r.Server.RSSBytes, Goroutines: r.Server.Goroutines, GC: r.Server.GC,
		VoluntarySwitches: r.Server.VoluntarySwitches, InvoluntarySwitches: r.Server.InvoluntarySwitches}
}

// TCP is what the exchange's stream sockets sent, from the kernel's TCP_INFO, from
// the start of the source to the reading of the ledger: the warm-up and the wait for
// late ticks are in it, for 10,000 sockets cannot be read in an instant. tcp(7) and
// linux/tcp.h name the fields: tcpi_segs_out, tcpi_data_segs_out,
// tcpi_total_retrans.
type TCP struct {
	Segments     int64 `json:"segments"`      // bare acknowledgements too
	DataSegments int64 `json:"data_segments"` // of them, those that carried data
	Retransmits  int64 `json:"retransmits"`
	Deliveries   int64 `json:"deliveries"` // ticks written meanwhile
	// SegmentsPerDelivery is below 1 where ticks share a segment; nil without any.
	SegmentsPerDelivery *float64 `json:"segments_per_delivery"`
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
	r.TCP = l.TCP
	if served > 0 {
		each := func(bytes int64) *float64 { return new(float64(bytes) / float64(served)) }
		written := l.Counters[WrittenBytes]
		r.WireBytesPerDelivery = each(written)
		if payload, ok := l.Counters[PayloadBytes]; ok {
			r.PayloadBytesPerDelivery, r.FramingBytesPerDelivery = each(payload), each(written-payload)
		}
	}
}
