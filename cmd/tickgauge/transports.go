package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/clients/grpcclient"
	"github.com/tickgauge/tickgauge/clients/restclient"
	"github.com/tickgauge/tickgauge/clients/sseclient"
	"github.com/tickgauge/tickgauge/clients/wsclient"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order/account"
	"github.com/tickgauge/tickgauge/order/desk"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
	"github.com/tickgauge/tickgauge/streams/fault"
	"github.com/tickgauge/tickgauge/streams/restserver"
	"github.com/tickgauge/tickgauge/streams/sseserver"
	"github.com/tickgauge/tickgauge/streams/wsserver"
)

// transport is a row of the table that everything ranges over: the flags, the
// fleet and the conformance test.
type transport struct {
	name         string
	httpVersion  string
	shares       bool // several streams share a connection
	overGRPC     bool // the target is the exchange's gRPC address
	stamp        string
	compression  string // that it has beside none
	dialer       func(target string, o dialOptions) (clients.Dialer, error)
	listSymbols  func(ctx context.Context, target string, security *tls.Config) ([]feed.Symbol, error)
	defaultsHTTP bool // what --transport alone means
}

// dialOptions are what the dialer of a transport takes.
type dialOptions struct {
	encoding wire.Encoding
	tls      *tls.Config // nil: without TLS
	compress bool        // as the transport does
}

var transports = []transport{
	{
		name: "grpc", httpVersion: "2", shares: true, overGRPC: true, stamp: grpcclient.Stamp, compression: "gzip", defaultsHTTP: true,
		dialer: func(target string, o dialOptions) (clients.Dialer, error) {
			return grpcclient.New(target, grpcclient.Options{Encoding: o.encoding, TLS: o.tls, Compress: o.compress})
		},
		listSymbols: grpcclient.ListSymbols,
	},
	{
		name: "websocket", httpVersion: "1.1", stamp: wsclient.Stamp, compression: "deflate", defaultsHTTP: true,
		dialer: func(target string, o dialOptions) (clients.Dialer, error) {
			return wsclient.New(target, wsclient.Options{Encoding: o.encoding, TLS: o.tls, Compress: o.compress})
		},
		listSymbols: listOverREST,
	},
	{
		name: "sse", httpVersion: "1.1", stamp: sseclient.Stamp, compression: "gzip", defaultsHTTP: true,
		dialer: func(target string, o dialOptions) (clients.Dialer, error) {
			return sseclient.New(target, sseclient.Options{Encoding: o.encoding, TLS: o.tls, Compress: o.compress, HTTPVersion: "1.1"})
		},
		listSymbols: listOverREST,
	},
	{
		name: "sse", httpVersion: "2", shares: true, stamp: sseclient.Stamp, compression: "gzip",
		dialer: func(target string, o dialOptions) (clients.Dialer, error) {
			return sseclient.New(target, sseclient.Options{Encoding: o.encoding, TLS: o.tls, Compress: o.compress, HTTPVersion: "2"})
		},
		listSymbols: listOverREST,
	},
}

// side is which of an exchange's addresses a transport or a path wants, and the
// one where it is unless told.
type side struct{ name, target string }

func sideOf(overGRPC bool) side {
	if overGRPC {
		return side{"gRPC", "127.0.0.1:50051"}
	}
	return side{"HTTP", "127.0.0.1:8080"}
}

const listTimeout = 5 * time.Second

// symbolsOf asks the exchange at target what it lists, and puts the errors into
// words that name the side.
func symbolsOf(ctx context.Context, target string, s side, security *tls.Config, list func(context.Context, string, *tls.Config) ([]feed.Symbol, error)) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	listed, err := list(ctx, target, security)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("list symbols: %s did not answer within %s; is it the address of an exchange, and of its %s side?", target, listTimeout, s.name)
	}
	if err == nil && len(listed) == 0 {
		err = errors.New("no symbols are listed")
	}
	if err != nil {
		if wrong := explainTLS(ctx, target, security, err); wrong != nil {
			return nil, wrong
		}
		return nil, fmt.Errorf("%w; is an exchange running, and is %s its %s address?", err, target, s.name)
	}
	names := make([]string, len(listed))
	for i, symbol := range listed {
		names[i] = symbol.Name
	}
	return names, nil
}

// httpRoutes are those of all transports behind the exchange's HTTP listener.
func httpRoutes(e *streams.Exchange) []streams.Route {
	return slices.Concat(restserver.New(e).Routes(), wsserver.New(e).Routes(), sseserver.New(e).Routes())
}

func listOverREST(ctx context.Context, target string, security *tls.Config) ([]feed.Symbol, error) {
	c, err := restclient.New(target, restclient.Options{TLS: security})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Symbols(ctx)
}

// findTransport returns the row of a name and HTTP version; "" is its default.
func findTransport(name, httpVersion string) (*transport, error) {
	var versions []string
	for i := range transports {
		t := &transports[i]
		if t.name != name {
			continue
		}
		if t.httpVersion == httpVersion || httpVersion == "" && t.defaultsHTTP {
			return t, nil
		}
		versions = append(versions, t.httpVersion)
	}
	return nil, fmt.Errorf("--http-version %s: %s is served over HTTP/%s", httpVersion, name, strings.Join(versions, " and "))
}

// flagDefaults are the defaults of flags that other packages define.
func flagDefaults() map[string]string {
	return map[string]string{
		"faults":         fault.Forms,
		"queue":          strconv.Itoa(feed.DefaultQueue),
		"max_streams":    strconv.Itoa(streams.DefaultMaxStreams),
		"max_symbols":    strconv.Itoa(streams.DefaultMaxSymbolsPerStream),
		"max_subscribes": strconv.Itoa(streams.DefaultMaxSubscribesPerSecond),
		"heartbeat":      streams.DefaultHeartbeat.String(),
		"write_timeout":  streams.DefaultWriteTimeout.String(),
		"accounts":       strconv.Itoa(desk.DefaultAccounts),
		"open_orders":    strconv.Itoa(desk.DefaultOpenOrders),
		"ids":            strconv.Itoa(account.DefaultIDs),
		"id_age":         account.DefaultIDAge.String(),
		"reports":        strconv.Itoa(account.DefaultReports),
	}
}
