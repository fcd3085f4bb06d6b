package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/clients/fleet"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
	"github.com/tickgauge/tickgauge/streams/fault"
)

// faultyVenue is a venue that does wrong what is injected.
func faultyVenue(t *testing.T, opts fault.Options, symbols ...string) (*venue, *fault.Injector) {
	t.Helper()
	injector, err := fault.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- injector.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	// Queues that nothing here fills: what is missing is then injected.
	return newVenue(t, symbols, 0, streams.Options{Faults: injector.Queue, Limits: feed.Limits{QueueTicks: 1 << 16}}), injector
}

// accounted is a sink that keeps an account as a fleet does, and the ticks too.
type accounted struct {
	*measure.Recorder
	ticks    atomic.Int64
	received chan struct{} // signalled after each delivery
	conns    []clients.Conn

	mu        sync.Mutex
	latencies []int64 // received - published
}

func (a *accounted) Deliver(d *clients.Delivery) {
	a.Message(d.Stream, d.ReceivedNS, d.DecodedNS, &d.Message)
	a.mu.Lock()
	for _, tick := range d.Message.Ticks {
		a.latencies = append(a.latencies, d.ReceivedNS-tick.PublishNS)
	}
	a.mu.Unlock()
	a.ticks.Add(int64(len(d.Message.Ticks)))
	select {
	case a.received <- struct{}{}:
	default:
	}
}

// close ends the streams, so that nothing comes any more. It may be called twice.
func (a *accounted) close() {
	for _, conn := range a.conns {
		_ = conn.Close()
	}
}

// await waits until ok says so of the number of ticks that have come.
func (a *accounted) await(t *testing.T, what string, ok func(ticks int64) bool) {
	t.Helper()
	expired := time.After(patience)
	for !ok(a.ticks.Load()) {
		select {
		case <-a.received:
		case <-expired:
			t.Fatalf("no %s within %s, %d ticks came", what, patience, a.ticks.Load())
		}
	}
}

// keepAccount opens streams of all symbols, and begins an account that has no end yet.
func keepAccount(t *testing.T, v *venue, tr *transport, enc wire.Encoding, streams int, symbols ...string) *accounted {
	t.Helper()
	a := &accounted{Recorder: measure.NewRecorder(streams), received: make(chan struct{}, 1)}
	a.SetWindow(feed.Now(), 1<<62)
	dialer, err := tr.dialer(v.target(tr), dialOptions{encoding: enc})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	for i := range streams {
		conn, err := dialer.Dial(t.Context(), i, a)
		if err != nil {
			t.Fatal(err)
		}
		a.conns = append(a.conns, conn)
		a.Opening(i, symbols...)
		if err := conn.Open(t.Context(), i, feed.Subscribe{Symbols: symbols, Policy: feed.PolicyDropOldest}); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "streams", func() bool {
		open, _, _ := a.Streams()
		return open == streams && v.hub.Stats().Subscriptions == int64(streams)
	})
	return a
}

// TestInjectedFaultsAreFoundOneByOne: what streams find missing, twice or out of order
// is what was injected, on every transport; and the same seed loses the same.
func TestInjectedFaultsAreFoundOneByOne(t *testing.T) {
	const ticks, streamCount = 1000, 3
	symbols := []string{"AAA", "BBB"}
	same := make(map[string]fault.Counts)
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		for _, opts := range []fault.Options{
			{},
			{Seed: 1, Loss: 1e-3}, {Seed: 2, Loss: 1e-2}, {Seed: 3, Duplicate: 1e-3}, {Seed: 4, Duplicate: 1e-2},
			{Seed: 5, Reorder: 1e-3}, {Seed: 6, Reorder: 1e-2}, {Seed: 7, Reorder: 1},
			{Seed: 8, Loss: 1e-2, Duplicate: 1e-2, Reorder: 1e-2}, {Seed: 15, Loss: 0.3, Duplicate: 0.3, Reorder: 0.3},
			{Seed: 10, Loss: 1e-2, Duplicate: 1e-2, Reorder: 1e-2, Delay: 2 * time.Millisecond},
		} {
			name := fmt.Sprintf("%+v", opts)
			v, injector := faultyVenue(t, opts, symbols...)
			a := keepAccount(t, v, tr, enc, streamCount, symbols...)
			from := feed.Now()
			v.publish(0, ticks)
			v.publish(1, ticks)
			var w fault.Window
			// Each loss is one tick less and each duplicate one more, so this is true only
			// once every tick has met its fate.
			a.await(t, "ticks that are not lost, "+name, func(came int64) bool {
				var err error
				if w, err = injector.Window(from, 1<<62); err != nil {
					t.Fatal(err)
				}
				return came == int64(len(symbols)*ticks*streamCount)-w.Lost+w.Duplicated
			})
			a.close()
			v.stop()
			d := a.Finish(map[string]measure.SymbolDue{
				"AAA": {Symbol: "AAA", Scheduled: ticks, FirstSeq: 1, LastSeq: ticks},
				"BBB": {Symbol: "BBB", Scheduled: ticks, FirstSeq: 1, LastSeq: ticks},
			})
			if d.Missed != w.Lost || d.Duplicated != w.Duplicated || d.Reordered != w.Reordered || d.Conflated+d.Dropped+d.Stray != 0 ||
				d.Due != int64(len(symbols)*ticks*streamCount) || d.Received != d.Due-w.Lost {
				t.Errorf("%s: injected %+v, found %d missed, %d duplicated, %d reordered of %d", name, w.Counts, d.Missed, d.Duplicated, d.Reordered, d.Due)
			}
			if (w.Lost > 0) != (opts.Loss > 0) || (w.Duplicated > 0) != (opts.Duplicate > 0) {
				t.Errorf("%s: injected %+v", name, w.Counts)
			}
			if opts.Delay > 0 && w.Delayed != d.Received+d.Duplicated {
				t.Errorf("%s: %d deliveries were delayed of %d", name, w.Delayed, d.Received+d.Duplicated)
			}
			// A pause of the machine may let a tick go that waits for the next one.
			w.Reordered = 0
			if before, ok := same[name]; ok && before != w.Counts {
				t.Errorf("%s: injected %+v, and %+v before", name, w.Counts, before)
			}
			same[name] = w.Counts
		}
	})
}

