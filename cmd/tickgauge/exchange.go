package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order/desk"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
	"github.com/tickgauge/tickgauge/streams/grpcserver"
)

type exchangeCmd struct {
	GRPCAddr  string `name:"grpc-addr" default:"127.0.0.1:50051" help:"Where gRPC is served; port 0 takes a free one."`
	HTTPAddr  string `name:"http-addr" default:"127.0.0.1:8080" help:"Where REST, WebSocket and SSE are served."`
	DebugAddr string `placeholder:"HOST:PORT" help:"Where the ledger, the start of a held source and pprof are served; off unless given. Do not expose it."`

	certificateFlags `embed:""`

	sourceFlags `embed:""`
	paddingFlag `embed:""`
	Hold        bool          `help:"Publish nothing but opening ticks until POST /debug/run says when."`
	MaxDuration time.Duration `placeholder:"DURATION" help:"End after this time, whatever happens."`

	deskFlags `embed:""`

	faultFlags `embed:""`

	Queue         int           `default:"${queue}" help:"Ticks that may wait for each stream."`
	Ring          int           `default:"256" help:"Ticks kept per symbol for streams that resume."`
	Compression   bool          `help:"Compress WebSocket and SSE for clients that offer it, as browsers do by themselves. gRPC has gzip for those that ask, without this flag."`
	MaxStreams    int           `default:"${max_streams}" help:"Streams of the whole exchange."`
	MaxSymbols    int           `default:"${max_symbols}" help:"Symbols of one stream."`
	MaxSubscribes int           `default:"${max_subscribes}" help:"Subscribe and unsubscribe requests of one stream per second."`
	Heartbeat     time.Duration `default:"${heartbeat}" help:"The longest silence of a stream."`
	WriteTimeout  time.Duration `default:"${write_timeout}" help:"A stream that takes nothing for so long is ended."`
	Verbose       bool          `help:"Log what the servers say."`
}

// Help is the long text of --help.
func (exchangeCmd) Help() string {
	return `Prints one line of JSON once it serves, and ends on SIGINT or SIGTERM after telling its streams.

Examples:
  tickgauge exchange
  tickgauge exchange --rate 5000 --arrivals bursty --symbols AAPL,MSFT,BTC/USD
  tickgauge exchange --source capture.jsonl.gz --speed 2 --loop
  tickgauge exchange --tls self --tls-ca-out ca.pem
  tickgauge exchange --accounts 100 --service-time 40us+60us
  tickgauge exchange --inject loss=1e-4 --inject stall=1s@10s --debug-addr 127.0.0.1:6060
  curl -N 'http://127.0.0.1:8080/v2/events?symbol=SYM001'`
}

// goodbye is how long streams have to end.
const goodbye = 4 * time.Second

// Run serves until a signal, --max-duration, or a server's failure.
func (c *exchangeCmd) Run() error {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	if err := c.check(); err != nil {
		return usageError{err}
	}
	source, closeSource, err := c.open(log)
	if err != nil {
		return err
	}
	defer closeSource()
	symbols, err := c.listed(source.Symbols())
	if err != nil {
		return usageError{err}
	}
	hub, err := feed.NewHub(symbols, feed.HubOptions{Ring: c.Ring, Encoders: wire.PaddedHubEncoders(c.PadTicks)})
	if err != nil {
		return usageError{err}
	}
	desk, err := c.openDesk(hub)
	if err != nil {
		return usageError{err}
	}
	security, ca, err := c.secure(c.GRPCAddr, c.HTTPAddr)
	if err != nil {
		return err
	}
	injector, err := c.openFaults(c.seed())
	if err != nil {
		return usageError{err}
	}
	written := new(written)
	exchange, err := streams.NewExchange(hub, streams.Options{
		Version: version, BatchTicks: c.batchTicks(), Heartbeat: c.Heartbeat, WriteTimeout: c.WriteTimeout, Observer: written, Desk: desk, Faults: injector.queue(), TLS: security, Compression: c.Compression,
		Limits: feed.Limits{QueueTicks: c.Queue, MaxStreams: c.MaxStreams, MaxSymbolsPerStream: c.MaxSymbols, MaxSubscribesPerSecond: c.MaxSubscribes},
	})
	if err != nil {
		return usageError{err}
	}
	var traffic streams.Traffic
	listeners, err := c.listen(&traffic)
	if err != nil {
		return err
	}
	var schedule *feed.ScheduleLog
	if c.DebugAddr != "" {
		schedule = feed.NewScheduleLog(0)
	}
	publisher := feed.NewPublisher(hub, source, feed.PublisherOptions{Log: schedule, Published: quote(desk)})
	if !c.Hold {
		now := feed.Now()
		injector.start(now)
		if err := publisher.Start(now, 0); err != nil {
			return err
		}
	}
	first, _, stop := signals()
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	if err := c.serve(ctx, g, &running{exchange, hub, desk, publisher, schedule, written, &traffic, c.published(), c.Service == "realtime", ca, c.TLSCA, injector}, listeners, log); err != nil {
		return err
	}
	var ended <-chan time.Time
	if c.MaxDuration > 0 {
		ended = time.After(c.MaxDuration)
	}
	g.Go(func() error {
		select {
		case <-first:
			log.Info("signal: telling the streams")
		case <-ended:
			log.Info("--max-duration is over: telling the streams")
		case <-ctx.Done():
		}
		stop, done := context.WithTimeout(context.Background(), goodbye)
		defer done()
		// First the orders, so that those in flight are answered and later ones refused
		// while the streams still stand.
		if err := desk.Close(stop); err != nil {
			log.Warn("orders were still in flight", "after", goodbye)
		}
		exchange.Shutdown(stop)
		cancel()
		return nil
	})
	err = g.Wait()
	log.Info("ended", "orders", fmt.Sprintf("%+v", desk.Stats()), "hub", fmt.Sprintf("%+v", hub.Stats()), "streams", fmt.Sprintf("%+v", exchange.Stats()), "traffic", fmt.Sprintf("%+v", traffic.Count()))
	return err
}

