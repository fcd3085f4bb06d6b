package report

import (
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// WriteHLog writes runs as an HdrHistogram interval log, version 1.3: an interval
// each, tagged with its cell, values in ns, the largest of an interval in ms.
func WriteHLog(w io.Writer, runs ...Latencies) error {
	var base time.Time
	starts := make([]time.Time, len(runs))
	for i, l := range runs {
		at, err := time.Parse(time.RFC3339, l.Started)
		if err != nil {
			return fmt.Errorf("write interval log: the start of %s: %w", l.Name, err)
		}
		if starts[i] = at; i == 0 || at.Before(base) {
			base = at
		}
	}
	base = base.Truncate(time.Second) // the library writes whole ones
	log := hdrhistogram.NewHistogramLogWriter(w)
	log.SetBaseTime(base.UnixMilli())
	for _, head := range []func() error{
		func() error {
			return log.OutputComment("[tickgauge: latencies in ns, an interval is the window of a run]")
		},
		log.OutputLogFormatVersion,
		func() error { return log.OutputStartTime(base.UnixMilli()) },
		func() error { return log.OutputBaseTime(base.UnixMilli()) },
		log.OutputLegend,
	} {
		if err := head(); err != nil {
			return fmt.Errorf("write interval log: %w", err)
		}
	}
	for i, l := range runs {
		h := l.Histogram
		h.SetTag(plainName(l.Cell))
		h.SetStartTimeMs(starts[i].UnixMilli())
		h.SetEndTimeMs(starts[i].Add(time.Duration(l.DurationNS)).UnixMilli())
		if err := log.OutputIntervalHistogram(h); err != nil {
			return fmt.Errorf("write interval log: %s: %w", l.Name, err)
		}
	}
	return nil
}
