package plan

import (
	"bytes"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// YAML returns the plan as a file that Read reads as the same plan, with every cell
// spelled out.
func (p *Plan) YAML() ([]byte, error) {
	top := mapNode()
	if p.Name != "" {
		put(top, "name", p.Name)
	}
	if p.About != "" {
		put(top, "about", p.About)
	}
	put(top, "rounds", strconv.Itoa(p.Rounds))
	put(top, "warmup", p.Warmup.String())
	put(top, "window", p.Window.String())
	put(top, "seed", strconv.FormatUint(p.Seed, 10))
	putNode(top, "base", p.Base.node(DefaultBase()))
	if len(p.Cells) > 0 {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, c := range p.Cells {
			list.Content = append(list.Content, c.node(p.Base))
		}
		putNode(top, "cells", list)
	}
	if o := p.Orders; o != nil {
		m := mapNode()
		if len(o.Paths) > 0 {
			putNode(m, "paths", listNode(o.Paths))
		}
		put(m, "encoding", o.Encoding)
		put(m, "workers", strconv.Itoa(o.Workers))
		put(m, "rate", strconv.FormatFloat(o.Rate, 'g', -1, 64))
		put(m, "window", o.Window.String())
		put(m, "payload_bytes", strconv.Itoa(o.PayloadBytes))
		put(m, "beside", o.Beside)
		putNode(top, "orders", m)
	}
	if len(p.Thresholds) > 0 {
		var texts []string
		for _, t := range p.Thresholds {
			texts = append(texts, t.Text)
		}
		putNode(top, "thresholds", listNode(texts))
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(top); err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	return out.Bytes(), nil
}

// node writes the axes that differ from what a cell has unless told.
func (c Cell) node(unless Cell) *yaml.Node {
	n := mapNode()
	n.Style = yaml.FlowStyle
	if c.Source != unless.Source { // then the reader forgets what the source brings
		unless.Symbols, unless.Rate = 0, 0
	}
	for _, a := range axisList {
		switch a.name {
		case "symbols":
			if c.Source != "synth" && c.Symbols == 0 {
				continue // not known yet
			}
		case "rate":
			if c.Source != "synth" && c.Rate == 0 {
				continue // its own
			}
		case "arrivals", "zipf":
			if c.Source != "synth" {
				continue // its own
			}
		case "transport", "http_version", "encoding", "streams", "connections":
			put(n, a.name, a.get(&c)) // a reader wants these
			continue
		}
		if v := a.get(&c); v != a.get(&unless) {
			put(n, a.name, v)
		}
	}
	return n
}

func mapNode() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func put(m *yaml.Node, name, value string) {
	putNode(m, name, scalarNode(value))
}

func putNode(m *yaml.Node, name string, value *yaml.Node) {
	m.Content = append(m.Content, scalarNode(name), value)
}

// scalarNode leaves quoting to the encoder: every value is read back as text.
func scalarNode(v string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: v} }

func listNode(values []string) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range values {
		n := scalarNode(v)
		n.Style = yaml.DoubleQuotedStyle
		list.Content = append(list.Content, n)
	}
	return list
}
