package plan

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// DefaultBase is what every cell has unless the plan says otherwise; it is that of
// the default comparison.
func DefaultBase() Cell {
	return Cell{
		Transport: "grpc", HTTPVersion: "2", Encoding: "protobuf", Streams: 10_000, Connections: SharedConnections, Symbols: 100, SymbolsPerStream: 1,
		Rate: 200, Arrivals: "steady", Source: "synth", Policy: "conflate",
	}
}

// maxFile bounds a plan's file: a plan is written by hand.
const maxFile = 1 << 20

// Read reads a plan in YAML. The error is Faults, which names file and lines of all
// that is wrong.
func Read(in io.Reader, file string) (*Plan, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read plan %s: %w", file, err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("read plan %s: longer than %d bytes", file, maxFile)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, syntaxFault(err, file)
	}
	r := &reader{plan: &Plan{file: file, keys: make(map[string]int), Name: "plan", Rounds: MinRounds, Warmup: time.Second, Window: 3 * time.Second, Seed: 1}}
	r.faults.File = file
	if doc.Kind == yaml.DocumentNode && doc.Content[0].Kind == yaml.MappingNode {
		r.top(doc.Content[0])
	} else {
		r.faults.add(0, "a plan is a map with the keys %s", strings.Join(topNames(), ", "))
	}
	if len(r.faults.All) == 0 { // else what follows from them
		if err := r.plan.Validate(); err != nil {
			var f *Faults
			if errors.As(err, &f) {
				r.faults.All = f.All
			}
		}
	}
	slices.SortStableFunc(r.faults.All, func(a, b Fault) int { return a.Line - b.Line })
	if err := r.faults.err(); err != nil {
		return nil, err
	}
	return r.plan, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// syntaxFault puts the YAML library's error into the form of all others.
func syntaxFault(err error, file string) error {
	f := &Faults{File: file}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		n, _ := strconv.Atoi(m[1]) // the pattern takes digits alone
		f.add(n, "not YAML: %s", m[2])
		return f
	}
	f.add(0, "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	return f
}

// reader turns the document into a plan, and goes on after a fault to find all.
type reader struct {
	plan   *Plan
	base   settings
	faults Faults
}

// setting is an axis's value with its line.
type setting struct {
	value string
	line  int
}

// settings are the axes that a part of the plan sets.
type settings map[string]setting

// with returns the settings of s and over them those of o.
func (s settings) with(o settings) settings {
	all := make(settings, len(s)+len(o))
	for _, m := range []settings{s, o} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// key is one of a map with what it does with its value.
type key struct {
	name string
	read func(r *reader, n *yaml.Node)
}

// topKeys are the keys of a plan in the order in which they are read: cells need
// the base.
var topKeys = []key{
	{"name", func(r *reader, n *yaml.Node) { r.plan.Name = r.scalar(n, "name") }},
	{"about", func(r *reader, n *yaml.Node) { r.plan.About = r.scalar(n, "about") }},
	{"rounds", func(r *reader, n *yaml.Node) { r.whole(n, "rounds", &r.plan.Rounds) }},
	{"warmup", func(r *reader, n *yaml.Node) { r.duration(n, "warmup", &r.plan.Warmup) }},
	{"window", func(r *reader, n *yaml.Node) { r.duration(n, "window", &r.plan.Window) }},
	{"seed", func(r *reader, n *yaml.Node) { r.seed(n) }},
	{"base", func(r *reader, n *yaml.Node) { r.base = r.settings(n, "base") }},
	{"cells", (*reader).cells},
	{"axes", (*reader).axes},
	{"vary", (*reader).vary},
	{"orders", (*reader).orders},
	{"thresholds", (*reader).thresholds},
}

func topNames() []string {
	names := make([]string, len(topKeys))
	for i, k := range topKeys {
		names[i] = k.name
	}
	return names
}

func (r *reader) top(n *yaml.Node) {
	values := r.mapping(n, "a plan", topNames())
	for _, k := range topKeys {
		if v := values[k.name]; v != nil {
			r.plan.keys[k.name] = v.Line
			k.read(r, v)
		}
	}
	if c, ok := r.make(settings{}); ok {
		r.plan.Base = c
	}
	if values["cells"] == nil && values["axes"] == nil && values["vary"] == nil && values["orders"] == nil {
		r.faults.add(n.Line, "the plan names nothing to measure; give cells, axes, vary or orders")
	}
}

// mapping returns the values of a map by key. Unknown and repeated keys are faults.
func (r *reader) mapping(n *yaml.Node, of string, known []string) map[string]*yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.faults.add(n.Line, "%s is a map with the keys %s", of, strings.Join(known, ", "))
		return nil
	}
	values := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(known, k.Value):
			r.faults.add(k.Line, "unknown key %q; %s has the keys %s", k.Value, of, strings.Join(known, ", "))
		case values[k.Value] != nil:
			r.faults.add(k.Line, "the key %q stands twice", k.Value)
		default:
			values[k.Value] = v
		}
	}
	return values
}

func (r *reader) scalar(n *yaml.Node, name string) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.faults.add(n.Line, "%s wants one value", name)
		return ""
	}
	return n.Value
}

func (r *reader) whole(n *yaml.Node, name string, to *int) {
	if v := r.scalar(n, name); v != "" {
		i, err := strconv.Atoi(v)
		if err != nil {
			r.faults.add(n.Line, "%s: %q, want a whole number", name, v)
			return
		}
		*to = i
	}
}

func (r *reader) seed(n *yaml.Node) {
	v := r.scalar(n, "seed")
	seed, err := strconv.ParseUint(v, 10, 64)
	if err != nil && v != "" {
		r.faults.add(n.Line, "seed: %q, want a whole number of at least 0", v)
	}
	r.plan.Seed = seed
}

func (r *reader) number(n *yaml.Node, name string, to *float64) {
	if v := r.scalar(n, name); v != "" {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			r.faults.add(n.Line, "%s: %q, want a number", name, v)
			return
		}
		*to = x
	}
}

func (r *reader) duration(n *yaml.Node, name string, to *time.Duration) {
	if v := r.scalar(n, name); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			r.faults.add(n.Line, "%s: %q, want a duration such as 500ms, 4s or 2m", name, v)
			return
		}
		*to = d
	}
}
