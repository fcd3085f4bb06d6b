package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	encodings    = []string{"protobuf", "json"}
	policies     = []string{"conflate", "drop-oldest", "disconnect"}
	arrivals     = []string{"steady", "poisson", "bursty"}
	compressions = []string{"none", "gzip", "deflate"}
)

// served is a pair of transport and HTTP version that the exchange serves.
type served struct {
	transport, version string
	shares             bool     // streams may share a connection
	compressions       []string // beside none
}

var servedPairs = []served{
	{"grpc", "2", true, []string{"gzip"}},
	{"websocket", "1.1", false, []string{"deflate"}},
	{"sse", "1.1", false, []string{"gzip"}},
	{"sse", "2", true, []string{"gzip"}},
}

func transportNames() []string { return []string{"grpc", "websocket", "sse"} }

// defaultVersion is the HTTP version of a transport where none is named.
func defaultVersion(transport string) string {
	if transport == "grpc" {
		return "2"
	}
	return "1.1"
}

// Validate says what of the cell cannot be measured, and what can.
func (c Cell) Validate() error {
	i := slices.IndexFunc(servedPairs, func(s served) bool { return s.transport == c.Transport && s.version == c.HTTPVersion })
	if i < 0 {
		return c.notServed()
	}
	s := servedPairs[i]
	switch {
	case !slices.Contains(encodings, c.Encoding):
		return fmt.Errorf("encoding %q, want one of %s", c.Encoding, strings.Join(encodings, ", "))
	case c.Streams < 1:
		return fmt.Errorf("streams: %d, want 1 or more", c.Streams)
	case c.Connections < 1 || c.Connections > c.Streams:
		return fmt.Errorf("connections: %d for %d streams, want 1 to %d, or own", c.Connections, c.Streams, c.Streams)
	case !s.shares && c.Connections != c.Streams:
		return fmt.Errorf("connections: %d for %d streams, but over %s with HTTP/%s every stream has a connection of its own; say own", c.Connections, c.Streams, s.transport, s.version)
	case c.compression() != "none" && !slices.Contains(s.compressions, c.Compression):
		return fmt.Errorf("compression %q on %s; it has none and %s", c.Compression, c.Transport, strings.Join(s.compressions, ", "))
	case c.PayloadBytes < 0 || c.PayloadBytes > maxPayload:
		return fmt.Errorf("payload_bytes: %d, want 0 to %d", c.PayloadBytes, maxPayload)
	case !slices.Contains(policies, c.Policy):
		return fmt.Errorf("policy %q, want one of %s", c.Policy, strings.Join(policies, ", "))
	}
	return errors.Join(c.validateSource(), c.validateOrders())
}

const maxPayload = 1 << 16

// CaptureArrivals are the arrivals of a cell whose source is a capture.
const CaptureArrivals = "capture"

func (c Cell) compression() string {
	if c.Compression == "" {
		return "none"
	}
	return c.Compression
}

func (c Cell) notServed() error {
	var versions []string
	for _, s := range servedPairs {
		if s.transport == c.Transport {
			versions = append(versions, "HTTP/"+s.version)
		}
	}
	if versions == nil {
		return fmt.Errorf("transport %q, want one of %s", c.Transport, strings.Join(transportNames(), ", "))
	}
	return fmt.Errorf("http_version %q: %s is served over %s", c.HTTPVersion, c.Transport, strings.Join(versions, " and "))
}

func (c Cell) validateSource() error {
	switch {
	case c.Source == "":
		return errors.New("source: want synth or the file of a capture")
	case c.Source != "synth" && (c.Arrivals != CaptureArrivals || c.Zipf != 0):
		return fmt.Errorf("source %s: a capture has arrivals and skew of its own; leave arrivals and zipf out", c.Source)
	case !(c.Rate >= 0 && c.Rate <= 1e7) || c.Rate == 0 && c.Source == "synth":
		return fmt.Errorf("rate: %g, want ticks per second over all symbols, above 0, to 1e7", c.Rate)
	case c.SymbolsPerStream < 1:
		return fmt.Errorf("symbols_per_stream: %d, want 1 or more", c.SymbolsPerStream)
	case c.Source != "synth":
		return nil
	case c.Symbols < 1 || c.Symbols > 100_000:
		return fmt.Errorf("symbols: %d, want 1 to 100000", c.Symbols)
	case c.SymbolsPerStream > c.Symbols:
		return fmt.Errorf("symbols_per_stream: %d, but there are %d symbols", c.SymbolsPerStream, c.Symbols)
	case !slices.Contains(arrivals, c.Arrivals):
		return fmt.Errorf("arrivals %q, want one of %s", c.Arrivals, strings.Join(arrivals, ", "))
	case !(c.Zipf == 0 || c.Zipf > 0 && c.Zipf <= 10):
		return fmt.Errorf("zipf: %g, want 0 (uniform) to 10", c.Zipf)
	}
	return nil
}

func (c Cell) validateOrders() error {
	switch {
	case (c.OrderPath == "") != (c.OrdersBeside == 0):
		return errors.New("order_path and orders_beside (orders per second) go together; give both or none")
	case c.OrderPath != "" && !slices.Contains(PathNames(), c.OrderPath):
		return fmt.Errorf("order_path %q, want one of %s", c.OrderPath, strings.Join(PathNames(), ", "))
	case !(c.OrdersBeside >= 0 && c.OrdersBeside <= 1e7):
		return fmt.Errorf("orders_beside: %g, want orders per second, 0 to 1e7", c.OrdersBeside)
	}
	return nil
}
