package feed

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// jsonShape encodes about as many bytes as the wire's JSON has, without
// allocating where dst has room.
func jsonShape(dst []byte, epoch string, t *Tick) []byte {
	dst = append(dst, `{"tick":{"symbol":"`...)
	dst = append(dst, t.Symbol...)
	for _, px := range []Price{t.BidPx, t.AskPx, t.LastPx} {
		dst = append(dst, `","px":"`...)
		dst = px.Append(dst)
	}
	dst = append(dst, `","cursor":"`...)
	return append(Cursor{Epoch: epoch, HubSeq: t.HubSeq}.Append(dst), `"}}`...)
}

// fan is a hub with subscriptions, and the means to publish and drain.
type fan struct {
	hub   *Hub
	subs  [][]*Subscription // by symbol
	batch Batch
	next  int
}

func newFan(t failer, symbols, subscriptionsEach int) *fan {
	f := &fan{hub: newHub(t, symbols, HubOptions{Encoders: []Encoder{jsonShape}})}
	for i := range symbols {
		var subs []*Subscription
		for range subscriptionsEach {
			subs = append(subs, subscribed(t, f.hub, 0, Subscribe{Symbols: []string{symbolName(i)}}))
		}
		f.subs = append(f.subs, subs)
	}
	return f
}

// step publishes a tick of the next symbol and takes it from all its subscriptions.
func (f *fan) step(t failer) {
	symbol := f.next % len(f.subs)
	f.next++
	f.hub.Publish(&Update{Symbol: symbol, Quote: true, BidPx: 61_837_630_000_000, AskPx: 61_837_640_000_000, ExchangeTSNS: 1}, 1)
	for _, s := range f.subs[symbol] {
		<-s.Ready()
		if err := s.Take(&f.batch, 16); err != nil || len(f.batch.Frames) != 1 || len(s.Encoded(f.batch.Frames[0])) == 0 {
			t.Fatalf("took %d ticks, %v, want one", len(f.batch.Frames), err)
		}
	}
}

// BenchmarkPublish publishes to subscriptions that are drained after each tick:
// W1 has 10,000 of one symbol each on 100 symbols, W2 has all on one symbol.
func BenchmarkPublish(b *testing.B) {
	for _, c := range []struct {
		name          string
		symbols, each int
	}{{"W1", 100, 100}, {"W2", 1, 10_000}} {
		b.Run(fmt.Sprintf("%s/%dsubscribers", c.name, c.each), func(b *testing.B) {
			f := newFan(b, c.symbols, c.each)
			for range 2 * 256 * c.symbols { // until the rings are full
				f.hub.Publish(&Update{Symbol: f.next % c.symbols, ExchangeTSNS: 1}, 1)
				f.next++
			}
			for range c.symbols {
				for _, s := range f.subs[f.next%c.symbols] {
					_ = s.Take(&f.batch, 1000)
				}
				f.next++
			}
			b.ReportAllocs()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				f.step(b)
			}
			runtime.ReadMemStats(&after)
			deliveries := float64(b.N) * float64(c.each)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/deliveries, "allocs/delivery")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/deliveries, "ns/delivery")
		})
	}
}

// BenchmarkPublishToSlow publishes to a full queue, where the policy acts on each
// tick and conflate looks for what a newer tick supersedes.
func BenchmarkPublishToSlow(b *testing.B) {
	for _, policy := range []Policy{PolicyConflate, PolicyDropOldest} {
		for _, symbols := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%dsymbols", policyNames[policy], symbols), func(b *testing.B) {
				h := newHub(b, symbols, HubOptions{Ring: 1, Encoders: []Encoder{jsonShape}})
				names := make([]string, symbols)
				for i := range names {
					names[i] = symbolName(i)
				}
				s := subscribed(b, h, 0, Subscribe{Symbols: names, Policy: policy})
				rnd := rand.New(rand.NewPCG(1, 2))
				tick := func() { h.Publish(&Update{Symbol: rnd.IntN(symbols), ExchangeTSNS: 1}, 1) }
				for s.Waiting() < max(DefaultQueue, symbols) {
					tick()
				}
				b.ReportAllocs()
				for b.Loop() {
					tick()
				}
			})
		}
	}
}

// BenchmarkResume resumes from the beginning of full rings.
func BenchmarkResume(b *testing.B) {
	h := newHub(b, 1, HubOptions{Epoch: "e", Encoders: []Encoder{jsonShape}})
	for range 256 {
		h.Publish(&Update{ExchangeTSNS: 1}, 1)
	}
	for _, behind := range []uint64{0, 1, 256} {
		b.Run(fmt.Sprintf("%dticks", behind), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := subscription(b, h, SubscriptionOptions{})
				if err := s.Subscribe(Subscribe{Symbols: []string{"A"}, Cursor: Cursor{"e", 256 - behind}.String()}); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
		})
	}
}

// TestDeliveriesDoNotAllocate allows a tick its frame and its encoding, and a
// delivery nothing.
func TestDeliveriesDoNotAllocate(t *testing.T) {
	const perTick = 4 // the frame, its list of encodings, the bytes, and their pointer
	for _, subscriptions := range []int{0, 1, 100, 1000} {
		f := newFan(t, 1, subscriptions)
		for range 300 { // until the ring and the queues have grown
			f.step(t)
		}
		allowed := float64(perTick)
		if subscriptions == 0 {
			allowed = perTick - 2 // nobody wants it encoded
		}
		if got := testing.AllocsPerRun(200, func() { f.step(t) }); got != allowed {
			t.Errorf("a tick to %d subscriptions allocates %v times, want %v", subscriptions, got, allowed)
		}
	}
}

// TestConflatingDoesNotAllocate has a queue full of one symbol give its places to
// others, for which each time a superseded tick has to be found.
func TestConflatingDoesNotAllocate(t *testing.T) {
	const symbols, queue, perTick = 100, 200, 4
	h := newHub(t, symbols, HubOptions{Ring: 1, Encoders: []Encoder{jsonShape}})
	names := make([]string, symbols)
	for i := range names {
		names[i] = symbolName(i)
	}
	s := subscribed(t, h, queue, Subscribe{Symbols: names})
	var b Batch
	round := func() {
		for i := range queue + symbols - 1 {
			h.Publish(&Update{Symbol: max(0, i-queue+1), ExchangeTSNS: 1}, 1)
		}
		if err := s.Take(&b, queue); err != nil || len(b.Control) != 1 || len(b.Frames) != queue {
			t.Fatalf("took %d messages and %d ticks, %v, want one Skipped and %d", len(b.Control), len(b.Frames), err, queue)
		}
	}
	round()
	want := float64((queue+symbols-1)*perTick + 1) // the Skipped
	if got := testing.AllocsPerRun(20, round); got != want {
		t.Errorf("%d ticks to a queue that fills allocate %v times, want %v", queue+symbols-1, got, want)
	}
}
