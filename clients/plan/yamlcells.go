package plan

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// settings reads a map of axes with one value each.
func (r *reader) settings(n *yaml.Node, of string) settings {
	s := make(settings)
	for name, v := range r.mapping(n, of, AxisNames()) {
		s[name] = setting{r.scalar(v, name), v.Line}
	}
	return s
}

// list reads a map of axes with one value or several each.
func (r *reader) list(n *yaml.Node, of string) map[string][]setting {
	lists := make(map[string][]setting)
	for name, v := range r.mapping(n, of, AxisNames()) {
		values := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			values = v.Content
		}
		if len(values) == 0 {
			r.faults.add(v.Line, "%s: %s has no values", of, name)
		}
		for _, value := range values {
			lists[name] = append(lists[name], setting{r.scalar(value, name), value.Line})
		}
	}
	return lists
}

// cell adds a cell of the base and what is set over it.
func (r *reader) cell(line int, over settings) {
	if c, ok := r.make(over); ok {
		r.plan.Cells = append(r.plan.Cells, c)
		r.plan.lines = append(r.plan.lines, line)
	}
}

// make makes a cell of the base and what is set over it. An HTTP version that the
// transport does not go by is taken from the base only where it is set there.
func (r *reader) make(over settings) (c Cell, ok bool) {
	all := r.base.with(over)
	c = DefaultBase()
	if _, set := over["transport"]; set {
		if _, set := over["http_version"]; !set {
			delete(all, "http_version")
		}
	}
	if _, set := all["http_version"]; !set {
		c.HTTPVersion = ""
	}
	if s, set := all["source"]; set && s.value != "synth" { // what a capture brings itself
		c.Symbols, c.Arrivals, c.Rate = 0, CaptureArrivals, 0
	}
	if _, set := over["source"]; set { // the base's are of another source
		for _, name := range []string{"symbols", "rate", "arrivals", "zipf"} {
			if _, set := over[name]; !set {
				delete(all, name)
			}
		}
	}
	ok = true
	for i := range axisList {
		a := &axisList[i]
		s, set := all[a.name]
		if !set {
			if a.name == "transport" && c.HTTPVersion == "" {
				c.HTTPVersion = defaultVersion(c.Transport)
			}
			continue
		}
		if err := a.set(&c, s.value); err != nil {
			r.faults.add(s.line, "%w", err)
			ok = false
		}
	}
	if _, set := all["connections"]; !set {
		c.Connections = c.Streams
		if i := servedIndex(c); i >= 0 && servedPairs[i].shares {
			c.Connections = max(1, min(SharedConnections, c.Streams/2))
		}
	} else if _, set := over["connections"]; !set {
		// Of the base: what cannot share keeps its own.
		if i := servedIndex(c); i >= 0 && !servedPairs[i].shares {
			c.Connections = c.Streams
		}
	}
	return c, ok
}

func servedIndex(c Cell) int {
	return slices.IndexFunc(servedPairs, func(s served) bool { return s.transport == c.Transport && s.version == c.HTTPVersion })
}

// cells reads a list: of names of the default comparison's cells, and of maps.
func (r *reader) cells(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.faults.add(n.Line, "cells is a list of names (%s) or of maps", strings.Join(Names(), ", "))
		return
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			r.cell(item.Line, r.settings(item, "a cell"))
			continue
		}
		i := slices.Index(Names(), item.Value)
		if i < 0 {
			r.faults.add(item.Line, "unknown cell %q; the names are %s, other cells are maps", item.Value, strings.Join(Names(), ", "))
			continue
		}
		over := settings{"transport": {choices[i].transport, item.Line}, "http_version": {choices[i].version, item.Line}}
		if !choices[i].shared {
			over["connections"] = setting{ownConnections, item.Line}
		}
		r.cell(item.Line, over)
	}
}

// axes reads the lists of which every combination is a cell.
func (r *reader) axes(n *yaml.Node) {
	lists := r.list(n, "axes")
	combinations := []settings{{}}
	for _, name := range AxisNames() {
		values, set := lists[name]
		if !set {
			continue
		}
		var next []settings
		for _, c := range combinations {
			for _, v := range values {
				next = append(next, c.with(settings{name: v}))
			}
		}
		if combinations = next; len(combinations) > mostCells {
			r.faults.add(n.Line, "axes: over %d combinations", mostCells)
			return
		}
	}
	for _, c := range combinations {
		r.cell(n.Line, c)
	}
}

// vary reads the lists whose values are each a cell that differs from the base in
// that alone. The base is the first cell where no other is named.
func (r *reader) vary(n *yaml.Node) {
	lists := r.list(n, "vary")
	if len(r.plan.Cells) == 0 {
		r.cell(n.Line, settings{})
	}
	for _, name := range AxisNames() {
		for _, v := range lists[name] {
			r.cell(v.line, settings{name: v})
		}
	}
}

var orderKeys = []string{"paths", "encoding", "workers", "rate", "window", "payload_bytes", "beside"}

func (r *reader) orders(n *yaml.Node) {
	o := &Orders{Encoding: "protobuf", Workers: 64, Rate: 1000, Window: 4 * time.Second, Beside: "grpc"}
	if s, set := r.base["encoding"]; set {
		o.Encoding = s.value
	}
	values := r.mapping(n, "orders", orderKeys)
	if values == nil {
		return
	}
	if v := values["paths"]; v != nil {
		if v.Kind != yaml.SequenceNode {
			r.faults.add(v.Line, "paths is a list of %s", strings.Join(PathNames(), ", "))
		}
		for _, item := range v.Content {
			o.Paths = append(o.Paths, r.scalar(item, "paths"))
		}
	}
	for name, to := range map[string]*string{"encoding": &o.Encoding, "beside": &o.Beside} {
		if v := values[name]; v != nil {
			*to = r.scalar(v, name)
		}
	}
	for name, to := range map[string]*int{"workers": &o.Workers, "payload_bytes": &o.PayloadBytes} {
		if v := values[name]; v != nil {
			r.whole(v, name, to)
		}
	}
	if v := values["rate"]; v != nil {
		r.number(v, "rate", &o.Rate)
	}
	if v := values["window"]; v != nil {
		r.duration(v, "window", &o.Window)
	}
	r.plan.Orders = o
}

func (r *reader) thresholds(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.faults.add(n.Line, "thresholds is a list of lines such as %q", thresholdExample)
		return
	}
	for _, item := range n.Content {
		t, err := ParseThreshold(r.scalar(item, "thresholds"))
		if err != nil {
			r.faults.add(item.Line, "%w", err)
			continue
		}
		t.line = item.Line
		r.plan.Thresholds = append(r.plan.Thresholds, t)
	}
}
