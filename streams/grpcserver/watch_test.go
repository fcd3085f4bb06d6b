package grpcserver

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// submit has n orders of an account filled.
func (d *desk) submit(t *testing.T, account string, n int) {
	t.Helper()
	for range n {
		q := execute(fmt.Sprint("o", d.count()))
		q.Account = account
		if _, err := d.Submit(t.Context(), *q); err != nil {
			t.Fatal(err)
		}
	}
}

// reads takes the executions with these report_seq.
func (c *trader) reads(account string, seqs ...uint64) {
	c.t.Helper()
	for _, seq := range seqs {
		if e := c.next(); e.ReportSeq != seq || e.Account != account {
			c.t.Errorf("got report %d of %s, want %d of %s", e.ReportSeq, e.Account, seq, account)
		}
	}
}

// A watch carries the reports of one account: new ones, or those after the one that
// the client has, as far back as they are kept.
func TestWatchExecutions(t *testing.T) {
	seq := func(n uint64) *uint64 { return &n }
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, d := orderVenue(t, streams.Options{Heartbeat: time.Millisecond}) // heartbeats are passed over
		cc := v.connect(t)
		d.submit(t, "acct-1", 3)
		d.submit(t, "acct-2", 1)
		var watches []*trader
		for _, test := range []struct {
			name string
			req  *pb.WatchExecutionsRequest
			want []uint64
		}{
			{"new only", &pb.WatchExecutionsRequest{}, nil},
			{"by name", &pb.WatchExecutionsRequest{Account: "acct-1"}, nil},
			{"from the first", &pb.WatchExecutionsRequest{AfterReportSeq: seq(0)}, []uint64{1, 2, 3}},
			{"resumed", &pb.WatchExecutionsRequest{Account: "acct-1", AfterReportSeq: seq(2)}, []uint64{3}},
			{"resumed at the newest", &pb.WatchExecutionsRequest{AfterReportSeq: seq(3)}, nil},
			{"of an earlier run", &pb.WatchExecutionsRequest{AfterReportSeq: seq(99)}, []uint64{1, 2, 3}},
			{"of no run", &pb.WatchExecutionsRequest{AfterReportSeq: seq(order.FromNow)}, []uint64{1, 2, 3}},
		} {
			w := v.watch(t, cc, enc, test.req)
			t.Log(test.name)
			w.reads("acct-1", test.want...)
			watches = append(watches, w)
		}
		eventually(t, "all watch", func() bool { return d.watched() == len(watches) })
		d.submit(t, "acct-2", 1)
		d.submit(t, "acct-1", 1)
		for _, w := range watches {
			w.reads("acct-1", 4)
			w.cancel()
		}
		v.noSessions(t)
		if n := d.watched(); n != 0 {
			t.Errorf("%d watches are open still", n)
		}
		wantStatus(t, v.watch(t, cc, enc, &pb.WatchExecutionsRequest{Account: "nobody"}).end(), codes.NotFound, "UNKNOWN_ACCOUNT: ")
		if got := v.exchange.Stats(); got.Problems != 1 || got.ReportsLost != 0 {
			t.Errorf("stats %+v, want one problem and no report lost", got)
		}
	})
}

// What the desk keeps no more shows as a hole, and is counted.
func TestHoleInExecutions(t *testing.T) {
	v, d := orderVenue(t, streams.Options{})
	d.submit(t, "acct-1", keeps+3)
	after := uint64(1)
	w := v.watch(t, v.connect(t), wire.Protobuf, &pb.WatchExecutionsRequest{AfterReportSeq: &after})
	w.reads("acct-1", 4, 5, 6, 7)
	if n := v.exchange.Stats().ReportsLost; n != 2 {
		t.Errorf("%d reports lost, want 2 and 3 of them", n)
	}
}

// A shutdown sends what waits first.
func TestShutdownOfAWatch(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, d := orderVenue(t, streams.Options{})
		w := v.watch(t, v.connect(t), enc, &pb.WatchExecutionsRequest{})
		eventually(t, "it watches", func() bool { return d.watched() == 1 })
		d.submit(t, "acct-1", 2)
		go v.exchange.Shutdown(context.Background())
		w.reads("acct-1", 1, 2)
		wantStatus(t, w.end(), codes.Unavailable, "SHUTTING_DOWN: ")
		v.noSessions(t)
	})
}

// A watch that nobody reads is ended by the write timeout.
func TestStalledWatch(t *testing.T) {
	v, d := orderVenue(t, streams.Options{WriteTimeout: 20 * time.Millisecond})
	w := v.watch(t, v.connect(t), wire.Protobuf, &pb.WatchExecutionsRequest{})
	eventually(t, "it watches", func() bool { return d.watched() == 1 })
	v.sweep(t)
	for i := range 3 {
		if _, err := d.Submit(t.Context(), *execute(fmt.Sprint("big", i))); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the session has been cut, goroutine and all", func() bool {
		return v.exchange.Stats().TimedOut == 1 && d.watched() == 0
	})
	wantStatus(t, w.end(), codes.ResourceExhausted, "SLOW_CONSUMER: ")
}
