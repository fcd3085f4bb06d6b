// Package sseserver serves the exchange's streams as server-sent events over
// HTTP/1.1 and HTTP/2: a stream is one GET, and an event is one message.
package sseserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// Server serves event streams of an exchange.
type Server struct {
	exchange    *streams.Exchange
	compressors *sync.Pool
}

// New returns a server of e.
func New(e *streams.Exchange) *Server { return &Server{exchange: e, compressors: newFlatePool()} }

// Routes returns the one route, GET /v2/events.
func (s *Server) Routes() []streams.Route {
	return []streams.Route{{Method: http.MethodGet, Pattern: "/v2/events", Handler: http.HandlerFunc(s.events)}}
}

// events runs one session. What is wrong with the request is told as an HTTP
// problem, which is why the subscription comes before the headers.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	// A page of any origin may read what needs no credentials.
	w.Header().Set("Access-Control-Allow-Origin", "*")
	req, err := parse(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	session, err := s.exchange.Open(r.Context(), hubEncoding(req.encoding))
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer session.Close()
	if err := session.Subscribe(req.subscribe); err != nil {
		s.refuse(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	zipped := false
	if s.exchange.Options().Compression {
		h.Set("Vary", "Accept-Encoding")
		if zipped = acceptsGzip(r.Header); zipped {
			h.Set("Content-Encoding", "gzip")
		}
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	out := newWriter(w, req.encoding)
	defer cutWhenDone(session.Context(), out.control)()
	if zipped {
		body := &gzipBody{out: w, pool: s.compressors}
		out.out = body
		defer func() { _ = body.Close() }() // there may be nobody to read it
	}
	// Run has told the subscriber why, where there was anybody to tell.
	_ = session.Run(out)
}

// cutWhenDone makes a write fail that is blocked when ctx is done, and each one
// after it. The function it returns ends that, and must be called before the
// handler returns, since the controller must not be used after.
func cutWhenDone(ctx context.Context, c *http.ResponseController) func() {
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = c.SetWriteDeadline(time.Unix(1, 0)) // long past; net/http has deadlines on both versions
	})
	return func() {
		if !stop() {
			<-cut
		}
	}
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var p *feed.Problem
	if !errors.As(err, &p) {
		p = &feed.Problem{Code: feed.CodeInternal, Message: err.Error()}
	}
	s.exchange.CountProblem()
	wire.WriteProblem(w, r, p)
}

func hubEncoding(enc wire.Encoding) int {
	if enc == wire.Protobuf {
		return wire.EventProtobuf
	}
	return wire.EventJSON
}
