package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/clients/grpcclient"
	"github.com/tickgauge/tickgauge/clients/restclient"
	"github.com/tickgauge/tickgauge/clients/sseclient"
	"github.com/tickgauge/tickgauge/clients/trader"
	"github.com/tickgauge/tickgauge/clients/wsclient"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// pathOptions are what the dialer of a path takes.
type pathOptions struct {
	encoding     wire.Encoding
	payloadBytes int
	account      string      // by name, never empty
	tls          *tls.Config // nil: without TLS
	compress     bool        // as the path does
}

// orderPath is a row of the table of ways to execute orders.
type orderPath struct {
	name        string
	httpVersion string
	shares      bool // workers may share a connection
	overGRPC    bool // the target is the exchange's gRPC address
	stamp       string
	compression string // that it has beside none; empty where it has none
	dialer      func(target string, o pathOptions) (clients.OrderDialer, error)
}

var orderPaths = slices.Concat(
	[]orderPath{grpcPath("grpc-unary", false)},
	[]orderPath{restPath("1.1"), restPath("2")},
	[]orderPath{grpcPath("grpc-stream", true)},
	[]orderPath{{
		name: "websocket", httpVersion: "1.1", stamp: wsclient.OrderStamp, compression: "deflate",
		dialer: func(target string, o pathOptions) (clients.OrderDialer, error) {
			return wsclient.NewOrders(target, wsclient.OrderOptions{Encoding: o.encoding, TLS: o.tls, Compress: o.compress, PayloadBytes: o.payloadBytes})
		},
	}},
	[]orderPath{restAndSSE("1.1"), restAndSSE("2")},
)

func grpcPath(name string, stream bool) orderPath {
	return orderPath{
		name: name, httpVersion: "2", shares: true, overGRPC: true, stamp: grpcclient.OrderStamp, compression: "gzip",
		dialer: func(target string, o pathOptions) (clients.OrderDialer, error) {
			return grpcclient.NewOrders(target, grpcclient.OrderOptions{Encoding: o.encoding, TLS: o.tls, Compress: o.compress, Stream: stream, PayloadBytes: o.payloadBytes})
		},
	}
}

func restPath(version string) orderPath {
	return orderPath{
		name: "rest-unary", httpVersion: version, shares: version == "2", stamp: restclient.OrderStamp,
		dialer: func(target string, o pathOptions) (clients.OrderDialer, error) { return restOrders(target, version, o) },
	}
}

func restOrders(target, version string, o pathOptions) (clients.OrderDialer, error) {
	return restclient.NewOrders(target, restclient.OrderOptions{Encoding: o.encoding, TLS: o.tls, HTTPVersion: version, PayloadBytes: o.payloadBytes})
}

func restAndSSE(version string) orderPath {
	return orderPath{
		name: "rest+sse", httpVersion: version, shares: version == "2", stamp: sseclient.Stamp,
		dialer: func(target string, o pathOptions) (clients.OrderDialer, error) {
			orders, err := restOrders(target, version, o)
			if err != nil {
				return nil, err
			}
			watch, err := sseclient.New(target, sseclient.Options{Encoding: o.encoding, TLS: o.tls, HTTPVersion: version})
			if err != nil {
				return nil, err
			}
			return trader.AckedElsewhere(orders, watch, o.account), nil
		},
	}
}

// findPath returns the row of a name and HTTP version; "" is the first.
func findPath(name, httpVersion string) (*orderPath, error) {
	var versions []string
	for i := range orderPaths {
		p := &orderPaths[i]
		if p.name != name {
			continue
		}
		if httpVersion == "" || p.httpVersion == httpVersion {
			return p, nil
		}
		versions = append(versions, p.httpVersion)
	}
	return nil, fmt.Errorf("--http %s: %s goes over HTTP/%s", httpVersion, name, strings.Join(versions, " and "))
}

// quoter returns a function that asks the exchange for the newest tick of a
// symbol, and one that lets go of its connection.
func (p *orderPath) quoter(target string, security *tls.Config, symbol string) (trader.Quote, func(), error) {
	if p.overGRPC {
		return func(ctx context.Context) (feed.Tick, error) {
			return grpcclient.GetQuote(ctx, target, security, symbol)
		}, func() {}, nil
	}
	c, err := restclient.New(target, restclient.Options{TLS: security})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) (feed.Tick, error) { return c.Quote(ctx, symbol) }, c.Close, nil
}

// listSymbols asks the exchange what it lists.
func (p *orderPath) listSymbols(ctx context.Context, target string, security *tls.Config) ([]feed.Symbol, error) {
	if p.overGRPC {
		return grpcclient.ListSymbols(ctx, target, security)
	}
	return listOverREST(ctx, target, security)
}
