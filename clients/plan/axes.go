package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// axis is one thing in which cells can differ: a key of a plan's base, cells, axes
// and vary.
type axis struct {
	name   string
	about  string
	schema map[string]any // of its value, in JSON Schema
	set    func(c *Cell, value string) error
	get    func(c *Cell) string
}

// axisList are all axes in the order in which they are set and shown. Connections
// come after streams, and the HTTP version after the transport, which give their
// defaults.
var axisList = []axis{
	{"transport", "How ticks are streamed.", oneOf(transportNames()...), func(c *Cell, v string) error {
		c.Transport = v
		if c.HTTPVersion == "" {
			c.HTTPVersion = defaultVersion(v)
		}
		return nil
	}, func(c *Cell) string { return c.Transport }},
	text("http_version", "2 for grpc, 1.1 for websocket, either for sse.", map[string]any{"enum": []any{"1.1", "2", 1.1, 2}}, func(c *Cell) *string { return &c.HTTPVersion }),
	text("encoding", "Of ticks and messages.", oneOf(encodings...), func(c *Cell) *string { return &c.Encoding }),
	whole("streams", "Streams of the fleet.", 1, func(c *Cell) *int { return &c.Streams }),
	{
		"connections", "How many the streams share, or own for one each.",
		map[string]any{"anyOf": []any{map[string]any{"type": "integer", "minimum": 1}, map[string]any{"const": ownConnections}}},
		setConnections, func(c *Cell) string {
			if c.Connections == c.Streams {
				return ownConnections
			}
			return strconv.Itoa(c.Connections)
		},
	},
	whole("symbols", "Synthetic symbols.", 1, func(c *Cell) *int { return &c.Symbols }),
	whole("symbols_per_stream", "Symbols that each stream takes.", 1, func(c *Cell) *int { return &c.SymbolsPerStream }),
	number("rate", "Ticks per second over all symbols; a capture has its own.", func(c *Cell) *float64 { return &c.Rate }),
	text("arrivals", "How synthetic ticks are spaced.", oneOf(arrivals...), func(c *Cell) *string { return &c.Arrivals }),
	number("zipf", "Skew of synthetic ticks over symbols; 0 is uniform.", func(c *Cell) *float64 { return &c.Zipf }),
	text("source", "synth, or the file of a capture, which is looped.", map[string]any{"type": "string"}, func(c *Cell) *string { return &c.Source }),
	text("policy", "What the exchange does when a stream's queue is full.", oneOf(policies...), func(c *Cell) *string { return &c.Policy }),
	whole("payload_bytes", "Ticks are padded to about so many bytes; 0: not.", 0, func(c *Cell) *int { return &c.PayloadBytes }),
	{"tls", "self is a certificate made in memory.", map[string]any{"enum": []any{"none", "self", true, false}}, setTLS, func(c *Cell) string {
		if c.TLS {
			return "self"
		}
		return "none"
	}},
	{"compression", "gzip for grpc and sse, deflate for websocket.", oneOf(compressions...), func(c *Cell, v string) error {
		if v == "none" {
			v = ""
		}
		c.Compression = v
		return nil
	}, func(c *Cell) string { return c.compression() }},
	text("order_path", "Path of the orders that are executed beside the streams.", oneOf(PathNames()...), func(c *Cell) *string { return &c.OrderPath }),
	number("orders_beside", "Orders per second beside the streams.", func(c *Cell) *float64 { return &c.OrdersBeside }),
}

func setTLS(c *Cell, v string) error {
	switch v {
	case "self", "true":
		c.TLS = true
	case "none", "false":
		c.TLS = false
	default:
		return fmt.Errorf("tls %q, want self (a certificate made in memory) or none", v)
	}
	return nil
}

func oneOf(values ...string) map[string]any { return map[string]any{"enum": values} }

// ownConnections says that each stream has a connection of its own.
const ownConnections = "own"

func setConnections(c *Cell, v string) error {
	if v == ownConnections {
		c.Connections = c.Streams
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return fmt.Errorf("connections %q, want a number above 0, or own (one for each stream)", v)
	}
	c.Connections = n
	return nil
}

// AxisNames lists what cells can differ in, as plans call it.
func AxisNames() []string {
	names := make([]string, len(axisList))
	for i, a := range axisList {
		names[i] = a.name
	}
	return names
}

func text(name, about string, schema map[string]any, of func(*Cell) *string) axis {
	return axis{name, about, schema, func(c *Cell, v string) error { *of(c) = v; return nil }, func(c *Cell) string { return *of(c) }}
}

func whole(name, about string, least int, of func(*Cell) *int) axis {
	return axis{name, about, map[string]any{"type": "integer", "minimum": least}, func(c *Cell, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("%s %q, want a whole number", name, v)
		}
		*of(c) = n
		return nil
	}, func(c *Cell) string { return strconv.Itoa(*of(c)) }}
}

func number(name, about string, of func(*Cell) *float64) axis {
	return axis{name, about, map[string]any{"type": "number", "minimum": 0}, func(c *Cell, v string) error {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s %q, want a number", name, v)
		}
		*of(c) = x
		return nil
	}, func(c *Cell) string { return strconv.FormatFloat(*of(c), 'g', -1, 64) }}
}

// Labels names each of the cells of one comparison: as Name does, and in what else
// it differs from the first.
func Labels(cells []Cell) []string {
	labels := make([]string, len(cells))
	for i := range cells {
		labels[i] = cells[i].Name()
		for _, a := range axisList {
			switch a.name {
			case "transport", "http_version", "connections", "tls", "compression", "order_path", "orders_beside":
				continue // the name has them
			}
			if mine := a.get(&cells[i]); mine != a.get(&cells[0]) {
				labels[i] += " " + short(a.name, mine)
			}
		}
	}
	return labels
}

// short is an axis's value as a label has it.
func short(name, value string) string {
	switch name {
	case "encoding", "arrivals", "policy":
		return value
	}
	return strings.ReplaceAll(name, "_", " ") + " " + value
}
