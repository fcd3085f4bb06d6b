package grpcserver

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// lent is a MarketData whose handler lends its stream to a benchmark.
type lent struct {
	pb.UnimplementedMarketDataServer
	streams chan grpc.ServerStream
	done    chan struct{}
}

func (l *lent) Subscribe(stream grpc.BidiStreamingServer[pb.SubscribeRequest, pb.MarketDataMessage]) error {
	l.streams <- stream
	<-l.done
	return nil
}

// The types of HTTP/2 frames, and the window of the benchmark's client.
const (
	frameData, frameHeaders, frameSettings, frameWindowUpdate = 0, 1, 4, 8
	wideWindow                                                = 1 << 30
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	out := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(out, stream), payload...)
}

func windowUpdate(stream, increment uint32) []byte {
	return frame(frameWindowUpdate, 0, stream, binary.BigEndian.AppendUint32(nil, increment))
}

// subscribeFrames are what a client of one Subscribe says to begin with.
func subscribeFrames(contentType string) []byte {
	literal := func(dst []byte, name, value string) []byte {
		dst = append(append(dst, 0, byte(len(name))), name...)
		return append(append(dst, byte(len(value))), value...)
	}
	headers := literal([]byte{0x83, 0x86}, ":path", pb.MarketData_Subscribe_FullMethodName) // POST, http
	headers = literal(literal(headers, ":authority", "venue"), "content-type", contentType)
	const initialWindowSize, endHeaders = 4, 4
	out := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	out = append(out, frame(frameSettings, 0, 0, binary.BigEndian.AppendUint32([]byte{0, initialWindowSize}, wideWindow))...)
	out = append(out, windowUpdate(0, wideWindow)...)
	return append(out, frame(frameHeaders, endHeaders, 1, headers)...)
}

// discard reads frames until the connection closes, and now and then grants
// again what it has read.
func discard(c net.Conn) {
	in := bufio.NewReaderSize(c, 256<<10)
	var head [9]byte
	for read := 0; ; {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		size := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if _, err := in.Discard(size); err != nil {
			return
		}
		if head[3] == frameData {
			read += size
		}
		if read > wideWindow/4 {
			if _, err := c.Write(append(windowUpdate(0, uint32(read)), windowUpdate(1, uint32(read))...)); err != nil {
				return
			}
			read = 0
		}
	}
}

// BenchmarkWriteTicks is what the goroutine of a session does for the ticks that
// are ready: SendMsg, over loopback to a client that throws everything away. The
// allocations are the server's alone.
func BenchmarkWriteTicks(b *testing.B) {
	tick := feed.Tick{Symbol: "SYM001", Seq: 12345, HubSeq: 1234567, DueNS: 123_456_789_012_345, PublishNS: 123_456_789_112_345,
		ExchangeTSNS: 1_767_225_600_000_000_001, BidPx: 61837_630000000, BidSz: 1_50000000, AskPx: 61837_640000000, AskSz: 2_50000000,
		Origin: feed.OriginSchedule}
	for _, enc := range []struct {
		name, contentType string
		hub               int
	}{{"protobuf", "application/grpc", wire.TickProtobuf}, {"json", "application/grpc+json", wire.TickJSON}} {
		encoded := wire.HubEncoders()[enc.hub](nil, "", &tick)
		for _, n := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/ticks=%d", enc.name, n), func(b *testing.B) {
				w := writer{lend(b, enc.contentType)}
				ticks := make([][]byte, n)
				for i := range ticks {
					ticks[i] = encoded
				}
				b.ReportAllocs()
				b.SetBytes(int64(n * len(encoded)))
				for b.Loop() {
					if err := w.WriteTicks(ticks); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func lend(b *testing.B, contentType string) grpc.ServerStream {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	l := &lent{streams: make(chan grpc.ServerStream), done: make(chan struct{})}
	server := grpc.NewServer()
	pb.RegisterMarketDataServer(server, l)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	c, err := new(net.Dialer).DialContext(context.Background(), "tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		discard(c)
	}()
	b.Cleanup(func() {
		_ = c.Close()
		close(l.done)
		server.Stop()
		<-read
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	if _, err := c.Write(subscribeFrames(contentType)); err != nil {
		b.Fatal(err)
	}
	return <-l.streams
}
