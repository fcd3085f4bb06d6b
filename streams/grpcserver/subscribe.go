package grpcserver

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

type marketData struct {
	pb.UnimplementedMarketDataServer
	exchange *streams.Exchange
	running  sync.WaitGroup // the goroutines of the streams
}

// Subscribe runs one session. Reading and writing have a goroutine each, and the
// handler waits for the session to end.
//
// Where the session must end at once while its SendMsg is blocked, for the client
// grants no more of its window, the handler returns before that SendMsg has. This
// is how grpc-go wants it: returning is the only way for a server to cancel a
// stream, and its maintainers' answer to a SendMsg that takes too long (issues
// 1229 and 3909). The status that a return writes ends the stream under the lock
// of the headers and cancels its context, which frees SendMsg and RecvMsg with an
// error; a message that was let in at that very moment is thrown away, since the
// stream is no longer known. So the goroutines end soon after the handler, and
// the server waits for them. Only grpc-go's binary log, which nobody sets here,
// looks at the stream without a lock.
func (m *marketData) Subscribe(stream grpc.BidiStreamingServer[pb.SubscribeRequest, pb.MarketDataMessage]) error {
	ctx := stream.Context()
	md, _ := metadata.FromIncomingContext(ctx)
	enc, err := encodingOf(md)
	if err != nil {
		return m.refuse(err)
	}
	encoding := wire.TickProtobuf
	if enc == wire.JSON {
		encoding = wire.TickJSON
	}
	session, err := m.exchange.Open(ctx, encoding)
	if err != nil {
		return m.refuse(err)
	}
	// Headers at once: a client may wait for them before it sends its first request.
	if err := stream.SendHeader(nil); err != nil {
		session.Close()
		return err
	}
	m.running.Go(func() {
		// A client that closes its side has said all it wants; the stream goes on.
		if err := m.read(stream, session); !errors.Is(err, io.EOF) {
			session.End(err)
		}
	})
	m.running.Go(func() {
		session.End(session.Run(writer{stream}))
		session.Close()
	})
	<-session.Context().Done()
	return wire.GRPCStatus(context.Cause(session.Context()))
}

// read returns why reading ended: io.EOF where the client closed its side. A
// message that is no request is answered with a problem, and the stream goes on.
func (m *marketData) read(stream grpc.ServerStream, session *streams.Session) error {
	for {
		var asked wire.Asked
		if err := stream.RecvMsg(&asked); err != nil {
			return m.unreceived(err)
		}
		err := asked.Err
		switch {
		case err != nil:
			err = session.Refuse(&feed.Problem{Code: feed.CodeBadRequest, Message: err.Error()})
		case asked.Order.Action != order.ActionNone:
			err = session.Order(&asked.Order)
		default:
			err = session.Handle(&asked.Request)
		}
		if err != nil {
			return err
		}
	}
}

// unreceived puts why RecvMsg failed into a problem where the message was too large.
func (m *marketData) unreceived(err error) error {
	if s, ok := status.FromError(err); ok && s.Code() == codes.ResourceExhausted {
		m.exchange.CountProblem()
		return &feed.Problem{Code: feed.CodeTooLarge, Message: s.Message(), Fatal: true}
	}
	return err
}

type writer struct{ stream grpc.ServerStream }

func (w writer) WriteMessage(m *feed.Message) error { return w.stream.SendMsg(m) }

func (w writer) WriteExecution(e *order.Execution) error {
	return w.stream.SendMsg(&wire.StreamMessage{Execution: e})
}

func (w writer) WriteTicks(ticks [][]byte) error { return w.stream.SendMsg(wire.Ready(ticks)) }
