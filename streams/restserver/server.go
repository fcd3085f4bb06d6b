// Package restserver answers the exchange's plain HTTP requests: orders, quotes,
// the listed symbols, and whether it lives and is ready.
package restserver

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// Server answers requests over an exchange.
type Server struct {
	exchange *streams.Exchange
	buffers  sync.Pool // of bodies
}

// New returns a server of e.
func New(e *streams.Exchange) *Server { return &Server{exchange: e} }

// Routes returns what the server answers. net/http answers HEAD as GET without
// the body.
func (s *Server) Routes() []streams.Route {
	return append(s.orderRoutes(),
		s.get("/v2/quotes/{symbol}", s.quote),
		s.get("/v2/symbols", s.symbols),
		s.get("/healthz", s.healthy),
		s.get("/readyz", s.ready),
	)
}

// endpoint returns the JSON body of an answer, or the error that is the answer.
type endpoint func(r *http.Request) ([]byte, error)

func (s *Server) get(pattern string, answer endpoint) streams.Route {
	return streams.Route{Method: http.MethodGet, Pattern: pattern, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, answer) })}
}

// serve answers with the endpoint's body, or with its error as a problem.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, answer endpoint) {
	body, err := answer(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeBody(w, r, typeJSON, append(body, '\n'))
}

// refuse answers with an error as a problem.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		// The client has gone, or has only closed its half of the connection: returning
		// would answer that one with an empty 200.
		panic(http.ErrAbortHandler)
	}
	var p *feed.Problem
	if !errors.As(err, &p) {
		p = &feed.Problem{Code: feed.CodeInternal, Message: err.Error()}
	}
	s.exchange.CountProblem()
	wire.WriteProblem(w, r, p)
}

func writeBody(w http.ResponseWriter, r *http.Request, contentType string, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	h["Cache-Control"] = []string{"no-store"}
	if id := r.Header.Get(wire.RequestIDHeader); id != "" && len(id) <= maxRequestID {
		h.Set(wire.RequestIDHeader, id)
	}
	_, _ = w.Write(body) // the client may be gone
}

// maxRequestID is the longest request id that is echoed, as wire.WriteProblem has it.
const maxRequestID = 128
