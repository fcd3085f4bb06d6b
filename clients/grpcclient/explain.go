package grpcclient

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// explain puts an error of a call into the caller's terms: a *feed.Problem where
// the exchange said one, what wraps clients.ErrNoExchange where the target is
// none, else what broke.
func explain(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the exchange ended the stream")
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	if p := problem(s); p != nil {
		return p
	}
	text := reason(s.Message())
	switch {
	case s.Code() == codes.Unimplemented, strings.HasPrefix(text, "unexpected HTTP status code"):
		first, _, _ := strings.Cut(text, "\n") // the rest is the body of what answered
		return fmt.Errorf("%w: %s", clients.ErrNoExchange, first)
	case s.Code() == codes.Unavailable && strings.Contains(text, "http2: "):
		return fmt.Errorf("%w: it does not speak HTTP/2: %s", clients.ErrNoExchange, text)
	case s.Code() == codes.Unavailable:
		return fmt.Errorf("the connection broke: %s", text)
	}
	return fmt.Errorf("the stream ended with %s: %s", s.Code(), text)
}

// problem reads the status that wire.GRPCStatus makes of a problem; other
// statuses are nil.
func problem(s *status.Status) *feed.Problem {
	word, message, ok := strings.Cut(s.Message(), ": ")
	p := &feed.Problem{Code: feed.ProblemCode(word), Message: message, Fatal: true}
	known := p.Code == feed.CodeInternal || status.Code(wire.GRPCStatus(p)) != codes.Internal
	if !ok || !known || status.Code(wire.GRPCStatus(p)) != s.Code() {
		return nil
	}
	return p
}

// reason takes off what grpc-go wraps around the reason of a broken connection.
func reason(text string) string {
	if _, quoted, ok := strings.Cut(text, "connection error: desc = "); ok {
		if prefix, err := strconv.QuotedPrefix(quoted); err == nil {
			text, _ = strconv.Unquote(prefix)
		}
	}
	for _, noise := range []string{"transport: ", "Error while dialing: ", "error reading server preface: ", "grpc: "} {
		text = strings.TrimPrefix(text, noise)
	}
	return text
}
