package wire

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// messageToProto takes a message that checkMessage has passed.
func messageToProto(m *feed.Message) *pb.MarketDataMessage {
	out := &pb.MarketDataMessage{}
	for i := range m.Ticks {
		out.Ticks = append(out.Ticks, TickToProto(&m.Ticks[i]))
	}
	switch {
	case m.Hello != nil:
		out.Event = &pb.MarketDataMessage_Hello{Hello: helloToProto(m.Hello)}
	case m.Subscribed != nil:
		s := m.Subscribed
		out.Event = &pb.MarketDataMessage_Subscribed{Subscribed: &pb.Subscribed{
			Symbols: seqsToProto(s.Symbols), Policy: pb.Policy(s.Policy), Cursor: s.Cursor}}
	case m.Unsubscribed != nil:
		out.Event = &pb.MarketDataMessage_Unsubscribed{Unsubscribed: &pb.Unsubscribed{
			Symbols: seqsToProto(m.Unsubscribed.Symbols)}}
	case m.Snapshot != nil:
		out.Event = &pb.MarketDataMessage_Snapshot{Snapshot: &pb.Snapshot{
			Tick: TickToProto(&m.Snapshot.Tick), Cursor: m.Snapshot.Cursor}}
	case m.Skipped != nil:
		s := m.Skipped
		out.Event = &pb.MarketDataMessage_Skipped{Skipped: &pb.Skipped{Symbol: s.Symbol, FromSeq: s.FromSeq, ToSeq: s.ToSeq,
			FirstDueNs: s.FirstDueNS, Reason: pb.SkipReason(s.Reason), Cursor: s.Cursor}}
	case m.Heartbeat != nil:
		out.Event = &pb.MarketDataMessage_Heartbeat{Heartbeat: &pb.Heartbeat{
			SentNs: m.Heartbeat.SentNS, PingId: m.Heartbeat.PingID}}
	case m.Problem != nil:
		p := mended(m.Problem)
		out.Event = &pb.MarketDataMessage_Problem{Problem: &pb.Problem{
			Code: string(p.Code), Message: p.Message, Symbol: p.Symbol, RequestId: p.RequestID, Fatal: p.Fatal}}
	}
	return out
}

// mended returns the problem as UTF-8: what it quotes of a bad request must not
// keep it from being told.
func mended(p *feed.Problem) feed.Problem {
	mend := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	return feed.Problem{Code: feed.ProblemCode(mend(string(p.Code))), Message: mend(p.Message),
		Symbol: mend(p.Symbol), RequestID: mend(p.RequestID), Fatal: p.Fatal}
}

func helloToProto(h *feed.Hello) *pb.Hello {
	return &pb.Hello{
		Version:             h.Version,
		Epoch:               h.Epoch,
		BootId:              h.BootID,
		WallOffsetNs:        h.WallOffsetNS,
		HeartbeatIntervalNs: int64(h.HeartbeatInterval),
		Limits: &pb.Limits{
			MaxMessageBytes:        uint32(h.Limits.MaxMessageBytes),
			MaxSymbolsPerStream:    uint32(h.Limits.MaxSymbolsPerStream),
			MaxSubscribesPerSecond: uint32(h.Limits.MaxSubscribesPerSecond),
			MaxStreams:             uint32(h.Limits.MaxStreams),
			QueueTicks:             uint32(h.Limits.QueueTicks),
		},
	}
}

func seqsToProto(seqs []feed.SymbolSeq) []*pb.SymbolSeq {
	out := make([]*pb.SymbolSeq, len(seqs))
	for i, s := range seqs {
		out[i] = &pb.SymbolSeq{Symbol: s.Symbol, Seq: s.Seq}
	}
	return out
}

// messageFromProto fills m, which must be reset but for the capacity of its ticks,
// and passes over executions where it is given no place for one.
func messageFromProto(p *pb.MarketDataMessage, m *feed.Message, execution **order.Execution) (err error) {
	var report *order.Execution
	for i, t := range p.GetTicks() {
		var tick feed.Tick
		if err := tickFromProto(t, &tick); err != nil {
			return fmt.Errorf("ticks[%d].%w", i, err)
		}
		m.Ticks = append(m.Ticks, tick)
	}
	switch e := p.GetEvent().(type) {
	case *pb.MarketDataMessage_Execution:
		if execution != nil {
			report = new(order.Execution)
			*execution, err = report, named("execution", executionFromProto(e.Execution, report))
		}
	case *pb.MarketDataMessage_Hello:
		m.Hello, err = helloFromProto(e.Hello)
	case *pb.MarketDataMessage_Subscribed:
		m.Subscribed = &feed.Subscribed{Symbols: seqsFromProto(e.Subscribed.GetSymbols()), Cursor: e.Subscribed.GetCursor()}
		m.Subscribed.Policy, err = enumFromProto[feed.Policy]("subscribed.policy", e.Subscribed.GetPolicy(), policyNames)
	case *pb.MarketDataMessage_Unsubscribed:
		m.Unsubscribed = &feed.Unsubscribed{Symbols: seqsFromProto(e.Unsubscribed.GetSymbols())}
	case *pb.MarketDataMessage_Snapshot:
		m.Snapshot = &feed.Snapshot{Cursor: e.Snapshot.GetCursor()}
		if err = tickFromProto(e.Snapshot.GetTick(), &m.Snapshot.Tick); err != nil {
			err = fmt.Errorf("snapshot.tick.%w", err)
		}
	case *pb.MarketDataMessage_Skipped:
		s := e.Skipped
		m.Skipped = &feed.Skipped{Symbol: s.GetSymbol(), FromSeq: s.GetFromSeq(), ToSeq: s.GetToSeq(),
			FirstDueNS: s.GetFirstDueNs(), Cursor: s.GetCursor()}
		m.Skipped.Reason, err = enumFromProto[feed.SkipReason]("skipped.reason", s.GetReason(), reasonNames)
	case *pb.MarketDataMessage_Heartbeat:
		m.Heartbeat = &feed.Heartbeat{SentNS: e.Heartbeat.GetSentNs(), PingID: e.Heartbeat.GetPingId()}
	case *pb.MarketDataMessage_Problem:
		p := e.Problem
		m.Problem = &feed.Problem{Code: feed.ProblemCode(p.GetCode()), Message: p.GetMessage(), Symbol: p.GetSymbol(),
			RequestID: p.GetRequestId(), Fatal: p.GetFatal()}
	}
	if err == nil && !oneAtMost(m, report) {
		err = errSeveral
	}
	return err
}

