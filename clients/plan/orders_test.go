package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestDefaultOrders(t *testing.T) {
	base := OrderCell{Encoding: "json", Workers: 3, PayloadBytes: 9}
	cells, err := DefaultOrders(nil, base)
	if err != nil || len(cells) != 7 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	var names []string
	for _, c := range cells {
		names = append(names, c.Name())
		if c.Encoding != "json" || c.Workers != 3 || c.PayloadBytes != 9 {
			t.Errorf("%+v has lost what all have in common", c)
		}
	}
	want := []string{"grpc-unary, 3 workers", "rest-unary h1, 3 workers", "rest-unary h2, 3 workers", "grpc-stream, 3 workers",
		"websocket, 3 workers", "rest+sse h1, 3 workers", "rest+sse h2, 3 workers"}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	base.Rate = 1000
	cells, err = DefaultOrders([]string{"websocket", "rest-unary-h2c"}, base)
	if err != nil || len(cells) != 2 || cells[0].Name() != "websocket, 1000 orders/s" || cells[1].HTTPVersion != "2" {
		t.Errorf("%+v, %v", cells, err)
	}
	for names, said := range map[string]string{"fix": "unknown path", "websocket,websocket": "twice"} {
		if _, err := DefaultOrders(strings.Split(names, ","), base); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", names, err)
		}
	}
}
