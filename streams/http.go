package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// Route is a path that an HTTP server of the exchange answers.
type Route struct {
	Method  string
	Pattern string // as in http.ServeMux, without the method
	Handler http.Handler
}

// Refuse answers a request with a problem.
type Refuse func(w http.ResponseWriter, r *http.Request, p *feed.Problem)

// NewHTTPHandler joins routes. What no route answers is refused: an unknown path
// with NOT_FOUND, a known path with another method with METHOD_NOT_ALLOWED.
func NewHTTPHandler(routes []Route, refuse Refuse) http.Handler {
	mux := http.NewServeMux()
	// Paths without a wildcard are found without the mux, whose answer takes two
	// walks through its tree.
	plain := make(map[[2]string]http.Handler)
	for _, r := range routes {
		mux.Handle(r.Method+" "+r.Pattern, r.Handler)
		if !strings.ContainsAny(r.Pattern, "{") {
			plain[[2]string{r.Method, r.Pattern}] = r.Handler
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodDelete {
			// Both versions of HTTP have deadlines.
			if r.ContentLength != 0 {
				// net/http reads a body that is still to come before it answers; one that is
				// refused is not waited for.
				_ = http.NewResponseController(w).SetReadDeadline(time.Now())
				if r.ProtoMajor == 1 { // HTTP/2 would end the connection for its other requests too
					w.Header().Set("Connection", "close")
				}
				refuse(w, r, &feed.Problem{Code: feed.CodeBadRequest, Message: "a " + r.Method + " takes no body; send none"})
				return
			}
			if r.ProtoMajor == 1 {
				// A stream outlives the deadline of its request. HTTP/2 has one for bodies alone.
				_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
			}
		}
		if h := plain[[2]string{r.Method, r.URL.Path}]; h != nil && r.URL.RawPath == "" {
			h.ServeHTTP(w, r)
			return
		}
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		// A pattern without a method that refuses would conflict with one that has a
		// method and a wildcard, so the mux's own answer is asked what it knows.
		own := muxAnswer{header: make(http.Header)}
		h.ServeHTTP(own, r)
		if allow := own.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			refuse(w, r, &feed.Problem{Code: feed.CodeMethodNotAllowed, Message: r.Method + " is not served here; use " + allow})
			return
		}
		refuse(w, r, &feed.Problem{Code: feed.CodeNotFound, Message: "no such path; docs/wire.md lists them"})
	})
}

// muxAnswer keeps the header of an answer and drops the rest.
type muxAnswer struct{ header http.Header }

func (a muxAnswer) Header() http.Header         { return a.header }
func (a muxAnswer) Write(b []byte) (int, error) { return len(b), nil }
func (a muxAnswer) WriteHeader(int)             {}

// Timeouts against clients that never finish what they send. Neither cuts a
// stream: what a stream writes is bounded by Options.WriteTimeout.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 5 * time.Second // of a request with its body
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	pingAfter         = time.Minute // of silence
	refusableStreams  = 100
)

// ServeHTTP serves handler on ln over HTTP/1.1 and HTTP/2 until ctx is done, then
// waits up to grace for requests to end and cuts the rest. It closes ln. HTTP/2 is
// taken by ALPN where opts has TLS, else by prior knowledge (h2c). Of opts it takes
// TLS, the limit of streams and the write timeout.
func ServeHTTP(ctx context.Context, ln net.Listener, handler http.Handler, opts Options, grace time.Duration, log *slog.Logger) error {
	opts, err := opts.withDefaults()
	if err != nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(opts.TLS != nil)
	protocols.SetUnencryptedHTTP2(opts.TLS == nil)
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         protocols,
		TLSConfig:         opts.TLS.Clone(), // nil stays nil
		HTTP2: &http.HTTP2Config{
			// net/http offers 250 streams a connection. The exchange counts streams itself,
			// and some beyond its limit must get through to be refused.
			MaxConcurrentStreams: opts.Limits.MaxStreams + refusableStreams,
			// A stream that times out is reset, but where the connection as a whole takes
			// nothing, nor can the reset be written.
			WriteByteTimeout: opts.WriteTimeout,
			// Finds clients that vanished without a FIN, as gRPC's keepalive does.
			SendPingTimeout: pingAfter,
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() {
		if opts.TLS != nil {
			served <- srv.ServeTLS(ln, "", "")
		} else {
			served <- srv.Serve(ln)
		}
	}()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if srv.Shutdown(stop) != nil {
		err = srv.Close()
	}
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		return e
	}
	return err
}