func helloFromProto(p *pb.Hello) (*feed.Hello, error) {
	h := &feed.Hello{
		Version:           p.GetVersion(),
		Epoch:             p.GetEpoch(),
		BootID:            p.GetBootId(),
		WallOffsetNS:      p.GetWallOffsetNs(),
		HeartbeatInterval: time.Duration(p.GetHeartbeatIntervalNs()),
	}
	l := p.GetLimits()
	for _, f := range [...]struct {
		name string
		to   *int
		from uint32
	}{
		{"maxMessageBytes", &h.Limits.MaxMessageBytes, l.GetMaxMessageBytes()},
		{"maxSymbolsPerStream", &h.Limits.MaxSymbolsPerStream, l.GetMaxSymbolsPerStream()},
		{"maxSubscribesPerSecond", &h.Limits.MaxSubscribesPerSecond, l.GetMaxSubscribesPerSecond()},
		{"maxStreams", &h.Limits.MaxStreams, l.GetMaxStreams()},
		{"queueTicks", &h.Limits.QueueTicks, l.GetQueueTicks()},
	} {
		if uint64(f.from) > math.MaxInt {
			return nil, fmt.Errorf("hello.limits.%s: %d is beyond %d", f.name, f.from, math.MaxInt)
		}
		*f.to = int(f.from)
	}
	return h, nil
}

func seqsFromProto(seqs []*pb.SymbolSeq) []feed.SymbolSeq {
	var out []feed.SymbolSeq
	for _, s := range seqs {
		out = append(out, feed.SymbolSeq{Symbol: s.GetSymbol(), Seq: s.GetSeq()})
	}
	return out
}

// requestToProto takes a request that checkRequest has passed.
func requestToProto(q *feed.Request) *pb.SubscribeRequest {
	switch {
	case q.Subscribe != nil:
		s := q.Subscribe
		out := &pb.Subscribe{Symbols: s.Symbols, Policy: pb.Policy(s.Policy), Cursor: s.Cursor, Account: s.Account}
		if s.Resume {
			out.AfterReportSeq = &s.AfterReportSeq
		}
		return &pb.SubscribeRequest{Request: &pb.SubscribeRequest_Subscribe{Subscribe: out}}
	case q.Unsubscribe != nil:
		return &pb.SubscribeRequest{Request: &pb.SubscribeRequest_Unsubscribe{Unsubscribe: &pb.Unsubscribe{
			Symbols: q.Unsubscribe.Symbols}}}
	}
	return &pb.SubscribeRequest{Request: &pb.SubscribeRequest_Ping{Ping: &pb.Ping{Id: q.Ping.ID}}}
}

// requestFromProto refuses orders where it is given no place for one.
func requestFromProto(p *pb.SubscribeRequest, q *feed.Request, o *order.Request) (err error) {
	switch r := p.GetRequest().(type) {
	case *pb.SubscribeRequest_Subscribe:
		q.Subscribe = &feed.Subscribe{Symbols: r.Subscribe.GetSymbols(), Cursor: r.Subscribe.GetCursor(), Account: r.Subscribe.GetAccount(),
			AfterReportSeq: r.Subscribe.GetAfterReportSeq(), Resume: r.Subscribe != nil && r.Subscribe.AfterReportSeq != nil}
		q.Subscribe.Policy, err = enumFromProto[feed.Policy]("subscribe.policy", r.Subscribe.GetPolicy(), policyNames)
	case *pb.SubscribeRequest_Unsubscribe:
		q.Unsubscribe = &feed.Unsubscribe{Symbols: r.Unsubscribe.GetSymbols()}
	case *pb.SubscribeRequest_Ping:
		q.Ping = &feed.Ping{ID: r.Ping.GetId()}
	default:
		if o == nil {
			return errNoRequest
		}
		return streamOrderFromProto(p, o)
	}
	return err
}

func streamOrderFromProto(p *pb.SubscribeRequest, o *order.Request) error {
	switch r := p.GetRequest().(type) {
	case *pb.SubscribeRequest_Execute:
		return named("execute", executeFromProto(r.Execute, o))
	case *pb.SubscribeRequest_Cancel:
		*o = CancelFromProto(r.Cancel)
	case *pb.SubscribeRequest_Replace:
		*o = ReplaceFromProto(r.Replace)
	default:
		return errNoStreamRequest
	}
	return nil
}
