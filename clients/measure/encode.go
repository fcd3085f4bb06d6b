package measure

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tickgauge/tickgauge/feed"
)

// Encode returns every recorded value in base64 of HdrHistogram's V2 compressed
// encoding, which its readers in all languages take; empty where nothing was
// recorded. Values that the histogram refused are not in it.
func (h *Histogram) Encode() string {
	if h.Count() == 0 {
		return ""
	}
	// It writes to memory alone, so an error is a fault of the program.
	b, err := h.hdr.EncodeV2()
	if err != nil {
		panic(fmt.Sprintf("encode a histogram: %v", err))
	}
	return string(b)
}

// DecodeHistogram returns the histogram in ns that Encode wrote. An empty text,
// which stands for no histogram, is an error as damage is.
func DecodeHistogram(encoded string) (*hdrhistogram.Histogram, error) {
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		return nil, fmt.Errorf("decode a histogram: %w", err)
	}
	return h, nil
}

// Started is the wall clock at a time in CLOCK_MONOTONIC of this boot, as a run
// has it: RFC 3339 in UTC. The start of a window that was never set is empty.
func Started(ns int64) string {
	if ns == 0 {
		return ""
	}
	return time.Unix(0, feed.WallOffset()+ns).UTC().Format(time.RFC3339Nano)
}
