package grpcserver

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func (v *venue) quote(t *testing.T, cc *grpc.ClientConn, enc wire.Encoding, symbol string) (*pb.Tick, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := new(pb.Tick)
	return tick, cc.Invoke(ctx, pb.MarketData_GetQuote_FullMethodName, &pb.GetQuoteRequest{Symbol: symbol}, tick, in(enc))
}

func wantStatus(t *testing.T, err error, code codes.Code, part string) {
	t.Helper()
	if s := status.Convert(err); s.Code() != code || !strings.Contains(s.Message(), part) {
		t.Errorf("%v, want %s with %q", err, code, part)
	}
}

func TestUnary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		cc := v.connect(t)
		want, _, err := v.hub.Newest("B")
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.quote(t, cc, enc, "B")
		if err != nil {
			t.Fatal(err)
		}
		if tick, err := wire.TickFromProto(got); err != nil || tick != want {
			t.Errorf("quote %+v (%v), want %+v", tick, err, want)
		}
		_, err = v.quote(t, cc, enc, "nobody")
		wantStatus(t, err, codes.NotFound, `UNKNOWN_SYMBOL: symbol "nobody" is not listed`)
		_, err = v.quote(t, cc, enc, "")
		wantStatus(t, err, codes.NotFound, "UNKNOWN_SYMBOL: ")
		_, err = v.quote(t, cc, enc, "QUIET")
		wantStatus(t, err, codes.NotFound, "NO_TICK: ")
		err = cc.Invoke(context.Background(), pb.MarketData_GetQuote_FullMethodName, []byte("\xff"), new(pb.Tick), in(enc))
		wantStatus(t, err, codes.Internal, "unmarshal")

		list := new(pb.SymbolList)
		if err := cc.Invoke(context.Background(), pb.MarketData_ListSymbols_FullMethodName, &pb.ListSymbolsRequest{}, list, in(enc)); err != nil {
			t.Fatal(err)
		}
		if symbols := wire.SymbolsFromProto(list); !slices.Equal(symbols, v.hub.Symbols()) {
			t.Errorf("symbols %+v, want %+v", symbols, v.hub.Symbols())
		}
		err = cc.Invoke(context.Background(), "/tickgauge.v1.MarketData/Nothing", &pb.ListSymbolsRequest{}, list, in(enc))
		wantStatus(t, err, codes.Unimplemented, "unknown method Nothing")
	})
}

// Health says so as soon as the exchange begins to shut down, while the server
// still serves.
func TestHealth(t *testing.T) {
	v := newVenue(t, streams.Options{})
	client := healthpb.NewHealthClient(v.connect(t))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	services := []string{"", "tickgauge.v1.MarketData", "tickgauge.v1.OrderEntry"}
	check := func(want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for _, service := range services {
			answer, err := client.Check(ctx, &healthpb.HealthCheckRequest{Service: service})
			if err != nil || answer.GetStatus() != want {
				t.Errorf("service %q: %v, %v, want %s", service, answer, err, want)
			}
		}
	}
	watch, err := client.Watch(ctx, &healthpb.HealthCheckRequest{Service: services[1]})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []healthpb.HealthCheckResponse_ServingStatus{healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_NOT_SERVING} {
		answer, err := watch.Recv()
		if err != nil || answer.GetStatus() != want {
			t.Fatalf("watched %v, %v, want %s", answer, err, want)
		}
		if want == healthpb.HealthCheckResponse_SERVING {
			check(want)
			v.exchange.Shutdown(ctx)
		}
	}
	check(healthpb.HealthCheckResponse_NOT_SERVING)
	_, err = client.Check(ctx, &healthpb.HealthCheckRequest{Service: "no.such.Service"})
	wantStatus(t, err, codes.NotFound, "")
}

func TestReflection(t *testing.T) {
	v := newVenue(t, streams.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stream, err := reflectionpb.NewServerReflectionClient(v.connect(t)).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(q *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
		t.Helper()
		if err := stream.Send(q); err != nil {
			t.Fatal(err)
		}
		answer, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	var names []string
	for _, s := range ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}).GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	slices.Sort(names)
	want := []string{"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection", "tickgauge.v1.MarketData", "tickgauge.v1.OrderEntry"}
	if !slices.Equal(names, want) {
		t.Errorf("services %q, want %q", names, want)
	}
	for _, method := range []string{"tickgauge.v1.MarketData.Subscribe", "tickgauge.v1.OrderEntry.ExecuteOrder"} {
		files := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: method}}).GetFileDescriptorResponse().GetFileDescriptorProto()
		if len(files) == 0 {
			t.Errorf("no descriptor of %s", method)
		}
	}
}
