package wsserver

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// sink is a socket that takes everything at once and counts the writes.
type sink struct {
	net.Conn
	writes int
}

func (s *sink) Write(p []byte) (int, error) { s.writes++; return len(p), nil }
func (s *sink) Close() error                { return nil }

// sinkWriter is a response whose connection is a sink.
type sinkWriter struct {
	*httptest.ResponseRecorder
	sink *sink
}

func (w sinkWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.sink, bufio.NewReadWriter(bufio.NewReader(w.sink), bufio.NewWriterSize(w.sink, 4<<10)), nil
}

// BenchmarkWriteTicks is what a write of ready ticks costs above the socket.
func BenchmarkWriteTicks(b *testing.B) {
	for _, enc := range wire.Encodings() {
		for _, n := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("%s/%d", enc, n), func(b *testing.B) {
				d := dialectOf(enc)
				r := httptest.NewRequest(http.MethodGet, wire.WebSocketPath, nil)
				r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
					"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
				socket := &sink{}
				ws, err := websocket.Accept(sinkWriter{httptest.NewRecorder(), socket}, r, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = ws.CloseNow() }()
				s := &stream{ws: ws, dialect: d}
				tick := feed.Tick{Symbol: "BTCUSDT", Seq: 123456, HubSeq: 12345678, DueNS: 1e15, PublishNS: 1e15, ExchangeTSNS: 1.7e18,
					BidPx: 61837.63e9, BidSz: 1e7, AskPx: 61837.64e9, AskSz: 2e7, LastPx: 61837.63e9, Origin: feed.OriginSchedule}
				encoded := wire.HubEncoders()[d.ticks](nil, "", &tick)
				ticks := make([][]byte, n)
				for i := range ticks {
					ticks[i] = encoded
				}
				socket.writes = 0
				b.ReportAllocs()
				for b.Loop() {
					if err := s.WriteTicks(ticks); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(socket.writes)/float64(b.N), "writes/op")
				b.ReportMetric(float64(n*len(encoded)), "payload-B/op")
			})
		}
	}
}
