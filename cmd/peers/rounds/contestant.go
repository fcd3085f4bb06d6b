// Package rounds measures an exchange and its peers, each as a server process and
// a reader process, in interleaved rounds, and sets the figures beside each other.
package rounds

import (
	"fmt"
	"strings"

	"github.com/tickgauge/tickgauge/cmd/peers/serve"
)

// Class is how streams sit on connections: figures compare within it.
type Class string

// The classes, with the contestant that is the floor of each.
const (
	Own    Class = "own"    // a connection for each stream
	Shared Class = "shared" // 100 connections
	Few    Class = "few"    // 10 connections
)

// Contestant is one thing that is measured.
type Contestant struct {
	Name     string
	Server   string // "exchange", or the name of a peer
	Protocol string // of the reader
	Class    Class
	Floor    bool
	Main     bool // in the main set; FULL has all
}

const exchange = "exchange"

// IsExchange reports whether it is the exchange's own.
func (c Contestant) IsExchange() bool { return c.Server == exchange }

// Connections returns on how many connections streams sit.
func (c Contestant) Connections(streams int) int {
	switch c.Class {
	case Shared:
		return min(100, streams)
	case Few:
		return min(10, streams)
	}
	return streams
}

// Contestants returns all of them, those of a class together, floors first.
func Contestants() []Contestant {
	own := []Contestant{
		{Name: "floor", Server: "floor", Protocol: "floor", Floor: true, Main: true},
		{Name: "http2-floor", Server: "http2-floor", Protocol: "grpc", Main: true},
		{Name: "exchange-ws", Server: exchange, Protocol: "ws", Main: true},
		{Name: "exchange-sse", Server: exchange, Protocol: "sse", Main: true},
		{Name: "exchange-grpc", Server: exchange, Protocol: "grpc", Main: true},
		{Name: "ws-coder", Server: "ws-coder", Protocol: "ws", Main: true},
		{Name: "ws-gorilla", Server: "ws-gorilla", Protocol: "ws"},
		{Name: "ws-gws", Server: "ws-gws", Protocol: "ws"},
		{Name: "ws-nbio", Server: "ws-nbio", Protocol: "ws"},
		{Name: "sse-nethttp", Server: "sse-nethttp", Protocol: "sse", Main: true},
		{Name: "sse-r3labs", Server: "sse-r3labs", Protocol: "sse"},
		{Name: "grpc-naive", Server: "grpc-naive", Protocol: "grpc", Main: true},
		{Name: "centrifuge", Server: "centrifuge", Protocol: "centrifuge", Main: true},
		{Name: "nats", Server: "nats", Protocol: "nats", Main: true},
		{Name: "nats-ws", Server: "nats-ws", Protocol: "nats-ws"},
	}
	shared := []Contestant{
		{Name: "floor", Server: "floor-shared", Protocol: "floor-shared", Floor: true, Main: true},
		{Name: "http2-floor", Server: "http2-floor", Protocol: "grpc", Main: true},
		{Name: "exchange-grpc", Server: exchange, Protocol: "grpc", Main: true},
		{Name: "exchange-sse-h2c", Server: exchange, Protocol: "sse-h2c", Main: true},
		{Name: "grpc-naive", Server: "grpc-naive", Protocol: "grpc", Main: true},
		{Name: "sse-nethttp-h2c", Server: "sse-nethttp", Protocol: "sse-h2c", Main: true},
	}
	var out []Contestant
	for _, c := range own {
		c.Class = Own
		out = append(out, c)
	}
	for _, c := range shared {
		c.Class = Shared
		c.Name += "-100"
		out = append(out, c)
	}
	for _, c := range shared {
		c.Class, c.Main = Few, false
		c.Name += "-10"
		out = append(out, c)
	}
	return out
}

// Choose returns the main set, all where full, or those that are named.
func Choose(names []string, full bool) ([]Contestant, error) {
	var out []Contestant
	var all []string
	for _, c := range Contestants() {
		all = append(all, c.Name)
		if len(names) == 0 && (c.Main || full) {
			out = append(out, c)
		}
	}
	for _, name := range names {
		found := false
		for _, c := range Contestants() {
			if c.Name == name {
				out, found = append(out, c), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no contestant is called %q; there are %s", name, strings.Join(all, ", "))
		}
	}
	for _, c := range out {
		if c.IsExchange() {
			continue
		}
		if _, err := serve.Find(c.Server); err != nil {
			return nil, err
		}
	}
	return out, nil
}
