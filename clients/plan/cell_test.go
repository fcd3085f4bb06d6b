package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestDefault(t *testing.T) {
	all := Names()
	if want := []string{"grpc", "grpc-own", "websocket", "sse", "sse-h2c"}; !slices.Equal(all, want) {
		t.Fatalf("names %v, want %v", all, want)
	}
	base := Cell{Encoding: "json", Streams: 10_000, Symbols: 7, Rate: 12.5, Arrivals: "bursty", Policy: "drop-oldest", TLS: true}
	type kind struct {
		transport, version string
		connections        int
		name               string
	}
	for _, c := range []struct {
		name    string
		names   []string
		streams int
		shared  int // Connections of the base
		want    []kind
	}{
		{"all", nil, 10_000, 0, []kind{
			{"grpc", "2", 100, "grpc/100 tls"},
			{"grpc", "2", 10_000, "grpc own tls"},
			{"websocket", "1.1", 10_000, "websocket tls"},
			{"sse", "1.1", 10_000, "sse h1 tls"},
			{"sse", "2", 100, "sse h2/100 tls"},
		}},
		{"in the order given", []string{"sse-h2c", "grpc"}, 10_000, 0, []kind{{"sse", "2", 100, "sse h2/100 tls"}, {"grpc", "2", 100, "grpc/100 tls"}}},
		{"other connections", []string{"grpc", "websocket"}, 10_000, 250, []kind{{"grpc", "2", 250, "grpc/250 tls"}, {"websocket", "1.1", 10_000, "websocket tls"}}},
		{"few streams share half as many", []string{"grpc", "sse-h2c"}, 40, 0, []kind{{"grpc", "2", 20, "grpc/20 tls"}, {"sse", "2", 20, "sse h2/20 tls"}}},
		{"one connection", []string{"grpc", "sse-h2c"}, 40, 1, []kind{{"grpc", "2", 1, "grpc/1 tls"}, {"sse", "2", 1, "sse h2/1 tls"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := base
			base.Streams, base.Connections = c.streams, c.shared
			cells, err := Default(c.names, base)
			if err != nil {
				t.Fatal(err)
			}
			if len(cells) != len(c.want) {
				t.Fatalf("%d cells, want %d", len(cells), len(c.want))
			}
			for i, cell := range cells {
				want := base // what the cells have in common is untouched
				want.Transport, want.HTTPVersion, want.Connections = c.want[i].transport, c.want[i].version, c.want[i].connections
				if cell != want {
					t.Errorf("cell %d is %+v, want %+v", i, cell, want)
				}
				if cell.Name() != c.want[i].name {
					t.Errorf("cell %d is called %q, want %q", i, cell.Name(), c.want[i].name)
				}
			}
		})
	}
}

func TestDefaultRefusesUnknownNames(t *testing.T) {
	for _, names := range [][]string{{"quic"}, {"grpc", "GRPC"}, {""}} {
		cells, err := Default(names, Cell{Streams: 1})
		if cells != nil || err == nil || !strings.HasSuffix(err.Error(), "; choose from grpc, grpc-own, websocket, sse, sse-h2c") {
			t.Errorf("%q: cells %v, error %v; want what there is to choose from", names, cells, err)
		}
	}
}

func TestDefaultRefusesWhatMakesNoComparison(t *testing.T) {
	if _, err := Default([]string{"sse", "grpc", "sse"}, Cell{Streams: 500}); err == nil || !strings.Contains(err.Error(), `"sse" is named twice`) {
		t.Errorf("a cell named twice: %v", err)
	}
	if _, err := Default(nil, Cell{Streams: 40, Connections: 40}); err == nil || !strings.Contains(err.Error(), "cannot share 40 connections") {
		t.Errorf("a connection for each that shares: %v", err)
	}
}

func TestCellJSON(t *testing.T) {
	b, err := json.Marshal(Cell{"sse", "2", "json", 10, 5, 3, 0.5, "steady", "conflate", true, 2, "synth", 0.9, "gzip", 64, "websocket", 1.5})
	const want = `{"transport":"sse","http_version":"2","encoding":"json","streams":10,"connections":5,"symbols":3,"rate":0.5,"arrivals":"steady","policy":"conflate","tls":true,"symbols_per_stream":2,` +
		`"source":"synth","zipf":0.9,"compression":"gzip","payload_bytes":64,"order_path":"websocket","orders_beside":1.5}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

func TestNamesSayTLSAndCompression(t *testing.T) {
	for want, c := range map[string]Cell{
		"sse h2c/5 gzip":    {Transport: "sse", HTTPVersion: "2", Connections: 5, Streams: 10, Compression: "gzip"},
		"sse h2/5 tls":      {Transport: "sse", HTTPVersion: "2", Connections: 5, Streams: 10, TLS: true},
		"websocket":         {Transport: "websocket", Compression: "none"},
		"grpc own tls gzip": {Transport: "grpc", TLS: true, Compression: "gzip"},
	} {
		if got := c.Name(); got != want {
			t.Errorf("%+v is called %q, want %q", c, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	own := DefaultBase()
	own.Connections = own.Streams
	other := DefaultBase()
	other.Encoding, other.TLS, other.Rate, other.Compression = "json", true, 12.5, "gzip"
	beside := DefaultBase()
	beside.OrderPath, beside.OrdersBeside = "grpc-unary", 1000
	any := DefaultBase()
	any.OrdersBeside = 1000
	want := []string{"grpc/100", "grpc own", "grpc/100 tls gzip json rate 12.5", "grpc/100 +grpc-unary", "grpc/100 +orders"}
	if got := Labels([]Cell{DefaultBase(), own, other, beside, any}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
