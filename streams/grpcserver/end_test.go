package grpcserver

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestClientCancels(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		cc := v.connect(t)
		s, other := v.subscriber(t, cc, enc), v.subscriber(t, cc, enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
		s.cancel()
		eventually(t, "the session has ended", func() bool { return v.exchange.Stats().Open == 1 && v.hub.Stats().Subscriptions == 1 })
		other.subscribed(feed.Subscribe{Symbols: []string{"A"}})
		_ = cc.Close()
		v.noSessions(t)
	})
}

// A subscriber that reads in time is told why, then gets the same as a status.
func TestDisconnectIsTold(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{Limits: feed.Limits{QueueTicks: 4}})
		s := v.subscriber(t, v.connect(t), enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}, Policy: feed.PolicyDisconnect})
		for v.hub.Stats().Disconnected == 0 {
			v.publish(0, 100)
		}
		told, end := s.ended()
		if told == nil || told.Code != feed.CodeSlowConsumer {
			t.Errorf("told %v, want %s", told, feed.CodeSlowConsumer)
		}
		wantStatus(t, end.Err(), codes.ResourceExhausted, "SLOW_CONSUMER: ")
		v.noSessions(t)
	})
}

// blocked returns a subscriber to A whose session's next SendMsg blocks until it
// is read: it has asked for a replay, which leaves as one message of several times
// what a stream may have under way. opts must have a BatchTicks of ring.
func (v *venue) blocked(t *testing.T, cc *grpc.ClientConn, enc wire.Encoding, policy feed.Policy) *subscriber {
	t.Helper()
	cursor := feed.Cursor{Epoch: v.hub.Epoch(), HubSeq: v.publish(0, 1)}
	v.publish(0, ring)
	s := v.subscriber(t, cc, enc)
	s.subscribed(feed.Subscribe{Symbols: []string{"A"}, Policy: policy, Cursor: cursor.String()})
	return s
}

// A subscriber that takes nothing is ended in the middle of SendMsg, by policy or
// by timeout: the goroutine that writes has ended as well, and what the client
// finds when it reads at last is the status.
func TestBlockedReaderIsEnded(t *testing.T) {
	for _, test := range []struct {
		name   string
		opts   streams.Options
		policy feed.Policy
		count  func(v *venue) int64
	}{
		{"policy disconnect", streams.Options{BatchTicks: ring, Limits: feed.Limits{QueueTicks: 4}}, feed.PolicyDisconnect,
			func(v *venue) int64 { return v.hub.Stats().Disconnected }},
		{"write timeout", streams.Options{BatchTicks: ring, WriteTimeout: 20 * time.Millisecond}, feed.PolicyConflate,
			func(v *venue) int64 { return v.exchange.Stats().TimedOut }},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
				v := newVenue(t, test.opts)
				cc := v.connect(t)
				s := v.blocked(t, cc, enc, test.policy)
				healthy := v.subscriber(t, cc, enc)
				healthy.subscribed(feed.Subscribe{Symbols: []string{"B"}})
				v.sweep(t)
				eventually(t, "the blocked session has been cut, goroutine and all", func() bool {
					v.publish(0, 1)
					return test.count(v) == 1 && v.exchange.Stats().Open == 1
				})
				told, end := s.ended()
				if told != nil {
					t.Errorf("told %v, want no room for it", told)
				}
				wantStatus(t, end.Err(), codes.ResourceExhausted, "SLOW_CONSUMER: ")
				healthy.send(&feed.Request{Ping: &feed.Ping{ID: 1}})
				healthy.next() // the snapshot
				if m := healthy.next(); m.Heartbeat == nil {
					t.Errorf("%+v, want the other stream to go on", m)
				}
			})
		})
	}
}

func TestShutdownIsTold(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v := newVenue(t, streams.Options{})
		cc := v.connect(t)
		s := v.subscriber(t, cc, enc)
		s.subscribed(feed.Subscribe{Symbols: []string{"A"}})
		s.next() // the snapshot
		v.publish(0, 1)
		shut := make(chan struct{})
		go func() {
			defer close(shut)
			v.exchange.Shutdown(context.Background())
		}()
		if m := s.next(); len(m.Ticks) != 1 {
			t.Errorf("%+v, want the tick that waited", m)
		}
		told, end := s.ended()
		if told == nil || told.Code != feed.CodeShuttingDown {
			t.Errorf("told %v, want %s", told, feed.CodeShuttingDown)
		}
		wantStatus(t, end.Err(), codes.Unavailable, "SHUTTING_DOWN: "+told.Message)
		<-shut
		_, end = open(t, cc, enc).ended()
		wantStatus(t, end.Err(), codes.Unavailable, "SHUTTING_DOWN: ")
		v.stop()
		if err := <-v.served; err != nil {
			t.Error(err)
		}
	})
}

// A server that stops without a shutdown of its exchange cuts streams after its
// grace.
func TestStopWithoutShutdown(t *testing.T) {
	v := newVenue(t, streams.Options{})
	s := v.subscriber(t, v.connect(t), wire.Protobuf)
	v.stop()
	told, end := s.ended()
	if told != nil || end.Code() != codes.Unavailable || strings.Contains(end.Message(), "SHUTTING_DOWN") {
		t.Errorf("told %v, ended with %v", told, end)
	}
	if err := <-v.served; err != nil {
		t.Error(err)
	}
	if n := v.exchange.Stats().Open; n != 0 {
		t.Errorf("%d sessions after Serve has returned", n)
	}
}
