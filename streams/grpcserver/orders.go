package grpcserver

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// orderEntry serves OrderEntry. The calls that take an order decode and answer it
// with our codec, without a generated message between: what cannot be read is then
// BAD_REQUEST in words, where grpc-go would say INTERNAL.
type orderEntry struct {
	pb.UnimplementedOrderEntryServer
	market *marketData
}

// orderEntryDesc is pb.OrderEntry_ServiceDesc with those calls in it.
func orderEntryDesc() *grpc.ServiceDesc {
	desc := pb.OrderEntry_ServiceDesc
	desc.Methods = slices.Clone(desc.Methods)
	actions := map[string]order.Action{
		"ExecuteOrder": order.ActionExecute, "CancelOrder": order.ActionCancel, "ReplaceOrder": order.ActionReplace,
	}
	for i := range desc.Methods {
		if action, ok := actions[desc.Methods[i].MethodName]; ok {
			desc.Methods[i].Handler = func(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				return srv.(*orderEntry).submit(ctx, action, decode)
			}
		}
	}
	return &desc
}

func (o *orderEntry) submit(ctx context.Context, action order.Action, decode func(any) error) (*order.Execution, error) {
	asked := wire.AskedOrder{Unary: action}
	if err := decode(&asked); err != nil {
		return nil, err
	}
	if asked.Err != nil {
		return nil, o.market.refuse(&feed.Problem{Code: feed.CodeBadRequest, Message: asked.Err.Error()})
	}
	e, err := o.market.exchange.Submit(ctx, asked.Request)
	switch {
	case err != nil:
		return nil, o.market.refuse(err)
	case e.Reject != "":
		return nil, wire.RejectGRPCStatus(inTrailers(&e))
	}
	return &e, nil
}

// What a status keeps of each name and of the text of a refusal. It travels in
// trailers, of which many clients take no more than 8 KB, and has the text twice.
const (
	maxTrailerName = 256
	maxTrailerText = 512
)

// inTrailers returns a copy of e with what is too long for trailers cut.
func inTrailers(e *order.Execution) *order.Execution {
	short := *e
	for _, name := range [...]*string{&short.Account, &short.ClOrdID, &short.OrigClOrdID, &short.Symbol} {
		*name = cut(*name, maxTrailerName)
	}
	short.Text = cut(short.Text, maxTrailerText)
	return &short
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// GetOrder returns the last report on an order.
func (o *orderEntry) GetOrder(ctx context.Context, req *pb.GetOrderRequest) (*pb.Execution, error) {
	e, err := o.market.exchange.Find(ctx, req.GetAccount(), req.GetClOrdId())
	if err != nil {
		return nil, o.market.refuse(err)
	}
	return wire.ExecutionToProto(&e), nil
}
