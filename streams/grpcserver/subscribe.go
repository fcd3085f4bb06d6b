package grpcserver

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

type marketData struct {
	pb.UnimplementedMarketDataServer
	exchange *streams.Exchange
}

// Subscribe runs one session. Reading and writing have a goroutine each, and the
// handler waits for the session to end: its return is the only thing that frees
// a SendMsg or RecvMsg that is blocked.
func (m *marketData) Subscribe(stream grpc.BidiStreamingServer[pb.SubscribeRequest, pb.MarketDataMessage]) error {
	ctx := stream.Context()
	md, _ := metadata.FromIncomingContext(ctx)
	enc, err := encodingOf(md)
	if err != nil {
		return err
	}
	encoding := wire.TickProtobuf
	if enc == wire.JSON {
		encoding = wire.TickJSON
	}
	session, err := m.exchange.Open(ctx, encoding)
	if err != nil {
		return wire.GRPCStatus(err)
	}
	defer session.Close()
	// Headers at once: a client may wait for them before it sends its first request.
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	go func() {
		// A client that closes its side has said all it wants; the stream goes on.
		if err := read(stream, session); !errors.Is(err, io.EOF) {
			session.End(err)
		}
	}()
	wrote := make(chan error, 1)
	go func() { wrote <- session.Run(writer{stream}) }()
	select {
	case err = <-wrote:
	case <-session.Context().Done():
		err = context.Cause(session.Context())
	}
	return wire.GRPCStatus(err)
}

// read returns why reading ended: io.EOF where the client closed its side. A
// message that is no request is answered with a problem, and the stream goes on.
func read(stream grpc.ServerStream, session *streams.Session) error {
	for {
		var asked wire.Asked
		if err := stream.RecvMsg(&asked); err != nil {
			if s, ok := status.FromError(err); ok && s.Code() == codes.ResourceExhausted {
				return &feed.Problem{Code: feed.CodeTooLarge, Message: s.Message(), Fatal: true}
			}
			return err
		}
		err := asked.Err
		if err != nil {
			err = session.Refuse(&feed.Problem{Code: feed.CodeBadRequest, Message: err.Error()})
		} else {
			err = session.Handle(&asked.Request)
		}
		if err != nil {
			return err
		}
	}
}

type writer struct{ stream grpc.ServerStream }

func (w writer) WriteMessage(m *feed.Message) error { return w.stream.SendMsg(m) }

func (w writer) WriteTicks(ticks [][]byte) error { return w.stream.SendMsg(wire.Ready(ticks)) }
