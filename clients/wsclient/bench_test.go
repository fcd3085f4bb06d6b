package wsclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"testing"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// ticker is a socket that answers a handshake and then says one frame for ever.
type ticker struct {
	net.Conn
	t             testing.TB
	asked, answer bytes.Buffer
	subprotocol   string
	frame         []byte
	at            int
}

func (s *ticker) Write(p []byte) (int, error) { return s.asked.Write(p) }
func (s *ticker) Close() error                { return nil }

func (s *ticker) Read(p []byte) (n int, err error) {
	if s.asked.Len() > 0 {
		answerUpgrade(s.t, bufio.NewReader(&s.asked), &s.answer, s.subprotocol)
	}
	if s.answer.Len() > 0 {
		return s.answer.Read(p)
	}
	for n < len(p) {
		c := copy(p[n:], s.frame[s.at:])
		n, s.at = n+c, (s.at+c)%len(s.frame)
	}
	return n, nil
}

// BenchmarkReceive is what a message costs above the socket.
func BenchmarkReceive(b *testing.B) {
	for _, enc := range wire.Encodings() {
		for _, n := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", enc, n), func(b *testing.B) {
				s := &ticker{t: b}
				d, err := New("venue.invalid:1", Options{Encoding: enc,
					DialContext: func(context.Context, int) (net.Conn, error) { return s, nil }})
				if err != nil {
					b.Fatal(err)
				}
				m := feed.Message{}
				for range n {
					m.Ticks = append(m.Ticks, feed.Tick{Symbol: "BTCUSDT", Seq: 123456, HubSeq: 12345678, DueNS: 1e15, PublishNS: 1e15,
						ExchangeTSNS: 1.7e18, BidPx: 61837.63e9, BidSz: 1e7, AskPx: 61837.64e9, AskSz: 2e7, Origin: feed.OriginSchedule})
				}
				payload, err := wire.AppendMessage(nil, enc, &m)
				if err != nil {
					b.Fatal(err)
				}
				s.subprotocol = d.subprotocol
				s.frame = append(s.frame, 0x80|byte(d.frames))
				if len(payload) < 126 {
					s.frame = append(s.frame, byte(len(payload)))
				} else {
					s.frame = binary.BigEndian.AppendUint16(append(s.frame, 126), uint16(len(payload)))
				}
				s.frame = append(s.frame, payload...)
				c, err := d.dial(context.Background(), 0, nil)
				if err != nil {
					b.Fatal(err)
				}
				var got clients.Delivery
				b.ReportAllocs()
				for b.Loop() {
					if err := c.receive(&got); err != nil || len(got.Message.Ticks) != n {
						b.Fatalf("%d ticks, %v", len(got.Message.Ticks), err)
					}
				}
				_ = c.ws.CloseNow()
			})
		}
	}
}
