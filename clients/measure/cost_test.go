package measure

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// wholeProcess has every figure.
func wholeProcess() Process {
	return Process{
		CPUUserNS: 6000, CPUSystemNS: 2000, RSSBytes: 9000, RSSBaselineBytes: 1000, Goroutines: 44,
		HeapBytes: 5000, HeapBaselineBytes: 1000, Idle: &Memory{AtNS: 7, RSSBytes: 5000, HeapBytes: 3000},
		VoluntarySwitches: 12, InvoluntarySwitches: 3,
		GC: &GC{Cycles: 2, CPUShare: 0.125, Pauses: &Pauses{Count: 4, Quantiles: Quantiles{P50: 10, P90: 20, P99: 30, P999: 30, Max: 30, Mean: 15}}},
	}
}

func TestCostOf(t *testing.T) {
	p := wholeProcess()
	want := &Cost{
		CPUNSPerDelivery: new(int64(80)), CPUUserNSPerDelivery: new(int64(60)), CPUSystemNSPerDelivery: new(int64(20)),
		RSSBytes: 9000, RSSBytesPerStream: 2000, HeapBytesPerStream: new(int64(1000)),
		IdleRSSBytesPerStream: new(int64(1000)), IdleHeapBytesPerStream: new(int64(500)),
		Goroutines: new(int64(44)), VoluntarySwitches: new(int64(12)), InvoluntarySwitches: new(int64(3)), GC: p.GC,
	}
	if got := CostOf(p, 100, 4); !reflect.DeepEqual(got, want) {
		t.Errorf("cost %+v, want %+v", got, want)
	}
	p.Idle = nil
	if got := CostOf(p, 0, 4); got.CPUNSPerDelivery != nil || got.CPUUserNSPerDelivery != nil || got.CPUSystemNSPerDelivery != nil ||
		got.IdleRSSBytesPerStream != nil || got.IdleHeapBytesPerStream != nil || got.HeapBytesPerStream == nil {
		t.Errorf("cost of no deliveries, and idle not marked: %+v", got)
	}
	// An exchange of before did not tell the rest.
	if got := CostOf(Process{CPUUserNS: 50, RSSBytes: 8}, 5, 1); got.GC != nil || got.Goroutines != nil || got.HeapBytesPerStream != nil || got.VoluntarySwitches != nil || *got.CPUNSPerDelivery != 10 {
		t.Errorf("cost %+v of what is not known", got)
	}
}

func TestBytesAndSegmentsOfALedger(t *testing.T) {
	l := wholeLedger()
	r := Run{Received: 99}
	r.FillCosts(wholeProcess(), l, 4)
	if *r.WireBytesPerDelivery != 110 || *r.PayloadBytesPerDelivery != 80 || *r.FramingBytesPerDelivery != 30 || r.TCP != l.TCP {
		t.Errorf("%v = %v + %v bytes, TCP %+v", *r.WireBytesPerDelivery, *r.PayloadBytesPerDelivery, *r.FramingBytesPerDelivery, r.TCP)
	}
	if *r.Server.CPUNSPerDelivery != 80 || *r.Fleet.CPUNSPerDelivery != 8000/99 {
		t.Errorf("server %+v, fleet %+v", r.Server, r.Fleet)
	}
	r.DropSharedCosts()
	if r.WireBytesPerDelivery != nil || r.PayloadBytesPerDelivery != nil || r.FramingBytesPerDelivery != nil || r.TCP != nil || r.Server.CPUNSPerDelivery != nil ||
		r.Server.CPUSystemNSPerDelivery != nil || r.Server.RSSBytesPerStream != 0 || r.Server.HeapBytesPerStream != nil {
		t.Errorf("shared with orders: %+v, %+v", r, r.Server)
	}
	if r.Server.RSSBytes != 9000 || r.Server.GC == nil || r.Fleet.CPUNSPerDelivery == nil {
		t.Errorf("what is known all the same: %+v, %+v", r.Server, r.Fleet)
	}
	(&Run{}).DropSharedCosts() // of a run without a ledger
}

func wholeLedger() *Ledger {
	return &Ledger{
		Version: "v0.1.0", Epoch: "ab12", BootID: "boot", FromNS: 1000, ToNS: 9000, Complete: true, Scheduled: 100,
		Symbols:    []SymbolDue{{Symbol: "A", Scheduled: 100, FirstSeq: 3, LastSeq: 102}},
		PublishLag: &Lag{Quantiles: Quantiles{P50: 1, P90: 2, P99: 3, P999: 4, Max: 5, Mean: 2}, MeanByThird: [3]int64{1, 2, 3}},
		Process:    wholeProcess(), TCP: &TCP{Segments: 150, DataSegments: 130, Retransmits: 1, Deliveries: 120, SegmentsPerDelivery: new(1.25)},
		Schedule: Schedule{Source: "synth", Seed: 1, Rate: 200, Arrivals: "steady"},
		Counters: map[string]int64{TicksWritten: 100, WrittenBytes: 11_000, PayloadBytes: 8000},
		Totals:   map[string]int64{StreamsOpen: 4},
	}
}

// The fleet of one version reads the ledger of another's exchange: names stay.
func TestLedgerJSON(t *testing.T) {
	got, err := json.MarshalIndent(wholeLedger(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/ledger.json"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(append(got, '\n'), want) {
		t.Errorf("%s differs; -update writes it anew. Got:\n%s", path, got)
	}
	var back Ledger
	if err := json.Unmarshal(want, &back); err != nil || !reflect.DeepEqual(&back, wholeLedger()) {
		t.Errorf("read back %+v, %v", back, err)
	}
}

// Medians of whole costs: the worst stream is a name, and stays that of the first.
func TestMedianOfCosts(t *testing.T) {
	var runs []*Run
	for i := range int64(3) {
		runs = append(runs, &Run{
			Server:   &Cost{GC: &GC{CPUShare: float64(i), Pauses: &Pauses{Count: 10 * i}}, Goroutines: new(i)},
			Fairness: &Fairness{MeanRank: MeanRanks{Max: float64(i)}, WorstStream: StreamNumber(9 - i), Spread: &Spread{Ticks: i, Quantiles: Quantiles{P50: i}}},
		})
	}
	m := MedianRun(runs)
	if m.Server.GC.CPUShare != 1 || m.Server.GC.Pauses.Count != 10 || *m.Server.Goroutines != 1 || m.Fairness.MeanRank.Max != 1 || m.Fairness.Spread.P50 != 1 || m.Fairness.WorstStream != 9 {
		t.Errorf("server %+v, fairness %+v", m.Server, m.Fairness)
	}
	if runs[0].Fairness.MeanRank.Max != 0 || runs[0].Server.GC.CPUShare != 0 {
		t.Error("the first run was changed")
	}
}
