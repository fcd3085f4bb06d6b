package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync/atomic"

	"golang.org/x/net/http2/hpack"
	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/cmd/peers/h2"
)

// http2Floor serves MarketData.Subscribe with frames of its own making: ready
// gRPC messages in a DATA frame each, those of one connection in one write.
type http2Floor struct {
	market *Market
	fan    *fan[*http2Outlet]
}

// http2Outlet is one connection's streams of one symbol; under its shard's lock.
type http2Outlet struct {
	session *http2Session
	streams []*http2Stream
}

type http2Stream struct {
	id     uint32
	window atomic.Int64
	in     []byte // of a message that has not come whole
	symbol []int  // nil: not subscribed
}

func newHTTP2Floor(m *Market) Peer {
	f := &http2Floor{market: m}
	f.fan = newFan(len(m.names), f.each)
	return f
}

// Serve is Peer's.
func (f *http2Floor) Serve(ctx context.Context, ln net.Listener) error {
	g, ctx := errgroup.WithContext(ctx)
	f.fan.run(ctx, g)
	g.Go(func() error {
		return serveSockets(ctx, ln, func(c *conn) session {
			s := &http2Session{floor: f, conn: c, shard: f.fan.of(c.fd), preface: len(h2.Preface), initial: h2.DefaultWindow}
			s.window.Store(h2.DefaultWindow)
			return s
		})
	})
	return g.Wait()
}

// Publish is Peer's: the message gets its gRPC prefix once.
func (f *http2Floor) Publish(t *Tick) {
	t.Bytes = appendGRPC(make([]byte, 0, 5+len(t.Bytes)), t.Bytes)
	f.fan.Publish(t)
}

func appendGRPC(dst, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(append(dst, 0), uint32(len(message))), message...)
}

func (f *http2Floor) each(part []*http2Outlet, t *Tick) {
	var room [4 << 10]byte
	frames := room[:0]
	n := int64(len(t.Bytes))
	for _, o := range part {
		frames = frames[:0]
		sent := int64(0)
		for _, s := range o.streams {
			if s.window.Load() < n || o.session.window.Load() < n {
				f.market.dropped.Add(1)
				continue
			}
			s.window.Add(-n)
			o.session.window.Add(-n)
			frames = append(h2.AppendHeader(frames, h2.Data, 0, s.id, int(n)), t.Bytes...)
			sent++
		}
		if !o.session.conn.write(frames) {
			f.market.dropped.Add(sent)
		}
	}
}

// http2Session reads one connection: the client's frames, and from DATA what its streams ask.
type http2Session struct {
	floor   *http2Floor
	conn    *conn
	shard   *shard[*http2Outlet]
	preface int    // bytes of it still to come
	in      []byte // of a frame that has not come whole
	block   []byte // of headers that go on
	hpack   *hpack.Decoder
	streams map[uint32]*http2Stream
	outlets map[int]*http2Outlet
	initial int64 // window of a new stream
	window  atomic.Int64
	out     []byte
}

var (
	errHTTP2     = errors.New("http2 floor: the client broke the protocol")
	errGoingAway = errors.New("http2 floor: the client goes away")
)

const maxHeaderBlock = 16 << 10

func (s *http2Session) data(b []byte) error {
	if s.streams == nil {
		s.streams, s.outlets = make(map[uint32]*http2Stream), make(map[int]*http2Outlet)
		s.hpack = hpack.NewDecoder(4096, nil)
		s.out = h2.AppendSettings(s.out, h2.SettingMaxConcurrentStreams, 1<<20, h2.SettingInitialWindowSize, h2.DefaultWindow)
	}
	if s.preface > 0 {
		n := min(s.preface, len(b))
		if !bytes.Equal([]byte(h2.Preface)[len(h2.Preface)-s.preface:][:n], b[:n]) {
			return errHTTP2
		}
		s.preface -= n
		b = b[n:]
	}
	if len(s.in) > 0 {
		s.in = append(s.in, b...)
		b = s.in
	}
	for {
		f, rest, ok := h2.Next(b)
		if !ok {
			break
		}
		if err := s.frame(f); err != nil {
			return err
		}
		b = rest
	}
	if len(b) > maxFloorFrame {
		return errHTTP2
	}
	if len(b) == 0 {
		s.in = nil
	} else {
		s.in = slices.Clone(b)
	}
	if len(s.out) > 0 {
		s.conn.write(s.out)
		s.out = nil
	}
	return nil
}

