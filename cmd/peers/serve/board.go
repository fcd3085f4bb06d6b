package serve

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// board keeps the subscribers of each symbol. Any goroutine may use it.
type board[S comparable] struct {
	mu    sync.Mutex
	lists [][]S
}

func newBoard[S comparable](symbols int) *board[S] { return &board[S]{lists: make([][]S, symbols)} }

func (b *board[S]) add(symbol int, s S) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lists[symbol] = append(b.lists[symbol], s)
}

func (b *board[S]) remove(symbol int, s S) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.lists[symbol]
	for i := range list {
		if list[i] == s {
			var none S
			last := len(list) - 1
			list[i], list[last] = list[last], none
			b.lists[symbol] = list[:last]
			return
		}
	}
}

// each calls f, which must not block for long, for each subscriber of a symbol.
func (b *board[S]) each(symbol int, f func(S)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.lists[symbol] {
		f(s)
	}
}

// queue is what waits for one subscriber that has a goroutine of its own.
type queue chan *Tick

// queuePlaces is how many ticks may wait for a subscriber.
const queuePlaces = 64

// queues hands ticks to subscribers that have a goroutine each.
type queues struct {
	*board[queue]
	market *Market
}

func newQueues(m *Market) queues { return queues{newBoard[queue](len(m.names)), m} }

// join returns a queue that gets the symbols' ticks until leave is called.
func (q queues) join(symbols []int) (mine queue, leave func()) {
	mine = make(queue, queuePlaces)
	for _, i := range symbols {
		q.add(i, mine)
	}
	return mine, func() {
		for _, i := range symbols {
			q.remove(i, mine)
		}
	}
}

// Publish is Peer's.
func (q queues) Publish(t *Tick) {
	q.each(t.Index, func(s queue) {
		select {
		case s <- t:
		default:
			q.market.dropped.Add(1)
		}
	})
}

// fan hands ticks to subscribers from a few goroutines, each of which has its
// part of them.
type fan[S comparable] struct {
	shards []*shard[S]
	each   func(part []S, t *Tick) // sends without waiting; one goroutine a part
}

type shard[S comparable] struct {
	*board[S]
	ticks chan *Tick
}

func newFan[S comparable](symbols int, each func(part []S, t *Tick)) *fan[S] {
	f := &fan[S]{each: each}
	for range max(2, runtime.NumCPU()) {
		f.shards = append(f.shards, &shard[S]{newBoard[S](symbols), make(chan *Tick, 1024)})
	}
	return f
}

// of returns the shard of the key; the same key has to remove what it added.
func (f *fan[S]) of(key int) *shard[S] { return f.shards[key%len(f.shards)] }

// Publish is Peer's. It waits where a writer is 1,024 ticks behind.
func (f *fan[S]) Publish(t *Tick) {
	for _, s := range f.shards {
		s.ticks <- t
	}
}

// run writes until ctx is done.
func (f *fan[S]) run(ctx context.Context, g *errgroup.Group) {
	for _, s := range f.shards {
		g.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case t := <-s.ticks:
					s.mu.Lock()
					f.each(s.lists[t.Index], t)
					s.mu.Unlock()
				}
			}
		})
	}
}
