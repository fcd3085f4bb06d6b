package wire

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tickgauge/tickgauge/feed"
)

// appendString mends what is not UTF-8.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error says only that it mended
	return dst
}

// appendName starts a member of the object that is open at the end of dst.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(append(dst, '"'), name...)
	return append(dst, `":`...)
}

// The member writers leave out what is zero.

func textMember(dst []byte, name, v string) []byte {
	if v == "" {
		return dst
	}
	return appendString(appendName(dst, name), v)
}

func int64Member(dst []byte, name string, v int64) []byte {
	if v == 0 {
		return dst
	}
	dst = append(appendName(dst, name), '"')
	return append(strconv.AppendInt(dst, v, 10), '"')
}

func uint64Member(dst []byte, name string, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return seqMember(dst, name, v)
}

// seqMember writes 0 too.
func seqMember(dst []byte, name string, v uint64) []byte {
	dst = append(appendName(dst, name), '"')
	return append(strconv.AppendUint(dst, v, 10), '"')
}

// countMember writes a number, as its 32 bits are safe in every reader.
func countMember(dst []byte, name string, v int) []byte {
	if v == 0 {
		return dst
	}
	return strconv.AppendInt(appendName(dst, name), int64(v), 10)
}

func enumMember[E ~uint8](dst []byte, name string, v E, names []string) []byte {
	if v == 0 {
		return dst
	}
	dst = append(appendName(dst, name), '"')
	return append(append(dst, enumName(v, names)...), '"')
}

func textsMember(dst []byte, name string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(appendName(dst, name), '[')
	for i, s := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

func seqsMember(dst []byte, name string, seqs []feed.SymbolSeq) []byte {
	if len(seqs) == 0 {
		return dst
	}
	dst = append(appendName(dst, name), '[')
	for i, s := range seqs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = textMember(append(dst, '{'), "symbol", s.Symbol)
		dst = append(uint64Member(dst, "seq", s.Seq), '}')
	}
	return append(dst, ']')
}

// appendMessageJSON takes a message that checkMessage has passed.
func appendMessageJSON(dst []byte, m *feed.Message) []byte {
	dst = append(dst, '{')
	if len(m.Ticks) > 0 {
		dst = append(dst, `"ticks":[`...)
		for i := range m.Ticks {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendTickJSON(dst, &m.Ticks[i])
		}
		dst = append(dst, ']')
	}
	switch {
	case m.Hello != nil:
		dst = appendHelloJSON(appendName(dst, "hello"), m.Hello)
	case m.Subscribed != nil:
		s := m.Subscribed
		dst = seqsMember(append(appendName(dst, "subscribed"), '{'), "symbols", s.Symbols)
		dst = enumMember(dst, "policy", s.Policy, policyNames)
		dst = append(textMember(dst, "cursor", s.Cursor), '}')
	case m.Unsubscribed != nil:
		dst = seqsMember(append(appendName(dst, "unsubscribed"), '{'), "symbols", m.Unsubscribed.Symbols)
		dst = append(dst, '}')
	case m.Snapshot != nil:
		dst = append(appendName(dst, "snapshot"), `{"tick":`...)
		dst = appendTickJSON(dst, &m.Snapshot.Tick)
		dst = append(textMember(dst, "cursor", m.Snapshot.Cursor), '}')
	case m.Skipped != nil:
		s := m.Skipped
		dst = textMember(append(appendName(dst, "skipped"), '{'), "symbol", s.Symbol)
		dst = uint64Member(dst, "fromSeq", s.FromSeq)
		dst = uint64Member(dst, "toSeq", s.ToSeq)
		dst = int64Member(dst, "firstDueNs", s.FirstDueNS)
		dst = enumMember(dst, "reason", s.Reason, reasonNames)
		dst = append(textMember(dst, "cursor", s.Cursor), '}')
	case m.Heartbeat != nil:
		dst = int64Member(append(appendName(dst, "heartbeat"), '{'), "sentNs", m.Heartbeat.SentNS)
		dst = append(uint64Member(dst, "pingId", m.Heartbeat.PingID), '}')
	case m.Problem != nil:
		dst = appendProblemJSON(appendName(dst, "problem"), m.Problem)
	}
	return append(dst, '}')
}

func appendHelloJSON(dst []byte, h *feed.Hello) []byte {
	dst = textMember(append(dst, '{'), "version", h.Version)
	dst = textMember(dst, "epoch", h.Epoch)
	dst = textMember(dst, "bootId", h.BootID)
	dst = int64Member(dst, "wallOffsetNs", h.WallOffsetNS)
	dst = int64Member(dst, "heartbeatIntervalNs", int64(h.HeartbeatInterval))
	dst = append(appendName(dst, "limits"), '{')
	dst = countMember(dst, "maxMessageBytes", h.Limits.MaxMessageBytes)
	dst = countMember(dst, "maxSymbolsPerStream", h.Limits.MaxSymbolsPerStream)
	dst = countMember(dst, "maxSubscribesPerSecond", h.Limits.MaxSubscribesPerSecond)
	dst = countMember(dst, "maxStreams", h.Limits.MaxStreams)
	dst = countMember(dst, "queueTicks", h.Limits.QueueTicks)
	return append(dst, "}}"...)
}

// appendProblemJSON always writes the code and the message.
func appendProblemJSON(dst []byte, p *feed.Problem) []byte {
	dst = appendString(append(dst, `{"code":`...), string(p.Code))
	dst = appendString(append(dst, `,"message":`...), p.Message)
	dst = textMember(dst, "symbol", p.Symbol)
	dst = textMember(dst, "requestId", p.RequestID)
	if p.Fatal {
		dst = append(dst, `,"fatal":true`...)
	}
	return append(dst, '}')
}

// appendRequestJSON takes a request that checkRequest has passed.
func appendRequestJSON(dst []byte, q *feed.Request) []byte {
	switch {
	case q.Subscribe != nil:
		dst = textsMember(append(dst, `{"subscribe":{`...), "symbols", q.Subscribe.Symbols)
		dst = enumMember(dst, "policy", q.Subscribe.Policy, policyNames)
		dst = textMember(dst, "cursor", q.Subscribe.Cursor)
		dst = textMember(dst, "account", q.Subscribe.Account)
		if q.Subscribe.Resume { // after 0 is after none: not the same as absent
			dst = seqMember(dst, "afterReportSeq", q.Subscribe.AfterReportSeq)
		}
	case q.Unsubscribe != nil:
		dst = textsMember(append(dst, `{"unsubscribe":{`...), "symbols", q.Unsubscribe.Symbols)
	default:
		dst = uint64Member(append(dst, `{"ping":{`...), "id", q.Ping.ID)
	}
	return append(dst, "}}"...)
}
