package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestReadCells(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"names", "cells: [websocket, grpc-own]", []string{"websocket", "grpc own"}},
		{"maps over the base", "base: {encoding: json, connections: 10}\ncells: [grpc, {transport: websocket}, {transport: sse, http_version: 2}]", []string{"grpc/10", "websocket", "sse h2c/10"}},
		{"few streams share half", "base: {streams: 40}\ncells: [grpc, sse-h2c]", []string{"grpc/20", "sse h2c/20"}},
		{"own after streams", "cells: [{connections: own, streams: 7}]", []string{"grpc own"}},
		{"every combination", "axes: {transport: [grpc, sse], encoding: [protobuf, json]}", []string{"grpc/100", "grpc/100 json", "sse h1", "sse h1 json"}},
		{"one value", "axes: {transport: sse}", []string{"sse h1"}},
		{"one at a time", "vary: {encoding: [json], rate: [50, 400]}", []string{"grpc/100", "grpc/100 json", "grpc/100 rate 50", "grpc/100 rate 400"}},
		{"around named cells", "cells: [sse]\nvary: {tls: [self]}", []string{"sse h1", "grpc/100 tls"}},
		{"a base of another transport", "base: {transport: sse, http_version: 2}\nvary: {compression: [gzip]}", []string{"sse h2c/100", "sse h2c/100 gzip"}},
		{"a capture", "base: {source: x.jsonl}\ncells: [grpc]", []string{"grpc/100"}},
		{"orders beside", "cells: [{order_path: websocket, orders_beside: 5}]", []string{"grpc/100 +websocket"}},
		{"orders alone", "orders: {paths: [grpc-unary]}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Read(strings.NewReader(c.text), "p.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if got := Labels(p.Cells); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestReadDefaults(t *testing.T) {
	p, err := Read(strings.NewReader("cells: [grpc]\norders: {}"), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if p.Rounds != MinRounds || p.Window == 0 || p.Seed != 1 || p.Orders.Workers != 64 || p.Orders.Beside != "grpc" || p.Cells[0] != DefaultBase() {
		t.Errorf("%+v, %+v", p, p.Orders)
	}
}

// Every fault is told with its line, in one line.
func TestReadFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"p.yaml: a plan is a map"}},
		{"a list", "- grpc", []string{"p.yaml: a plan is a map"}},
		{"no YAML", "cells: [grpc\nrounds: 6", []string{"p.yaml:", "not YAML"}},
		{"nothing to measure", "rounds: 6", []string{"p.yaml:1: the plan names nothing to measure"}},
		{"unknown key", "rounds: 6\nruns: 3\ncells: [grpc]", []string{`p.yaml:2: unknown key "runs"`, "rounds"}},
		{"unknown axis", "cells:\n  - {transport: grpc, colour: red}", []string{`p.yaml:2: unknown key "colour"`, "encoding"}},
		{"twice", "rounds: 6\nrounds: 7\ncells: [grpc]", []string{"p.yaml:", "rounds"}},
		{"no rounds", "rounds: 0\ncells: [grpc]", []string{"rounds: 0, want 1 for a look, or 6"}},
		{"two rounds", "rounds: 2\ncells: [grpc]", []string{"p.yaml:1: rounds: 2 are too few for any verdict"}},
		{"minus", "rounds: -1\ncells: [grpc]", []string{"rounds: -1"}},
		{"no number", "rounds: six\ncells: [grpc]", []string{`p.yaml:1: rounds: "six", want a whole number`}},
		{"no window", "window: 0s\ncells: [grpc]", []string{"window: 0s"}},
		{"no unit", "window: 5\ncells: [grpc]", []string{`p.yaml:1: window: "5", want a duration`}},
		{"seed", "seed: -1\ncells: [grpc]", []string{"seed"}},
		{"unknown cell", "cells: [grpc, quic]", []string{`p.yaml:1: unknown cell "quic"`, "sse-h2c"}},
		{"a cell twice", "cells:\n- grpc\n- {transport: grpc}", []string{"p.yaml:3: cell 2 is cell 1 again"}},
		{"deflate on gRPC", "cells:\n- {compression: deflate}", []string{`p.yaml:2:`, `compression "deflate" on grpc; it has none and gzip`}},
		{"gRPC over 1.1", "cells:\n- {http_version: 1.1}", []string{`grpc is served over HTTP/2`}},
		{"shared websocket", "cells:\n- {transport: websocket, connections: 5}", []string{"every stream has a connection of its own"}},
		{"more connections than streams", "cells:\n- {streams: 5, connections: 6}", []string{"connections: 6 for 5 streams"}},
		{"no streams", "cells:\n- {streams: 0}", []string{"streams: 0, want 1 or more"}},
		{"NaN", "cells:\n- {rate: .nan}", []string{`rate ".nan", want a number`}},
		{"NaN as Go has it", "cells:\n- {rate: NaN}", []string{"want a number"}},
		{"negative rate", "cells:\n- {rate: -1}", []string{"rate: -1"}},
		{"more symbols per stream than symbols", "cells:\n- {symbols: 2, symbols_per_stream: 3}", []string{"symbols_per_stream: 3, but there are 2 symbols"}},
		{"a capture with arrivals", "cells:\n- {source: a.jsonl, arrivals: bursty}", []string{"a capture has arrivals"}},
		{"path without rate", "cells:\n- {order_path: websocket}", []string{"go together"}},
		{"orders", "orders: {beside: quic}", []string{`beside "quic"`}},
		{"order paths", "orders: {paths: [fix]}", []string{`unknown path "fix"`}},
		{"order workers", "orders: {workers: 0}", []string{"workers 0"}},
		{"a threshold that is none", "cells: [grpc]\nthresholds:\n- grpc p99 is good", []string{"p.yaml:3: threshold", "CELL.FIGURE"}},
		{"axes without values", "axes: {rate: []}", []string{"axes: rate has no values"}},
		{"too many", "axes: {rate: [" + strings.Repeat("1, ", 40) + "1], streams: [" + strings.Repeat("1, ", 40) + "1]}", []string{"over 1000 combinations"}},
		{"several faults", "rounds: x\ncells:\n- quic\n- {rate: y}", []string{"p.yaml:1:", "p.yaml:3:", "p.yaml:4:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Read(strings.NewReader(c.text), "p.yaml")
			if err == nil {
				t.Fatalf("read as %+v", p)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "p.yaml:") {
					t.Errorf("no file and line before %q", line)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range BuiltIn() {
		f.Add(string(Text(name)))
	}
	f.Add("a: &a [*a]")
	f.Add("base: &b {rate: 1}\ncells: [*b]")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Read(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		if p.Validate() != nil {
			t.Errorf("read, and not valid: %v", p.Validate())
		}
		b, err := p.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(strings.NewReader(string(b)), "again")
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if !slices.Equal(again.Cells, p.Cells) {
			t.Errorf("%+v\nwant %+v", again.Cells, p.Cells)
		}
	})
}
