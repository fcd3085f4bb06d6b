package serve

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/feed/synth"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Market is what a peer knows of the exchange that it stands for. Any goroutine
// may use it.
type Market struct {
	hub     *feed.Hub
	names   []string
	indices map[string]int
	source  feed.Source

	dropped atomic.Int64 // ticks that a subscriber had no room for
}

// NewMarket returns a market whose ticks are those of an exchange with as many
// synthetic symbols, the same rate and the same seed.
func NewMarket(symbols int, rate float64) (*Market, error) {
	source, err := synth.New(synth.Options{Symbols: symbols, Rate: rate, Seed: 1})
	if err != nil {
		return nil, err
	}
	hub, err := feed.NewHub(source.Symbols(), feed.HubOptions{Ring: 1})
	if err != nil {
		return nil, err
	}
	m := &Market{hub: hub, source: source, indices: make(map[string]int)}
	for i, s := range source.Symbols() {
		m.names = append(m.names, s.Name)
		m.indices[s.Name] = i
	}
	return m, nil
}

// index returns the place of a symbol; an unknown one is an error.
func (m *Market) index(symbol string) (int, error) {
	i, ok := m.indices[symbol]
	if !ok {
		return 0, fmt.Errorf("symbol %q is not listed", symbol)
	}
	return i, nil
}

func (m *Market) subscribedIndices(symbols []string) ([]int, error) {
	out := make([]int, len(symbols))
	for k, s := range symbols {
		i, err := m.index(s)
		if err != nil {
			return nil, err
		}
		out[k] = i
	}
	return out, nil
}

func (m *Market) hello() *feed.Message {
	return &feed.Message{Hello: &feed.Hello{Version: "peer", Epoch: m.hub.Epoch(), BootID: feed.BootID(),
		WallOffsetNS: feed.WallOffset(), HeartbeatInterval: time.Minute}}
}

func (m *Market) subscribed(symbols []int) *feed.Message {
	s := &feed.Subscribed{Policy: feed.PolicyConflate}
	last := m.hub.LastSeqs()
	for _, i := range symbols {
		s.Symbols = append(s.Symbols, feed.SymbolSeq{Symbol: m.names[i], Seq: last[i]})
	}
	return &feed.Message{Subscribed: s}
}

// message returns m as a MarketDataMessage in protobuf.
func message(m *feed.Message) []byte {
	b, err := wire.AppendMessage(nil, wire.Protobuf, m)
	if err != nil {
		panic("serve: " + err.Error()) // the messages are our own
	}
	return b
}

// event returns m as an SSE event, protobuf in base64.
func event(m *feed.Message) []byte {
	b, err := wire.AppendEvent(nil, wire.Protobuf, m)
	if err != nil {
		panic("serve: " + err.Error())
	}
	return b
}

// subscribe reads a SubscribeRequest in protobuf that subscribes.
func (m *Market) subscribe(b []byte) ([]int, error) {
	var q feed.Request
	if err := wire.UnmarshalRequest(wire.Protobuf, b, &q); err != nil {
		return nil, err
	}
	if q.Subscribe == nil {
		return nil, fmt.Errorf("a request that is no subscribe")
	}
	return m.subscribedIndices(q.Subscribe.Symbols)
}
