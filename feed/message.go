package feed

import "time"

// Policy says what happens when a subscription's queue is full.
type Policy uint8

// The policies. PolicyNone lets the exchange choose, which takes PolicyConflate.
const (
	PolicyNone       Policy = iota
	PolicyConflate          // the oldest waiting tick of the same symbol goes
	PolicyDropOldest        // the oldest waiting tick goes
	PolicyDisconnect        // the stream ends
)

// SkipReason says why ticks were skipped.
type SkipReason uint8

// The reasons of a Skipped.
const (
	SkipNone      SkipReason = iota
	SkipConflated            // newer ticks of the symbol took their place
	SkipDropped              // the queue was full
	SkipGap                  // the ring no longer had them, or the cursor was from the future
	SkipEpoch                // the cursor belongs to another run of the exchange
)

// Message is what the exchange says on a stream: either Ticks, or exactly one of
// the others.
type Message struct {
	Ticks        []Tick
	Hello        *Hello
	Subscribed   *Subscribed
	Unsubscribed *Unsubscribed
	Snapshot     *Snapshot
	Skipped      *Skipped
	Heartbeat    *Heartbeat
	Problem      *Problem
}

// Request is what a subscriber says on a stream: exactly one of its fields.
type Request struct {
	Subscribe   *Subscribe
	Unsubscribe *Unsubscribe
	Ping        *Ping
}

// Hello is the first message of every stream.
type Hello struct {
	Version           string
	Epoch             string
	BootID            string
	WallOffsetNS      int64 // wall clock minus CLOCK_MONOTONIC
	HeartbeatInterval time.Duration
	Limits            Limits
}

// Limits are what the exchange allows one stream.
type Limits struct {
	MaxMessageBytes        int
	MaxSymbolsPerStream    int
	MaxSubscribesPerSecond int // subscribe and unsubscribe requests together
	MaxStreams             int // streams of the whole exchange
	QueueTicks             int // places in a subscription's queue
}

// Subscribe asks for symbols. Policy is that of the first Subscribe of a stream;
// Cursor resumes after the tick it names and is empty for a fresh start. Account
// is whose execution reports the stream carries besides, empty for none: with
// Resume those after AfterReportSeq, as far as they are kept, else only new ones.
type Subscribe struct {
	Symbols        []string
	Policy         Policy
	Cursor         string
	Account        string
	AfterReportSeq uint64
	Resume         bool
}

// SymbolSeq is a symbol with one of its sequence numbers.
type SymbolSeq struct {
	Symbol string
	Seq    uint64
}

// Subscribed answers a Subscribe: each symbol's Seq is its live_after_seq, the
// last one that live ticks come after. Cursor, where set, is a resume cursor
// that accounts for all that was sent up to this message.
type Subscribed struct {
	Symbols []SymbolSeq
	Policy  Policy
	Cursor  string
}

// Unsubscribe asks for no more ticks of symbols.
type Unsubscribe struct{ Symbols []string }

// Unsubscribed answers an Unsubscribe: each symbol's Seq is the last one that
// this stream carried or skipped; nothing of the symbol follows.
type Unsubscribed struct{ Symbols []SymbolSeq }

// Snapshot is the newest tick of a symbol at the time it was subscribed. Cursor
// is set on the message that completes a subscribe.
type Snapshot struct {
	Tick   Tick
	Cursor string
}

// Skipped says that the ticks FromSeq to ToSeq of a symbol will not come.
// FromSeq 0 means the receiver's last sequence + 1. FirstDueNS is when the first
// of them was due, 0 where that is not known. Cursor is as in Snapshot.
type Skipped struct {
	Symbol     string
	FromSeq    uint64
	ToSeq      uint64
	FirstDueNS int64
	Reason     SkipReason
	Cursor     string
}

// Ping asks for a Heartbeat that echoes ID.
type Ping struct{ ID uint64 }

// Heartbeat shows that the stream lives; PingID echoes a Ping's ID, 0 where the
// exchange sent it unasked.
type Heartbeat struct {
	SentNS int64 // CLOCK_MONOTONIC
	PingID uint64
}
