package fleet

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
)

// venue is an exchange without a network: its connections deliver straight to
// the sink, with stamps that make every latency ten seconds, so that no busy
// machine makes a run invalid.
type venue struct {
	symbols []string
	every   time.Duration // between ticks, which go over the symbols in turn

	// Hooks, which may be nil: dial and open may wait and refuse, answer refuses
	// after the hello; deliver says whether a stream gets a tick, and cut what it
	// breaks with instead; ledger may refuse.
	dial    func(ctx context.Context, conn int) error
	open    func(ctx context.Context, stream int) error
	answer  func(stream int) error
	deliver func(stream int, seq uint64) bool
	cut     func(stream int, seq uint64) error
	ledger  func() error

	mu       sync.Mutex
	advanced *sync.Cond              // next has
	next     int64                   // due of the tick that comes next
	dialled  []int                   // connections, in the order of dialling
	requests map[int]feed.Subscribe  // by stream
	streams  map[int]*venueStream    // those open
	closed   []int                   // connections, in the order of closing
	answered atomic.Bool             // the ledger was asked for and told
	schedule []feed.Tick             // what was published
	source   *sync.WaitGroup         // nil until it runs
	stop     context.CancelCauseFunc // of the source
}

type venueStream struct {
	id     int
	conn   *venueConn
	symbol []string
}

type venueConn struct {
	*venue
	number int
	sink   clients.Sink
}

const (
	latency    = 10 * time.Second
	decodeTime = time.Microsecond
)

func newVenue(t *testing.T, symbols int) *venue {
	v := &venue{every: time.Millisecond, requests: map[int]feed.Subscribe{}, streams: map[int]*venueStream{}}
	v.advanced = sync.NewCond(&v.mu)
	for i := range symbols {
		v.symbols = append(v.symbols, fmt.Sprintf("SYM%03d", i+1))
	}
	t.Cleanup(func() {
		if v.source != nil {
			v.stop(nil)
			v.source.Wait()
		}
	})
	return v
}

func (v *venue) Dial(ctx context.Context, conn int, sink clients.Sink) (clients.Conn, error) {
	if v.dial != nil {
		if err := v.dial(ctx, conn); err != nil {
			return nil, err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dialled = append(v.dialled, conn)
	return &venueConn{venue: v, number: conn, sink: sink}, nil
}

func (c *venueConn) Open(ctx context.Context, stream int, req feed.Subscribe) error {
	if c.open != nil {
		if err := c.open(ctx, stream); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[stream] = req
	s := &venueStream{id: stream, conn: c, symbol: req.Symbols}
	s.say(feed.Message{Hello: &feed.Hello{BootID: feed.BootID(), Version: "v1"}})
	if c.answer != nil {
		if err := c.answer(stream); err != nil {
			return err
		}
	}
	subscribed := &feed.Subscribed{}
	for _, symbol := range req.Symbols {
		subscribed.Symbols = append(subscribed.Symbols, feed.SymbolSeq{Symbol: symbol, Seq: c.seqs()[symbol]})
	}
	s.say(feed.Message{Subscribed: subscribed})
	s.say(feed.Message{Snapshot: &feed.Snapshot{Tick: feed.Tick{Symbol: req.Symbols[0]}}})
	c.streams[stream] = s
	return nil
}

func (s *venueStream) say(m feed.Message) {
	d := &clients.Delivery{Stream: s.id, ReceivedNS: feed.Now(), Message: m}
	if len(m.Ticks) > 0 {
		d.ReceivedNS = m.Ticks[0].DueNS + int64(latency)
	}
	d.DecodedNS = d.ReceivedNS + int64(decodeTime)
	s.conn.sink.Deliver(d)
}

func (c *venueConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = append(c.closed, c.number)
	for id, s := range c.streams {
		if s.conn == c {
			c.sink.Ended(id, nil)
			delete(c.streams, id)
		}
	}
	return nil
}

// breakStream ends a stream as a cut connection does.
func (v *venue) breakStream(id int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.streams[id]; s != nil {
		s.conn.sink.Ended(id, err)
		delete(v.streams, id)
	}
}

// seqs returns the last sequence of each symbol.
func (v *venue) seqs() map[string]uint64 {
	last := map[string]uint64{}
	for _, t := range v.schedule {
		last[t.Symbol] = t.Seq
	}
	return last
}

// run publishes from start on, until stop or, where that is 0, the end of the
// test. It reports false where the source runs already.
func (v *venue) run(start, stop int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.source != nil {
		return false
	}
	var ctx context.Context
	ctx, v.stop = context.WithCancelCause(context.Background())
	v.source = new(sync.WaitGroup)
	v.source.Go(func() {
		defer v.advance(math.MaxInt64)
		seqs := make([]uint64, len(v.symbols))
		for i := 0; ; i++ {
			due := start + int64(i)*int64(v.every)
			v.advance(due)
			if stop != 0 && due >= stop || feed.SleepUntil(ctx, due) != nil {
				return
			}
			n := i % len(v.symbols)
			seqs[n]++
			v.publish(feed.Tick{Symbol: v.symbols[n], Seq: seqs[n], DueNS: due, PublishNS: due, Origin: feed.OriginSchedule})
		}
	})
	return true
}

func (v *venue) advance(next int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next = next
	v.advanced.Broadcast()
}

func (v *venue) publish(t feed.Tick) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.schedule = append(v.schedule, t)
	for id, s := range v.streams {
		if !slices.Contains(s.symbol, t.Symbol) || v.deliver != nil && !v.deliver(id, t.Seq) {
			continue
		}
		if v.cut != nil {
			if err := v.cut(id, t.Seq); err != nil {
				s.conn.sink.Ended(id, err)
				delete(v.streams, id)
				continue
			}
		}
		s.say(feed.Message{Ticks: []feed.Tick{t}})
	}
}
