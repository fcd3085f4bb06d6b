package wire

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// statuses is the table of docs/wire.md: what a problem is on each transport.
var statuses = map[feed.ProblemCode]struct {
	grpc codes.Code
	http int
}{
	feed.CodeBadRequest:        {codes.InvalidArgument, http.StatusBadRequest},
	feed.CodeBadCursor:         {codes.InvalidArgument, http.StatusBadRequest},
	feed.CodeUnknownSymbol:     {codes.NotFound, http.StatusNotFound},
	feed.CodeAlreadySubscribed: {codes.AlreadyExists, http.StatusConflict},
	feed.CodeNotSubscribed:     {codes.FailedPrecondition, http.StatusConflict},
	feed.CodeUnsupported:       {codes.Unimplemented, http.StatusBadRequest},
	feed.CodeTooLarge:          {codes.ResourceExhausted, http.StatusRequestEntityTooLarge},
	feed.CodeTooManySymbols:    {codes.ResourceExhausted, http.StatusBadRequest},
	feed.CodeRateLimited:       {codes.ResourceExhausted, http.StatusTooManyRequests},
	feed.CodeTooManyStreams:    {codes.ResourceExhausted, http.StatusServiceUnavailable},
	feed.CodeSlowConsumer:      {codes.ResourceExhausted, http.StatusServiceUnavailable},
	feed.CodeShuttingDown:      {codes.Unavailable, http.StatusServiceUnavailable},
	feed.CodeNotFound:          {codes.NotFound, http.StatusNotFound},
	feed.CodeMethodNotAllowed:  {codes.Unimplemented, http.StatusMethodNotAllowed},
	feed.CodeNoTick:            {codes.NotFound, http.StatusNotFound},
	feed.CodeInternal:          {codes.Internal, http.StatusInternalServerError},
}

// HTTPStatus returns the HTTP status of a problem, whose code may be that of a
// refused order; an unknown code is 500.
func HTTPStatus(code feed.ProblemCode) int {
	if s, ok := statuses[code]; ok {
		return s.http
	}
	return RejectHTTPStatus(order.RejectCode(code))
}

// GRPCStatus returns err as a gRPC status error: a *feed.Problem with its code of
// the table and its word in front of the message, a done context as CANCELED or
// DEADLINE_EXCEEDED, anything else as INTERNAL, and nil as nil.
func GRPCStatus(err error) error {
	if err == nil {
		return nil
	}
	var p *feed.Problem
	if errors.As(err, &p) {
		code := codes.Internal
		if s, ok := statuses[p.Code]; ok {
			code = s.grpc
		} else if s, ok := rejects[order.RejectCode(p.Code)]; ok {
			code = s.grpc
		}
		return status.Error(code, p.Error())
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Internal, err.Error())
}

// RequestIDHeader carries the id of a request, the client's own or a new one.
const RequestIDHeader = "X-Request-Id"

// WriteProblem answers an HTTP request with a problem as JSON, under the status
// of its code. Its request id is the client's X-Request-Id or a new one, and is
// also sent as that header.
func WriteProblem(w http.ResponseWriter, r *http.Request, p *feed.Problem) {
	answer := *p.Bounded()
	answer.RequestID = requestID(r)
	writeProblemBody(w, HTTPStatus(answer.Code), answer.RequestID, appendProblemJSON(nil, &answer))
}

// requestID returns the client's, or a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get(RequestIDHeader); id != "" && len(id) <= 128 {
		return id
	}
	return rand.Text()
}

func writeProblemBody(w http.ResponseWriter, status int, requestID string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set(RequestIDHeader, requestID)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may be gone
}
