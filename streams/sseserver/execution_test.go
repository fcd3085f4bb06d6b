package sseserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// orders has the desk report n orders of an account.
func (e *exchange) orders(t *testing.T, account string, n int) {
	t.Helper()
	for range n {
		if _, err := e.Submit(t.Context(), order.Request{Action: order.ActionExecute, Account: account}); err != nil {
			t.Fatal(err)
		}
	}
}

// executions reads n of them, over what else comes, and returns their report_seq.
func (s *stream) executions(enc wire.Encoding, n int) (seqs []uint64) {
	s.t.Helper()
	for len(seqs) < n {
		e, err := s.next(enc)
		if err != nil {
			s.t.Fatalf("after %d: %v", seqs, err)
		}
		if e.name != "execution" {
			continue
		}
		if x := e.execution; x == nil || x.OrdStatus != order.New || e.id != "" {
			s.t.Fatalf("event %+v with %+v", e, x)
		}
		seqs = append(seqs, e.execution.ReportSeq)
	}
	return seqs
}

// TestExecutions: which reports a stream gets, by what it says it has.
func TestExecutions(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		want  []uint64 // of 6 that were and 2 that come, with 4 kept
		lost  int64
	}{
		"new ones":         {"account=acct-1", []uint64{7, 8}, 0},
		"all in the ring":  {"account=acct-1&after_report_seq=2", []uint64{3, 4, 5, 6, 7, 8}, 0},
		"the last one":     {"after_report_seq=5&account=acct-1", []uint64{6, 7, 8}, 0},
		"has all":          {"account=acct-1&after_report_seq=6", []uint64{7, 8}, 0},
		"a hole":           {"account=acct-1&after_report_seq=1", []uint64{3, 4, 5, 6, 7, 8}, 1},
		"from the start":   {"account=acct-1&after_report_seq=0", []uint64{3, 4, 5, 6, 7, 8}, 2},
		"an earlier run's": {"account=acct-1&after_report_seq=99", []uint64{3, 4, 5, 6, 7, 8}, 2},
		"beside symbols":   {"symbol=AAA&policy=drop-oldest&account=acct-1&after_report_seq=4", []uint64{5, 6, 7, 8}, 0},
	} {
		for _, version := range versions {
			for _, enc := range wire.Encodings() {
				t.Run(name+" HTTP "+version+" "+enc.String(), func(t *testing.T) {
					d := newDesk()
					e := start(t, streams.Options{Desk: d})
					e.orders(t, "acct-1", 6)
					e.orders(t, "acct-2", 1)
					query := "?encoding=json&" + c.query
					if enc == wire.Protobuf {
						query = "?encoding=proto&" + c.query
					}
					s := e.open(t, version, query, nil)
					s.want(enc, "hello")
					got := s.executions(enc, len(c.want)-2)
					e.orders(t, "acct-2", 1)
					e.orders(t, "acct-1", 2)
					if got = append(got, s.executions(enc, 2)...); !slices.Equal(got, c.want) {
						t.Errorf("report_seq %d, want %d", got, c.want)
					}
					if lost := e.Stats().ReportsLost; lost != c.lost {
						t.Errorf("%d reports are counted as lost, want %d", lost, c.lost)
					}
					s.cancel()
					eventually(t, "the watch of a stream that its client left is closed", func() bool { return d.open() == 0 })
				})
			}
		}
	}
}

// TestExecutionsAlone: a stream without a symbol is answered like one with.
func TestExecutionsAlone(t *testing.T) {
	e := start(t, streams.Options{Desk: newDesk(), Heartbeat: 20 * time.Millisecond})
	s := e.open(t, "1.1", "?account=acct-1", nil)
	s.want(wire.JSON, "hello")
	if sub := s.want(wire.JSON, "subscribed"); sub.message.Subscribed == nil || len(sub.message.Subscribed.Symbols) != 0 || sub.id != "" {
		t.Errorf("subscribed %+v", sub)
	}
	e.publish(0)
	if beat := s.want(wire.JSON, ""); beat.comment == "" {
		t.Errorf("event %+v, want a heartbeat", beat)
	}
}

