package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/plan"
)

func threshold(t *testing.T, text string) plan.Threshold {
	t.Helper()
	parsed, err := plan.ParseThreshold(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestCheckThreshold(t *testing.T) {
	for text, want := range map[string]string{
		"grpc.latency.p99 < 5ms":                  "",
		"grpc.exchange_memory_per_stream < 40KiB": "",
		"grpc.missed <= 0":                        "",
		"grpc.latency.p98 < 5ms":                  `there is no figure "latency.p98"; those that are measured are latency.p50, `,
		"grpc.latency.p99 < 5":                    "latency.p99 is a duration such as 5ms, and the value is a plain number",
		"grpc.exchange_memory_per_stream < 5ms":   "is a size such as 40KiB, and the value is a duration",
		"grpc.received > 5KiB":                    "received is a plain number",
	} {
		err := CheckThreshold(threshold(t, text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	a, b := series(cell("grpc", "protobuf"), 3, 1, random), series(cell("websocket", "protobuf"), 3, 0.5, random)
	a.Runs[0].Latency.P99 = 1e12 // not usable, and so not in the median
	a.Runs[0].Valid = false
	for _, r := range b.Runs {
		r.Saturated = true
	}
	got := Check([]plan.Threshold{threshold(t, "*.latency.p99 < 15ms"), threshold(t, "grpc.latency.p99 < 1ms"), threshold(t, "quic.latency.p99 < 1ms")}, []Input{a, b})
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	if !got[0].Pass || got[0].Cell != "grpc/100" || got[0].Runs != 2 || got[0].Value < 1e7 || got[0].Value > 1.5e7 {
		t.Errorf("%+v", got[0])
	}
	if got[1].Pass || got[1].Cell != "websocket" || got[1].Runs != 0 {
		t.Errorf("a cell without a usable run: %+v", got[1])
	}
	if got[2].Pass || got[2].Threshold != "grpc.latency.p99 < 1ms" {
		t.Errorf("%+v", got[2])
	}
}
