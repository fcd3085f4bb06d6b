package grpcclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tickgauge/tickgauge/clients"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// maxMessageBytes bounds one message of the exchange.
const maxMessageBytes = 16 << 20

// connect opens a connection through dial, with TLS where security is not nil, and waits for the first attempt to
// succeed or fail. An error is what dial or the handshake said, or the end of ctx.
func connect(ctx context.Context, target string, security *tls.Config, dial func(context.Context) (net.Conn, error), opts ...grpc.DialOption) (*grpc.ClientConn, error) {
	var dialed attempt
	opts = append(opts,
		grpc.WithTransportCredentials(&handshake{securityOf(security, target), &dialed}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dialed.do(ctx, dial) }),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithNoProxy(),
		grpc.WithIdleTimeout(0),
	)
	cc, err := grpc.NewClient("passthrough:///"+target, opts...)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, cc, &dialed); err != nil {
		_ = cc.Close()
		return nil, err
	}
	return cc, nil
}

func ready(ctx context.Context, cc *grpc.ClientConn, dialed *attempt) error {
	cc.Connect()
	for {
		switch state := cc.GetState(); state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			if err := dialed.err(); err != nil {
				return err
			}
			// The handshake failed, and only a call is told why.
			err := cc.Invoke(ctx, pb.MarketData_ListSymbols_FullMethodName, &pb.ListSymbolsRequest{}, &pb.SymbolList{})
			if err == nil {
				return nil
			}
			return explain(err)
		default:
			if !cc.WaitForStateChange(ctx, state) {
				return fmt.Errorf("no answer yet: %w", ctx.Err())
			}
		}
	}
}

func securityOf(security *tls.Config, target string) credentials.TransportCredentials {
	if security == nil {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(clients.TLSFor(security, target, clients.ALPNHTTP2))
}

// handshake tells the attempt how a TLS handshake failed.
type handshake struct {
	credentials.TransportCredentials
	dialed *attempt
}

// ClientHandshake is credentials.TransportCredentials's.
func (h *handshake) ClientHandshake(ctx context.Context, authority string, socket net.Conn) (net.Conn, credentials.AuthInfo, error) {
	c, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, socket)
	if err != nil {
		h.dialed.failed.Store(&err)
	}
	return c, info, err
}

// Clone is credentials.TransportCredentials's.
func (h *handshake) Clone() credentials.TransportCredentials {
	return &handshake{h.TransportCredentials.Clone(), h.dialed}
}

// attempt remembers how the newest attempt to open a socket ended, with its TLS
// handshake. grpc-go keeps the text of that error alone.
type attempt struct{ failed atomic.Pointer[error] }

func (a *attempt) do(ctx context.Context, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	c, err := dial(ctx)
	a.failed.Store(&err)
	return c, err
}

func (a *attempt) err() error {
	if err := a.failed.Load(); err != nil {
		return *err
	}
	return nil
}
