package serve

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/proto/wire"
)

// floors are the peers that are written by hand.
func floors() []Row {
	return []Row{
		{"floor", "ready bytes behind their length, one write a delivery", wire.TickProtobuf, newFloor},
		{"floor-shared", "ready bytes behind length and stream number, many streams a connection", wire.TickProtobuf, newFloorShared},
		{"http2-floor", "HTTP/2 DATA frames of gRPC messages by hand, any number of streams a connection", wire.TickProtobuf, newHTTP2Floor},
	}
}

// The frames of the floors: four bytes of length, big-endian, the payload. On
// shared connections four bytes of stream number follow the length, which counts
// them. The client asks with a SubscribeRequest in such a frame, and is answered
// with hello and subscribed in one each.

const maxFloorFrame = 1 << 16

var errFloorFrame = errors.New("floor: a frame that is too long or too short")

// outlet is one connection's streams of one symbol.
type outlet struct {
	conn    *conn
	streams []uint32
}

type floor struct {
	market *Market
	fan    *fan[*outlet]
	shared bool
}

func newFloor(m *Market) Peer       { return newFloorOf(m, false) }
func newFloorShared(m *Market) Peer { return newFloorOf(m, true) }

func newFloorOf(m *Market, shared bool) Peer {
	f := &floor{market: m, shared: shared}
	f.fan = newFan(len(m.names), f.each)
	return f
}

// Serve is Peer's.
func (f *floor) Serve(ctx context.Context, ln net.Listener) error {
	g, ctx := errgroup.WithContext(ctx)
	f.fan.run(ctx, g)
	g.Go(func() error {
		return serveSockets(ctx, ln, func(c *conn) session {
			return &floorSession{floor: f, conn: c, shard: f.fan.of(c.fd), outlets: make(map[int]*outlet)}
		})
	})
	return g.Wait()
}

// Publish is Peer's: the own connections' frame is built once.
func (f *floor) Publish(t *Tick) {
	if !f.shared {
		t.Bytes = append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(t.Bytes)), uint32(len(t.Bytes))), t.Bytes...)
	}
	f.fan.Publish(t)
}

func (f *floor) each(part []*outlet, t *Tick) {
	if !f.shared {
		for _, o := range part {
			if !o.conn.write(t.Bytes) {
				f.market.dropped.Add(1)
			}
		}
		return
	}
	var room [4 << 10]byte
	frames := room[:0]
	for _, o := range part {
		frames = frames[:0]
		for _, stream := range o.streams {
			frames = appendSharedFrame(frames, stream, t.Bytes)
		}
		if !o.conn.write(frames) {
			f.market.dropped.Add(int64(len(o.streams)))
		}
	}
}

func appendSharedFrame(dst []byte, stream uint32, b []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+len(b)))
	dst = binary.BigEndian.AppendUint32(dst, stream)
	return append(dst, b...)
}

type floorSession struct {
	floor   *floor
	conn    *conn
	shard   *shard[*outlet]
	outlets map[int]*outlet // by symbol
	in      []byte          // the start of a frame
}

func (s *floorSession) data(b []byte) error {
	s.in = append(s.in, b...)
	rest := s.in
	for len(rest) >= 4 {
		n := binary.BigEndian.Uint32(rest)
		if n > maxFloorFrame || s.floor.shared && n < 4 {
			return errFloorFrame
		}
		if uint32(len(rest)-4) < n {
			break
		}
		if err := s.ask(rest[4 : 4+n]); err != nil {
			return err
		}
		rest = rest[4+n:]
	}
	if s.in = slices.Clone(rest); len(rest) == 0 {
		s.in = nil
	}
	return nil
}

func (s *floorSession) ask(frame []byte) error {
	stream := uint32(0)
	if s.floor.shared {
		stream, frame = binary.BigEndian.Uint32(frame), frame[4:]
	}
	symbols, err := s.floor.market.subscribe(frame)
	if err != nil {
		return err
	}
	var answer []byte
	for _, m := range [][]byte{message(s.floor.market.hello()), message(s.floor.market.subscribed(symbols))} {
		if s.floor.shared {
			answer = appendSharedFrame(answer, stream, m)
		} else {
			answer = append(binary.BigEndian.AppendUint32(answer, uint32(len(m))), m...)
		}
	}
	s.conn.write(answer)
	for _, i := range symbols {
		s.shard.mu.Lock()
		o := s.outlets[i]
		if o != nil {
			o.streams = append(o.streams, stream)
		}
		s.shard.mu.Unlock()
		if o == nil {
			o = &outlet{s.conn, []uint32{stream}}
			s.outlets[i] = o
			s.shard.add(i, o)
		}
	}
	return nil
}

func (s *floorSession) left() {
	for i, o := range s.outlets {
		s.shard.remove(i, o)
	}
}