func (s *http2Session) frame(f h2.Frame) error {
	switch f.Type {
	case h2.Settings:
		if f.Flags&h2.Ack != 0 {
			return nil
		}
		s.out = h2.AppendFrame(s.out, h2.Frame{Type: h2.Settings, Flags: h2.Ack})
		return f.EachSetting(func(id uint16, value uint32) {
			if id == h2.SettingInitialWindowSize {
				for _, stream := range s.streams {
					stream.window.Add(int64(value) - s.initial)
				}
				s.initial = int64(value)
			}
		})
	case h2.Ping:
		if f.Flags&h2.Ack == 0 {
			s.out = h2.AppendFrame(s.out, h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})
		}
	case h2.WindowUpdate:
		n, err := f.Increment()
		if stream := s.streams[f.Stream]; stream != nil {
			stream.window.Add(n)
		} else if f.Stream == 0 {
			s.window.Add(n)
		}
		return err
	case h2.Headers, h2.Continuation:
		content, err := f.Content()
		if f.Type == h2.Continuation {
			content, err = f.Payload, nil
		}
		if s.block = append(s.block, content...); err != nil || len(s.block) > maxHeaderBlock {
			return errHTTP2
		}
		if f.Flags&h2.EndHeaders != 0 {
			return s.headers(f.Stream)
		}
	case h2.Data:
		return s.body(f)
	case h2.ResetStream:
		s.drop(s.streams[f.Stream])
	case h2.GoAway:
		return errGoingAway
	}
	return nil
}

// headers opens a stream; whatever is asked is taken for a Subscribe.
func (s *http2Session) headers(id uint32) error {
	_, err := s.hpack.DecodeFull(s.block)
	s.block = nil
	if err != nil {
		return err
	}
	if s.streams[id] != nil {
		return nil // trailers
	}
	stream := &http2Stream{id: id}
	stream.window.Store(s.initial)
	s.streams[id] = stream
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	enc.SetMaxDynamicTableSizeLimit(0) // so that every block stands by itself
	_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = enc.WriteField(hpack.HeaderField{Name: "content-type", Value: "application/grpc"})
	s.out = h2.AppendFrame(s.out, h2.Frame{Type: h2.Headers, Flags: h2.EndHeaders, Stream: id, Payload: block.Bytes()})
	s.send(stream, message(s.floor.market.hello()))
	return nil
}

func (s *http2Session) send(stream *http2Stream, message []byte) {
	b := appendGRPC(nil, message)
	stream.window.Add(-int64(len(b)))
	s.window.Add(-int64(len(b)))
	s.out = h2.AppendFrame(s.out, h2.Frame{Type: h2.Data, Stream: stream.id, Payload: b})
}

func (s *http2Session) body(f h2.Frame) error {
	content, err := f.Content()
	if err != nil {
		return err
	}
	if n := len(f.Payload); n > 0 {
		s.out = h2.AppendWindowUpdate(s.out, 0, uint32(n))
	}
	stream := s.streams[f.Stream]
	if stream == nil {
		return nil // reset before
	}
	if stream.in = append(stream.in, content...); len(stream.in) > maxFloorFrame {
		return errHTTP2
	}
	for len(stream.in) >= 5 && len(stream.in)-5 >= int(binary.BigEndian.Uint32(stream.in[1:])) {
		n := 5 + int(binary.BigEndian.Uint32(stream.in[1:]))
		if err := s.ask(stream, stream.in[5:n]); err != nil {
			return err
		}
		stream.in = stream.in[n:]
	}
	if len(stream.in) == 0 {
		stream.in = nil
	}
	if f.Flags&h2.EndStream != 0 {
		s.drop(stream)
	}
	return nil
}

func (s *http2Session) ask(stream *http2Stream, request []byte) error {
	symbols, err := s.floor.market.subscribe(request)
	if err != nil {
		return err
	}
	s.send(stream, message(s.floor.market.subscribed(symbols)))
	s.conn.write(s.out) // before any tick
	s.out = nil
	stream.symbol = append(stream.symbol, symbols...)
	for _, i := range symbols {
		s.shard.mu.Lock()
		o := s.outlets[i]
		if o != nil {
			o.streams = append(o.streams, stream)
		}
		s.shard.mu.Unlock()
		if o == nil {
			o = &http2Outlet{s, []*http2Stream{stream}}
			s.outlets[i] = o
			s.shard.add(i, o)
		}
	}
	return nil
}

func (s *http2Session) drop(stream *http2Stream) {
	if stream == nil {
		return
	}
	delete(s.streams, stream.id)
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	for _, i := range stream.symbol {
		o := s.outlets[i]
		o.streams = slices.DeleteFunc(o.streams, func(other *http2Stream) bool { return other == stream })
	}
}

func (s *http2Session) left() {
	for i, o := range s.outlets {
		s.shard.remove(i, o)
	}
}
