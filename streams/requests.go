package streams

import (
	"fmt"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// apply returns a *feed.Problem for what is refused.
func (s *Session) apply(req *feed.Request) error {
	switch {
	case req.Subscribe != nil:
		return s.Subscribe(*req.Subscribe)
	case req.Unsubscribe != nil:
		if err := s.allowed(len(req.Unsubscribe.Symbols)); err != nil {
			return err
		}
		if err := s.sub.Unsubscribe(*req.Unsubscribe); err != nil {
			return err
		}
		s.symbols -= len(req.Unsubscribe.Symbols)
		return nil
	case req.Ping != nil:
		return s.reply(reply{message: feed.Message{Heartbeat: &feed.Heartbeat{SentNS: feed.Now(), PingID: req.Ping.ID}}})
	default:
		return &feed.Problem{Code: feed.CodeBadRequest, Message: "empty request; send subscribe, unsubscribe, ping or an order"}
	}
}

// Subscribe adds symbols within the limits of the exchange and the executions of
// the account that is named, all of it or nothing, and returns a *feed.Problem
// where it refuses. The goroutine that calls Handle may call it.
func (s *Session) Subscribe(req feed.Subscribe) error {
	if err := s.allowed(len(req.Symbols)); err != nil {
		return err
	}
	if limit := s.exchange.opts.Limits.MaxSymbolsPerStream; s.symbols+len(req.Symbols) > limit {
		return &feed.Problem{Code: feed.CodeTooManySymbols,
			Message: fmt.Sprintf("%d symbols on a stream that may have %d; open another stream for the rest", s.symbols+len(req.Symbols), limit)}
	}
	var w *watching
	switch {
	case req.Account != "":
		after := order.FromNow
		if req.Resume {
			after = min(req.AfterReportSeq, order.FromNow-1) // no account gets that far
		}
		var err error
		if w, err = s.newWatch(req.Account, after); err != nil {
			return err
		}
	case req.Resume:
		return &feed.Problem{Code: feed.CodeBadRequest, Message: "a report_seq to resume after without an account; name the account too"}
	}
	if err := s.subscribe(req); err != nil {
		if w != nil {
			w.watch.Close()
		}
		return err
	}
	s.symbols += len(req.Symbols)
	if w != nil {
		s.carry(w)
	}
	return nil
}

// subscribe asks the hub for the symbols. None are fine for a stream of executions.
func (s *Session) subscribe(req feed.Subscribe) error {
	if len(req.Symbols) > 0 || req.Account == "" {
		return s.sub.Subscribe(req)
	}
	if req.Cursor != "" || req.Policy != feed.PolicyNone {
		return &feed.Problem{Code: feed.CodeBadRequest, Message: "a cursor or a policy without a symbol; name the symbols too"}
	}
	return s.reply(reply{message: feed.Message{Subscribed: &feed.Subscribed{}}})
}

// symbolsPerRequest is how many symbols count as much as a request does: what a
// request costs everybody is the time that it holds the hub.
const symbolsPerRequest = 50

// allowed counts requests per second of the monotonic clock, and those of many
// symbols for more than one.
func (s *Session) allowed(symbols int) error {
	if second := feed.Now() / int64(time.Second); second != s.second {
		s.second, s.subscribes = second, 0
	}
	limits := s.exchange.opts.Limits
	switch {
	case s.subscribes >= limits.MaxSubscribesPerSecond:
		return &feed.Problem{Code: feed.CodeRateLimited,
			Message: fmt.Sprintf("more than %d subscribe and unsubscribe requests in a second, each %d symbols counting as one; wait, or name several symbols in one request",
				limits.MaxSubscribesPerSecond, symbolsPerRequest)}
	case symbols > limits.MaxSymbolsPerStream:
		s.subscribes++
		return &feed.Problem{Code: feed.CodeTooManySymbols,
			Message: fmt.Sprintf("%d symbols in a request; a stream may have %d", symbols, limits.MaxSymbolsPerStream)}
	}
	s.subscribes += 1 + symbols/symbolsPerRequest
	return nil
}
