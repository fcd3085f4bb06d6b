package report

import (
	"fmt"
	"strings"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// cellNames are what the cells go by, in their order: no two that differ have the
// same.
func cellNames(r *Results) []string {
	cells := make([]plan.Cell, len(r.Cells))
	for i, c := range r.Cells {
		cells[i] = c.Cell
	}
	return plan.Labels(cells)
}

// orderName says which run of orders it is among others of one comparison.
func orderName(o *measure.Orders) string {
	name := orderPath(o) + ", " + load(o)
	if o.StreamsBeside > 0 {
		name += " beside " + beside(o)
	}
	return name
}

// orderKey is what runs of orders that may be compared have in common.
type orderKey struct {
	path, httpVersion, encoding       string
	tls                               bool
	compression                       string
	workers, connections, payloadSize int
	rate                              float64
	streamsBeside                     int
	streamsTransport                  string
}

func keyOf(o *measure.Orders) orderKey {
	return orderKey{
		path: o.Path, httpVersion: o.HTTPVersion, encoding: o.Encoding, tls: o.TLS, compression: o.Compression,
		workers: o.Workers, connections: o.Connections, payloadSize: o.PayloadBytes,
		rate: o.Rate, streamsBeside: o.StreamsBeside, streamsTransport: o.StreamsTransport,
	}
}

// numbered is name, and which of several runs it is, from 1.
func numbered(name string, n, of int) string {
	if of > 1 {
		return fmt.Sprintf("%s #%d", name, n)
	}
	return name
}

// plainName is a name without what a file or a tag cannot have: of the rest, each
// stretch becomes a dash.
func plainName(name string) string {
	var b strings.Builder
	dash := false
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '+', c == '_':
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(c)
		default:
			dash = true
		}
	}
	return b.String()
}