// TestInjectedDelayIsInEveryLatency: sorted, each time from publish to receipt is at
// least the delay that the exchange measured, and it measured one for each delivery.
// What is above it is what the way takes without.
func TestInjectedDelayIsInEveryLatency(t *testing.T) {
	const ticks, streamCount = 50, 2
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		var without int64
		for _, delay := range []time.Duration{0, 200 * time.Microsecond, 5 * time.Millisecond} {
			v, injector := faultyVenue(t, fault.Options{Delay: delay}, "AAA")
			a := keepAccount(t, v, tr, enc, streamCount, "AAA")
			from := feed.Now()
			for i := range ticks { // one at a time, so that none waits for another
				v.publish(0, 1)
				a.await(t, "tick", func(came int64) bool { return came == int64((i+1)*streamCount) })
			}
			w, err := injector.Window(from, feed.Now())
			if err != nil {
				t.Fatal(err)
			}
			a.close()
			v.stop()
			slices.Sort(a.latencies)
			if delay == 0 {
				without = a.latencies[len(a.latencies)/2]
				continue
			}
			slices.Sort(w.DelaysNS)
			if len(w.DelaysNS) != ticks*streamCount || w.Delayed != ticks*streamCount {
				t.Fatalf("%d delays were measured of %d deliveries", len(w.DelaysNS), ticks*streamCount)
			}
			for i, measured := range w.DelaysNS {
				if measured < int64(delay) || a.latencies[i] < measured {
					t.Fatalf("delay of %s: %d ns measured, %d ns from publish to receipt", delay, measured, a.latencies[i])
				}
			}
			middle := len(w.DelaysNS) / 2
			t.Logf("delay of %s: the median moved by %s, measured %s", delay, time.Duration(a.latencies[middle]-without), time.Duration(w.DelaysNS[middle]))
		}
	})
}

// TestInjectedStallChargesWhatWasDueInIt: on all transports at once no tick that was
// due in the stall comes before its end, so that the latencies fall linearly from its
// length, and are the tail of the run.
func TestInjectedStallChargesWhatWasDueInIt(t *testing.T) {
	const every, ticks = 10 * time.Millisecond, 160
	length := time.Second
	v, injector := faultyVenue(t, fault.Options{Stalls: []fault.Planned{{At: 300 * time.Millisecond, Length: length}}}, "AAA")
	var rows []string
	var journals []*journal
	for i := range transports {
		for _, enc := range wire.Encodings() {
			j := newJournal()
			if _, err := open(t, v, &transports[i], enc, j, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
				t.Fatal(err)
			}
			j.await(t, "the answer", func(j *journal) bool { return len(j.messages) >= 2 })
			rows = append(rows, fmt.Sprint(transports[i].name, transports[i].httpVersion, enc))
			journals = append(journals, j)
		}
	}
	start := feed.Now()
	injector.Start(start)
	for i := range ticks {
		due := start + int64(i)*int64(every)
		if err := feed.SleepUntil(t.Context(), due); err != nil {
			t.Fatal(err)
		}
		v.hub.Publish(&feed.Update{Symbol: 0, Quote: true, Origin: feed.OriginSchedule, BidPx: 1e9, BidSz: 1, AskPx: 2e9, AskSz: 1}, due)
	}
	w, err := injector.Window(start, feed.Now())
	if err != nil || len(w.Stalls) != 1 || w.Stalls[0] != (fault.Stall{StartNS: start + int64(300*time.Millisecond), LengthNS: int64(length)}) {
		t.Fatalf("stalls %+v, %v", w.Stalls, err)
	}
	began, end := w.Stalls[0].StartNS, w.Stalls[0].StartNS+w.Stalls[0].LengthNS
	for i, j := range journals {
		j.await(t, "all ticks", func(j *journal) bool { return len(j.ticks("AAA")) == ticks })
		j.mu.Lock()
		var latencies []int64
		for k, m := range j.messages {
			for _, tick := range m.Ticks {
				received := j.stamps[k].ReceivedNS
				latencies = append(latencies, received-tick.DueNS)
				if tick.DueNS >= began && tick.DueNS < end && received < end {
					t.Errorf("%s: a tick that was due %s into the stall came %s before its end", rows[i], time.Duration(tick.DueNS-began), time.Duration(end-received))
				}
			}
		}
		j.mu.Unlock()
		slices.Sort(latencies)
		// The second largest of 160 is p99; the first tick of the stall is due within its first interval.
		if p99 := latencies[len(latencies)*99/100]; p99 < int64(length-2*every) {
			t.Errorf("%s: p99 is %s with a stall of %s", rows[i], time.Duration(p99), length)
		}
	}
}

