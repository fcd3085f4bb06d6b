package restserver

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

const orderPath = "/v2/orders/{clOrdId}"

// orderRoutes are the four verbs of an order. Ids that a path names are matched as
// they were sent, so that an encoded slash stays in the id. Only an id that is one
// slash and nothing else has no path.
func (s *Server) orderRoutes() []streams.Route {
	route := func(method, pattern string, serve http.HandlerFunc) streams.Route {
		return streams.Route{Method: method, Pattern: pattern, Handler: serve}
	}
	return []streams.Route{
		route(http.MethodPost, "/v2/orders/execute", s.execute),
		route(http.MethodPut, orderPath, s.replace),
		route(http.MethodGet, orderPath, s.find),
		route(http.MethodDelete, orderPath, s.cancel),
	}
}

func (s *Server) execute(w http.ResponseWriter, r *http.Request) {
	var req order.Request
	if r.URL.RawQuery != "" {
		s.refuse(w, r, badRequest("the order is in the body; a POST of one has no query"))
		return
	}
	enc, err := s.readOrder(w, r, order.ActionExecute, &req)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.submit(w, r, enc, req)
}

// replace takes the new id, quantity and price from the body, and from the path
// which order it is about.
func (s *Server) replace(w http.ResponseWriter, r *http.Request) {
	var req order.Request
	query, err := parameters(r, "account")
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	enc, err := s.readOrder(w, r, order.ActionReplace, &req)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	for _, f := range []struct {
		name    string
		body    *string
		outside string
	}{{"origClOrdId", &req.OrigClOrdID, r.PathValue("clOrdId")}, {"account", &req.Account, query.Get("account")}} {
		if *f.body != "" && f.outside != "" && *f.body != f.outside {
			s.refuse(w, r, badRequest("%s is %.64q in the body and %.64q in the URL; give one of them", f.name, *f.body, f.outside))
			return
		}
		if f.outside != "" {
			*f.body = f.outside
		}
	}
	s.submit(w, r, enc, req)
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	query, err := parameters(r, "account", "clOrdId")
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.submit(w, r, accepted(r), order.Request{
		Action: order.ActionCancel, Account: query.Get("account"), ClOrdID: query.Get("clOrdId"), OrigClOrdID: r.PathValue("clOrdId"),
	})
}

func (s *Server) find(w http.ResponseWriter, r *http.Request) {
	query, err := parameters(r, "account")
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	e, err := s.exchange.Find(r.Context(), query.Get("account"), r.PathValue("clOrdId"))
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.answer(w, r, accepted(r), &e)
}

// submit acts on an order and answers with the state after it.
func (s *Server) submit(w http.ResponseWriter, r *http.Request, enc wire.Encoding, req order.Request) {
	e, err := s.exchange.Submit(r.Context(), req)
	switch {
	case err != nil:
		s.refuse(w, r, err)
	case e.Reject != "":
		wire.WriteRejection(w, r, &e)
	default:
		s.answer(w, r, enc, &e)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, enc wire.Encoding, e *order.Execution) {
	buf := s.buffer()
	defer s.release(buf)
	body, err := wire.AppendExecution((*buf)[:0], enc, e)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	contentType := typeJSON
	if enc == wire.Protobuf {
		contentType = typeProtobuf
	} else {
		body = append(body, '\n')
	}
	*buf = body
	writeBody(w, r, contentType, body)
}

// buffer returns a buffer for a body, which release takes back unless it is large.
func (s *Server) buffer() *[]byte {
	if b, ok := s.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 1536)
	return &b
}

func (s *Server) release(b *[]byte) {
	const keep = 8 << 10
	if cap(*b) <= keep {
		s.buffers.Put(b)
	}
}

// The content types of orders and executions.
const (
	typeJSON     = "application/json"
	typeProtobuf = "application/x-protobuf"
)

// readOrder reads the body in the encoding that its Content-Type names, which is
// that of the answer too.
func (s *Server) readOrder(w http.ResponseWriter, r *http.Request, action order.Action, req *order.Request) (wire.Encoding, error) {
	enc, err := encodingOf(r.Header.Get("Content-Type"))
	if err != nil {
		return 0, err
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return 0, &feed.Problem{Code: feed.CodeUnsupported, Message: fmt.Sprintf("content-encoding %.64q is not served; send the body as it is", coding)}
	}
	limit := s.exchange.Options().Limits.MaxMessageBytes
	buf := s.buffer()
	defer s.release(buf)
	body, err := readAll((*buf)[:0], http.MaxBytesReader(w, r.Body, int64(limit)))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return 0, &feed.Problem{Code: feed.CodeTooLarge, Message: fmt.Sprintf("a body of more than %d bytes", limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, badRequest("the body had not come whole within the time that a request has; send as much as content-length says")
	case err != nil:
		return 0, badRequest("the body was cut off: it is shorter than content-length says")
	case len(body) == 0:
		return 0, badRequest("no body; send the order as JSON or protobuf (docs/wire.md)")
	}
	*buf = body
	if err := wire.UnmarshalOrder(enc, body, action, req); err != nil {
		return 0, badRequest("%v", err)
	}
	return enc, nil
}

// readAll is io.ReadAll into a buffer.
func readAll(buf []byte, r io.Reader) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, 512)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func encodingOf(contentType string) (wire.Encoding, error) {
	if contentType == typeJSON {
		return wire.JSON, nil
	}
	kind, params, err := mime.ParseMediaType(contentType)
	charset := strings.ToLower(params["charset"])
	switch {
	case err != nil && contentType != "":
	case charset != "" && charset != "utf-8" && charset != "us-ascii":
	case kind == typeJSON:
		return wire.JSON, nil
	case kind == typeProtobuf || kind == "application/protobuf":
		return wire.Protobuf, nil
	}
	return 0, &feed.Problem{Code: feed.CodeUnsupported, Message: fmt.Sprintf("content type %.64q is not served; say Content-Type: %s or %s", contentType, typeJSON, typeProtobuf)}
}

// accepted is the encoding of an answer to a request without a body.
func accepted(r *http.Request) wire.Encoding {
	for kind := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if enc, err := encodingOf(strings.TrimSpace(kind)); err == nil {
			return enc
		}
	}
	return wire.JSON
}

// parameters reads the query, in which each name may stand once.
func parameters(r *http.Request, names ...string) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("query: %v; percent-encode what is not a letter or a digit", err)
	}
known:
	for name, values := range query {
		for _, n := range names {
			if n == name && len(values) == 1 {
				continue known
			}
		}
		return nil, badRequest("parameter %.64q is unknown, or stands more than once; known are %s", name, strings.Join(names, ", "))
	}
	return query, nil
}

func badRequest(format string, args ...any) *feed.Problem {
	return &feed.Problem{Code: feed.CodeBadRequest, Message: fmt.Sprintf(format, args...)}
}
