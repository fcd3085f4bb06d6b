package plan

import (
	"errors"
	"strings"
	"testing"
)

func TestParseThreshold(t *testing.T) {
	for text, want := range map[string]Threshold{
		"grpc.latency.p99 < 5ms":                   {Cell: "grpc", Figure: "latency.p99", Op: "<", Value: 5e6, Unit: "ns"},
		"*.latency.p50<=1.5 us":                    {Cell: "*", Figure: "latency.p50", Op: "<=", Value: 1500, Unit: "ns"},
		"sse h2c/100.exchange_memory < 30KiB":      {Cell: "sse h2c/100", Figure: "exchange_memory", Op: "<", Value: 30 << 10, Unit: "bytes"},
		`"grpc/100 rate 0.5".received >= 1e3`:      {Cell: "grpc/100 rate 0.5", Figure: "received", Op: ">=", Value: 1000},
		"websocket.exchange_cpu_per_delivery > 1s": {Cell: "websocket", Figure: "exchange_cpu_per_delivery", Op: ">", Value: 1e9, Unit: "ns"},
	} {
		got, err := ParseThreshold(text)
		want.Text = text
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "latency < 5ms", "grpc.latency.p99", "grpc.latency.p99 = 5ms", "grpc.latency.p99 < fast", "grpc.latency.p99 < 5 miles", "grpc.latency.p99 < 1e", "<"} {
		if got, err := ParseThreshold(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestThresholdHolds(t *testing.T) {
	for _, c := range []struct {
		op    string
		value float64
		want  bool
	}{{"<", 4, true}, {"<", 5, false}, {"<=", 5, true}, {"<=", 6, false}, {">", 5, false}, {">", 6, true}, {">=", 5, true}, {">=", 4, false}} {
		if got := (Threshold{Op: c.op, Value: 5}).Holds(c.value); got != c.want {
			t.Errorf("%g %s 5 is %v", c.value, c.op, got)
		}
	}
}

func TestThresholdMatches(t *testing.T) {
	cells, err := Default(nil, DefaultBase())
	if err != nil {
		t.Fatal(err)
	}
	orders := cells[0]
	orders.OrdersBeside = 1000
	cells = append(cells, orders)
	labels := Labels(cells)
	for name, want := range map[string]string{
		"grpc": "grpc/100,grpc own", "grpc/100": "grpc/100", "grpc-own": "grpc own", "sse-h2c": "sse h2c/100", "sse": "sse h1,sse h2c/100",
		"*": strings.Join(labels, ","), "grpc/100 +orders": "grpc/100 +orders", "quic": "",
	} {
		var got []string
		for i, c := range cells {
			if (Threshold{Cell: name}).Matches(c, labels[i]) {
				got = append(got, labels[i])
			}
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s matches %q, want %q", name, got, want)
		}
	}
}

func TestCheckThresholds(t *testing.T) {
	p, err := Read(strings.NewReader("cells: [grpc]\nthresholds:\n- quic.latency.p99 < 1ms\n- grpc.latency.p98 < 1ms\n- grpc.latency.p99 < 1ms\n"), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	err = p.CheckThresholds(func(t Threshold) error {
		if t.Figure == "latency.p98" {
			return errUnknown
		}
		return nil
	})
	var f *Faults
	if err == nil {
		t.Fatal("nothing was wrong")
	}
	if !errors.As(err, &f) || len(f.All) != 2 || f.All[0].Line != 3 || f.All[1].Line != 4 || !strings.Contains(f.All[0].Err.Error(), `no cell is called "quic"`) {
		t.Errorf("%v", err)
	}
}

var errUnknown = &Faults{All: []Fault{{Err: errText("unknown figure")}}}

type errText string

func (e errText) Error() string { return string(e) }
