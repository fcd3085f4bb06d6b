package serve

import (
	"context"
	"errors"
	"net"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/proto/wire"

	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// grpcNaive is what most write: the generated service, a goroutine a stream, each
// message marshalled for each stream. The codec that it gets marshals generated
// messages of this size as grpc-go's own does.
type grpcNaive struct {
	pb.UnimplementedMarketDataServer
	queues
}

func newGRPCNaive(m *Market) Peer { return &grpcNaive{queues: newQueues(m)} }

// Serve is Peer's.
func (p *grpcNaive) Serve(ctx context.Context, ln net.Listener) error {
	srv := grpc.NewServer()
	pb.RegisterMarketDataServer(srv, p)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return srv.Serve(ln) })
	g.Go(func() error {
		<-ctx.Done()
		srv.Stop()
		return nil
	})
	if err := g.Wait(); !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// Subscribe is the service's.
func (p *grpcNaive) Subscribe(stream grpc.BidiStreamingServer[pb.SubscribeRequest, pb.MarketDataMessage]) error {
	if err := stream.Send(&pb.MarketDataMessage{Event: &pb.MarketDataMessage_Hello{Hello: &pb.Hello{Epoch: p.market.hub.Epoch()}}}); err != nil {
		return err
	}
	req, err := stream.Recv()
	if err != nil {
		return err
	}
	symbols, err := p.market.subscribedIndices(req.GetSubscribe().GetSymbols())
	if err != nil {
		return status.Error(codes.NotFound, err.Error())
	}
	ticks, leave := p.join(symbols)
	defer leave()
	answer := &pb.Subscribed{}
	for _, s := range p.market.subscribed(symbols).Subscribed.Symbols {
		answer.Symbols = append(answer.Symbols, &pb.SymbolSeq{Symbol: s.Symbol, Seq: s.Seq})
	}
	if err := stream.Send(&pb.MarketDataMessage{Event: &pb.MarketDataMessage_Subscribed{Subscribed: answer}}); err != nil {
		return err
	}
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case t := <-ticks:
			if err := stream.Send(&pb.MarketDataMessage{Ticks: []*pb.Tick{wire.TickToProto(&t.Tick)}}); err != nil {
				return err
			}
		}
	}
}