func (c *exchangeCmd) check() error {
	if c.Hold && c.DebugAddr == "" {
		return errors.New("--hold needs --debug-addr: a held source is started there")
	}
	if err := positive(map[string]bounded{
		"--queue": {value: float64(c.Queue), most: mostPlaces}, "--ring": {value: float64(c.Ring), most: mostPlaces}, "--max-streams": {value: float64(c.MaxStreams), most: mostStreams},
		"--max-symbols": {value: float64(c.MaxSymbols), most: mostPlaces}, "--max-subscribes": {value: float64(c.MaxSubscribes), most: mostPlaces},
		"--heartbeat": seconds(c.Heartbeat), "--write-timeout": seconds(c.WriteTimeout),
	}); err != nil {
		return err
	}
	if err := c.checkPadding(); err != nil {
		return err
	}
	if err := c.checkDesk(); err != nil {
		return err
	}
	if err := c.checkFaults(); err != nil {
		return err
	}
	for flag, addr := range map[string]string{"--grpc-addr": c.GRPCAddr, "--http-addr": c.HTTPAddr, "--debug-addr": c.DebugAddr} {
		if addr == "" && flag == "--debug-addr" {
			continue
		}
		_, port, err := net.SplitHostPort(addr)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return fmt.Errorf("%s %q: want HOST:PORT: %w", flag, addr, err)
		}
	}
	return nil
}

// running is what the servers and the debug address look at.
type running struct {
	exchange  *streams.Exchange
	hub       *feed.Hub
	desk      *desk.Desk
	publisher *feed.Publisher
	schedule  *feed.ScheduleLog
	written   *written
	traffic   *streams.Traffic
	published measure.Schedule

	realService bool // orders wait out their service time

	ca     []byte // of a certificate that was made at the start, in PEM
	caFile string // where it was written

	faults *faults // nil: none
}

type listeners struct{ grpc, http, debug net.Listener }

func (c *exchangeCmd) listen(traffic *streams.Traffic) (l listeners, err error) {
	// Longer than any write may take, so that a reader that is merely slow is told.
	config := net.ListenConfig{Control: vanishAfter(max(time.Minute, 2*c.WriteTimeout))}
	for _, a := range []struct {
		flag, addr string
		ln         *net.Listener
	}{{"--grpc-addr", c.GRPCAddr, &l.grpc}, {"--http-addr", c.HTTPAddr, &l.http}, {"--debug-addr", c.DebugAddr, &l.debug}} {
		if a.addr == "" {
			continue // only the debug address may be
		}
		ln, err := config.Listen(context.Background(), "tcp", a.addr)
		if err != nil {
			return l, fmt.Errorf("%s %s: %w; choose another with %s, or port 0 for a free one", a.flag, a.addr, err, a.flag)
		}
		*a.ln = ln
		if a.flag != "--debug-addr" {
			*a.ln = traffic.Listen(ln)
		}
	}
	return l, nil
}

// serverGrace is how long servers wait for calls after the streams have ended.
const serverGrace = 500 * time.Millisecond

// serve starts everything in g and prints the ready line.
func (c *exchangeCmd) serve(ctx context.Context, g *errgroup.Group, r *running, l listeners, log *slog.Logger) error {
	meter := measure.NewMeter(r.counters())
	g.Go(func() error { return meter.Run(ctx) })
	g.Go(func() error { return r.exchange.Run(ctx) })
	g.Go(func() error { return r.desk.Run(ctx) })
	g.Go(func() error { return r.faults.run(ctx) })
	g.Go(func() error { return grpcserver.New(r.exchange).Serve(ctx, l.grpc, serverGrace) })
	handler := streams.NewHTTPHandler(httpRoutes(r.exchange), func(w http.ResponseWriter, req *http.Request, p *feed.Problem) {
		r.exchange.CountProblem()
		wire.WriteProblem(w, req, p)
	})
	g.Go(func() error { return streams.ServeHTTP(ctx, l.http, handler, r.exchange.Options(), serverGrace, log) })
	ready := map[string]any{"ready": true, "grpc": l.grpc.Addr().String(), "http": l.http.Addr().String(), "version": version}
	if r.caFile != "" {
		ready["tls_ca"] = r.caFile
	}
	if l.debug != nil {
		ready["debug"] = l.debug.Addr().String()
		g.Go(func() error { return serveDebug(ctx, l.debug, debugHandler(r, meter)) })
	}
	g.Go(func() error {
		err := r.publisher.Run(ctx)
		if err == nil {
			log.Info("the source has ended; streams stay open")
		}
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
	line, err := json.Marshal(ready)
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(line))
	return err
}

func serveDebug(ctx context.Context, ln net.Listener, handler http.Handler) error {
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	stopped := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stopped()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve debug address: %w", err)
	}
	return nil
}
