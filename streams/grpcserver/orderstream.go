package grpcserver

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// StreamOrders answers each order before it takes the next. Reading and answering
// share a goroutine, and the handler waits as that of Subscribe does.
func (o *orderEntry) StreamOrders(stream grpc.BidiStreamingServer[pb.OrderRequest, pb.Execution]) error {
	return o.serve(stream, o.market.exchange.Closing(), func(session *streams.Session) error {
		for {
			var asked wire.AskedOrder
			if err := stream.RecvMsg(&asked); err != nil {
				return o.market.unreceived(err)
			}
			send := func(e *order.Execution) error {
				return session.Send(func() error { return stream.SendMsg(e) })
			}
			if asked.Err != nil {
				// The stream goes on: its answers come in the order of what was asked.
				o.market.exchange.CountProblem()
				if err := send(unreadable(asked.Err)); err != nil {
					return err
				}
				continue
			}
			if err := session.Answer(&asked.Request, send); err != nil {
				return err
			}
		}
	})
}

// unreadable answers a message that is no order.
func unreadable(err error) *order.Execution {
	p := feed.Problem{Message: err.Error()}
	return &order.Execution{ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: order.RejectBadRequest, Text: p.Bounded().Message}
}

// WatchExecutions sends an account's executions.
func (o *orderEntry) WatchExecutions(req *pb.WatchExecutionsRequest, stream grpc.ServerStreamingServer[pb.Execution]) error {
	return o.serve(stream, nil, func(session *streams.Session) error {
		after := order.FromNow
		if req.AfterReportSeq != nil {
			after = min(req.GetAfterReportSeq(), order.FromNow-1) // no account gets that far
		}
		if err := session.Watch(req.GetAccount(), after); err != nil {
			return err
		}
		return session.Run(executions{stream})
	})
}

// serve runs a stream's session: run is its goroutine, and the handler returns when
// the session must end, as Subscribe's comment explains. Closing, where run does not
// see to it itself, ends the session once an order in flight has its answer, or
// earlier where nobody reads that: only the return of the handler frees its SendMsg.
func (o *orderEntry) serve(stream grpc.ServerStream, closing <-chan struct{}, run func(*streams.Session) error) error {
	session, err := o.market.exchange.Open(stream.Context(), wire.TickProtobuf)
	if err != nil {
		return o.market.refuse(err)
	}
	if err := stream.SendHeader(nil); err != nil {
		session.Close()
		return err
	}
	o.market.running.Go(func() {
		err := run(session)
		var p *feed.Problem
		if errors.As(err, &p) && !p.Fatal {
			o.market.exchange.CountProblem()
		}
		session.End(err)
		session.Close()
	})
	select {
	case <-session.Context().Done():
	case <-closing:
		o.market.running.Go(session.Finish)
		<-session.Context().Done()
	}
	err = context.Cause(session.Context())
	if errors.Is(err, io.EOF) { // the client has said all it wants, and has its answers
		return nil
	}
	return wire.GRPCStatus(err)
}

// executions is the writer of a stream that carries nothing else.
type executions struct{ stream grpc.ServerStream }

// WriteMessage passes over what such a stream has no message for. A problem that
// ends it becomes its status.
func (w executions) WriteMessage(*feed.Message) error { return nil }

func (w executions) WriteTicks([][]byte) error { return nil }

func (w executions) WriteExecution(e *order.Execution) error { return w.stream.SendMsg(e) }