// TestExecutionsBesideTicks: while both flow, neither loses, doubles or reorders.
func TestExecutionsBesideTicks(t *testing.T) {
	const each = 500
	for _, version := range versions {
		t.Run("HTTP "+version, func(t *testing.T) {
			e := start(t, streams.Options{Desk: newDesk(), Limits: feed.Limits{QueueTicks: each}})
			s := e.open(t, version, "?symbol=AAA&account=acct-1", nil)
			s.want(wire.JSON, "hello")
			s.want(wire.JSON, "subscribed")
			go func() {
				for range each {
					e.publish(0)
				}
			}()
			var ticks, reports uint64
			for ordered := uint64(0); ticks < each || reports < each; {
				if ordered == reports && ordered < each { // the ring keeps few
					e.orders(t, "acct-1", 1)
					ordered++
				}
				got, err := s.next(wire.JSON)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case got.execution != nil:
					if reports++; got.execution.ReportSeq != reports {
						t.Fatalf("report_seq %d, want %d", got.execution.ReportSeq, reports)
					}
				case len(got.message.Ticks) == 1:
					if ticks++; got.message.Ticks[0].Seq != ticks {
						t.Fatalf("seq %d, want %d", got.message.Ticks[0].Seq, ticks)
					}
				default:
					t.Fatalf("event %+v", got)
				}
			}
		})
	}
}

// TestSlowReaderOfExecutions: one that stops reading is cut, and its watch closed.
func TestSlowReaderOfExecutions(t *testing.T) {
	for _, version := range versions {
		d := newDesk()
		e := start(t, streams.Options{Desk: d, WriteTimeout: 100 * time.Millisecond})
		s := e.open(t, version, "?account=acct-1", nil)
		eventually(t, "the write times out", func() bool {
			e.orders(t, "acct-1", 1)
			return e.Stats().TimedOut == 1
		})
		eventually(t, "the handler returns", func() bool { return e.Stats().Open == 0 && d.open() == 0 })
		if _, err := s.rest(wire.JSON); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("the stream ended with %v, want an error", err)
		}
	}
}

// TestShutdownOfExecutions: what was reported before the end comes before it.
func TestShutdownOfExecutions(t *testing.T) {
	for _, version := range versions {
		d := newDesk()
		e := start(t, streams.Options{Desk: d})
		e.orders(t, "acct-1", 3)
		s := e.open(t, version, "?account=acct-1&after_report_seq=0", nil)
		e.orders(t, "acct-1", 1)
		e.Shutdown(context.Background())
		if got := s.executions(wire.JSON, 4); !slices.Equal(got, []uint64{1, 2, 3, 4}) {
			t.Errorf("report_seq %d", got)
		}
		last, err := s.rest(wire.JSON)
		wantEOF(t, err)
		wantProblem(t, last, feed.CodeShuttingDown)
		if d.open() != 0 {
			t.Error("the watch is open after the end")
		}
	}
}

func TestExecutionRefusals(t *testing.T) {
	d := newDesk()
	e := start(t, streams.Options{Desk: d})
	for name, c := range map[string]struct {
		query  string
		status int
		code   feed.ProblemCode
		says   string
	}{
		"unknown account":        {"?account=acct-3", 404, feed.ProblemCode(order.RejectUnknownAccount), "acct-3"},
		"unknown beside symbols": {"?symbol=AAA&account=x&after_report_seq=1", 404, feed.ProblemCode(order.RejectUnknownAccount), "x"},
		"unknown symbol":         {"?symbol=NOPE&account=acct-1", 404, feed.CodeUnknownSymbol, "NOPE"},
		"a policy alone":         {"?account=acct-1&policy=conflate", 400, feed.CodeBadRequest, "without a symbol"},
		"a cursor alone":         {"?account=acct-1&cursor=e0-0", 400, feed.CodeBadRequest, "without a symbol"},
		"no number":              {"?account=acct-1&after_report_seq=", 400, feed.CodeBadRequest, "after_report_seq"},
		"a hexadecimal number":   {"?account=acct-1&after_report_seq=0x1", 400, feed.CodeBadRequest, "after_report_seq=0x1"},
		"a number of 65 bits":    {"?account=acct-1&after_report_seq=18446744073709551616", 400, feed.CodeBadRequest, "after_report_seq"},
		"a number twice":         {"?account=acct-1&after_report_seq=1&after_report_seq=2", 400, feed.CodeBadRequest, "2 times"},
		"two accounts":           {"?account=acct-1&account=acct-2", 400, feed.CodeBadRequest, "2 times"},
	} {
		for _, version := range versions {
			t.Run(name+" HTTP "+version, func(t *testing.T) {
				wantRefusal(t, e.request(t, version, http.MethodGet, c.query, nil), c.status, c.code, c.says)
			})
		}
	}
	if resp := e.request(t, "1.1", http.MethodHead, "?account=acct-1", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %s", resp.Status)
	}
	eventually(t, "no session and no watch is open", func() bool { return e.Stats().Open == 0 && d.open() == 0 })
}
