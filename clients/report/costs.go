package report

import (
	"fmt"
	"strings"

	"github.com/tickgauge/tickgauge/clients/measure"
)

func firstToLast(of func(*measure.Quantiles) int64) func(*Cell, *measure.Run) string {
	return func(_ *Cell, r *measure.Run) string {
		if r.Fairness == nil || r.Fairness.Spread == nil {
			return "-"
		}
		return duration(of(&r.Fairness.Spread.Quantiles))
	}
}

// worstRank is the greatest mean rank of a stream, with the deviation that chance
// alone gives one.
func worstRank(_ *Cell, r *measure.Run) string {
	if r.Fairness == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f ±%.2f", r.Fairness.MeanRank.Max, r.Fairness.ChanceSD)
}

func systemCPU(_ *Cell, r *measure.Run) string {
	if r.Server == nil || r.Server.CPUSystemNSPerDelivery == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f µs", float64(*r.Server.CPUSystemNSPerDelivery)/1e3)
}

func gcShare(of func(*measure.Run) *measure.Cost) func(*Cell, *measure.Run) string {
	return func(_ *Cell, r *measure.Run) string {
		if c := of(r); c != nil && c.GC != nil {
			return fmt.Sprintf("%.1f%%", 100*c.GC.CPUShare)
		}
		return "-"
	}
}

func idleMemory(_ *Cell, r *measure.Run) string {
	if r.Server == nil || r.Server.IdleRSSBytesPerStream == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f KiB", float64(*r.Server.IdleRSSBytesPerStream)/(1<<10))
}

func framingBytes(_ *Cell, r *measure.Run) string {
	if r.FramingBytesPerDelivery == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *r.FramingBytesPerDelivery)
}

func segments(_ *Cell, r *measure.Run) string {
	if r.TCP == nil || r.TCP.SegmentsPerDelivery == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *r.TCP.SegmentsPerDelivery)
}

// codecNote says what the codec itself takes, where it was measured.
func codecNote(r *Results) string {
	if len(r.Codec) == 0 {
		return ""
	}
	var each []string
	for _, c := range r.Codec {
		each = append(each, fmt.Sprintf("%s %s to encode, %s to decode, %.0f bytes", c.Encoding, duration(c.EncodeNS), duration(c.DecodeNS), c.Bytes))
	}
	return "one tick in a loop: " + strings.Join(each, "; ")
}
