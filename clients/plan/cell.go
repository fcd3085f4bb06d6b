// Package plan says what a comparison measures: the cells of its matrix.
package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Cell is one point of the matrix, as results.json has it.
type Cell struct {
	Transport   string  `json:"transport"`    // grpc, websocket or sse
	HTTPVersion string  `json:"http_version"` // 1.1 or 2
	Encoding    string  `json:"encoding"`     // protobuf or json
	Streams     int     `json:"streams"`
	Connections int     `json:"connections"`
	Symbols     int     `json:"symbols"`
	Rate        float64 `json:"rate"` // ticks/s over all symbols; 0: the capture's own
	Arrivals    string  `json:"arrivals"`
	Policy      string  `json:"policy"`
	TLS         bool    `json:"tls"`

	SymbolsPerStream int `json:"symbols_per_stream"`

	Source       string  `json:"source"`        // synth, or a capture's path
	Zipf         float64 `json:"zipf"`          // skew of synthetic ticks over symbols; 0: uniform
	Compression  string  `json:"compression"`   // gzip or deflate; empty: none
	PayloadBytes int     `json:"payload_bytes"` // ticks are padded to about so many; 0: not

	OrderPath    string  `json:"order_path"`    // of the orders beside, of PathNames; empty: none, or several in turn
	OrdersBeside float64 `json:"orders_beside"` // orders/s that were executed beside the streams; 0: none
}

// Name says which cell it is among others of one comparison: how it is carried, with
// TLS and compression where it has them, and what goes beside.
func (c Cell) Name() string {
	if c.OrdersBeside > 0 {
		orders := " +orders"
		if c.OrderPath != "" {
			orders = " +" + c.OrderPath
		}
		c.OrdersBeside = 0
		return c.Name() + orders
	}
	name := c.carrier()
	if c.TLS {
		name += " tls"
	}
	if c.compression() != "none" {
		name += " " + c.Compression
	}
	return name
}

func (c Cell) carrier() string {
	switch {
	case c.Transport == "sse" && c.HTTPVersion == "2" && c.TLS:
		return fmt.Sprintf("sse h2/%d", c.Connections)
	case c.Transport == "sse" && c.HTTPVersion == "2":
		return fmt.Sprintf("sse h2c/%d", c.Connections)
	case c.Transport == "sse":
		return "sse h1"
	case c.Connections != c.Streams:
		return fmt.Sprintf("%s/%d", c.Transport, c.Connections)
	case c.Transport == "grpc":
		return "grpc own"
	}
	return c.Transport
}

// SharedConnections is how many connections the cells that share them use.
const SharedConnections = 100

// choices are the cells of the default comparison by the names that select them.
var choices = []struct {
	name, transport, version string
	shared                   bool
}{
	{"grpc", "grpc", "2", true},
	{"grpc-own", "grpc", "2", false},
	{"websocket", "websocket", "1.1", false},
	{"sse", "sse", "1.1", false},
	{"sse-h2c", "sse", "2", true},
}

// Names lists the cells that Default knows.
func Names() []string {
	var names []string
	for _, c := range choices {
		names = append(names, c.name)
	}
	return names
}

// Default returns the cells of the default comparison that are named, all where
// none is, in the given order; base has what they have in common. Connections in
// base, where not 0, replaces SharedConnections. An unknown name is an error.
func Default(names []string, base Cell) ([]Cell, error) {
	if len(names) == 0 {
		names = Names()
	}
	shared := base.Connections
	switch {
	case shared == 0:
		shared = max(1, min(SharedConnections, base.Streams/2))
	case shared >= base.Streams:
		return nil, fmt.Errorf("%d streams cannot share %d connections; ask for fewer connections than streams", base.Streams, shared)
	}
	var cells []Cell
	for n, name := range names {
		i := slices.Index(Names(), name)
		if i < 0 {
			return nil, fmt.Errorf("unknown cell %q; choose from %s", name, strings.Join(Names(), ", "))
		}
		if slices.Index(names, name) != n {
			return nil, fmt.Errorf("cell %q is named twice", name)
		}
		c := base
		c.Transport, c.HTTPVersion, c.Connections = choices[i].transport, choices[i].version, base.Streams
		if choices[i].shared {
			c.Connections = shared
		}
		cells = append(cells, c)
	}
	return cells, nil
}