// TestRunSaysWhatWasInjected has the programs find faults, and tell them from real ones.
func TestRunSaysWhatWasInjected(t *testing.T) {
	_, ready, _ := exchangeProcess(t, "--hold", "--rate=2000", "--symbols=10", "--inject=loss=0.01", "--inject=duplicate=0.01", "--inject=reorder=0.01",
		"--inject=delay=200us", "--inject=stall=100ms@500ms", "--inject-seed=7")
	file := filepath.Join(t.TempDir(), "run.json")
	status, out, errs := program(t, "fleet", "--target="+ready.GRPC, "--debug-target="+ready.Debug, "--streams=20", "--warmup=200ms", "--duration=1s", "--json="+file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	run := readRun(t, file)
	in := run.Injected
	if in == nil || in.Lost == 0 || run.Missed != in.Lost || run.Duplicated != in.Duplicated || run.Reordered != in.Reordered ||
		in.Delayed != run.Received+run.Duplicated || in.Delay == nil || in.Delay.P50 < 199_000 || len(in.Stalls) != 1 || in.Seed != 7 || len(in.Faults) != 5 {
		t.Errorf("run %+v, injected %+v", run, in)
	}
	if reason := fmt.Sprintf("%d deliveries are missing without a word (%[1]d injected)", in.Lost); run.Valid || !slices.Contains(run.Reasons, reason) {
		t.Errorf("valid %v, reasons %q, want %q", run.Valid, run.Reasons, reason)
	}
	control, err := fleet.NewControl(ready.Debug)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := control.Ledger(t.Context(), 1, feed.Now()) // of all that was due
	if err != nil || ledger.Injected == nil {
		t.Fatalf("ledger %+v, %v", ledger, err)
	}
	var sum measure.Injected
	for _, s := range ledger.InjectedSymbols {
		sum.Lost, sum.Duplicated, sum.Reordered, sum.Delayed = sum.Lost+s.Lost, sum.Duplicated+s.Duplicated, sum.Reordered+s.Reordered, sum.Delayed+s.Delayed
	}
	if all := ledger.Injected; len(ledger.InjectedSymbols) != 10 || sum.Lost != all.Lost || sum.Duplicated != all.Duplicated || sum.Reordered != all.Reordered || sum.Delayed != all.Delayed || all.Lost < in.Lost {
		t.Errorf("symbols come to %+v, all to %+v", sum, all)
	}
	if !strings.Contains(out, "injected loss=0.01") {
		t.Errorf("the table does not say what was injected:\n%s", out)
	}
}

// TestShutdownWritesWhatFaultsHoldBack before it ends the streams. Nobody runs the
// injector here, so that nothing else lets go of the ticks.
func TestShutdownWritesWhatFaultsHoldBack(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		injector, err := fault.New(fault.Options{Delay: time.Second, Reorder: 1})
		if err != nil {
			t.Fatal(err)
		}
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{Faults: injector.Queue})
		j := newJournal()
		if _, err := open(t, v, tr, enc, j, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
			t.Fatal(err)
		}
		j.await(t, "the answer", func(j *journal) bool { return len(j.messages) >= 2 })
		v.publish(0, 3)
		v.stop()
		j.await(t, "end", func(j *journal) bool { return j.ended })
		var seqs []uint64
		for _, tick := range j.ticks("AAA") {
			seqs = append(seqs, tick.Seq)
		}
		if !slices.Equal(seqs, []uint64{2, 1, 3}) || j.problem() == nil || j.problem().Code != feed.CodeShuttingDown {
			t.Errorf("ticks %v, then %v; want 2, 1, 3 and the end", seqs, j.problem())
		}
	})
}
