// Package order has the order half of the exchange in the words of FIX: orders,
// execution reports, and the Desk that takes the ones and gives the others. It
// knows no transport and no encoding.
package order

import (
	"github.com/tickgauge/tickgauge/feed"
)

// Type is FIX OrdType (40).
type Type uint8

// The order types.
const (
	TypeNone Type = iota
	Limit
	Market
)

// TimeInForce is FIX TimeInForce (59). None counts as Day.
type TimeInForce uint8

// The times in force.
const (
	TIFNone TimeInForce = iota
	Day                 // rests until filled or canceled
	IOC                 // fills what it can at once, the rest is canceled
	FOK                 // fills whole at once, or is canceled whole
)

// ExecType is FIX ExecType (150): what an Execution reports.
type ExecType uint8

// The kinds of reports.
const (
	ExecNone ExecType = iota
	ExecNew
	ExecTrade
	ExecCanceled
	ExecReplaced
	ExecRejected
)

// Status is FIX OrdStatus (39): the state of the order after the report.
type Status uint8

// The states of an order. Filled, Canceled and Rejected are terminal.
const (
	StatusNone Status = iota
	New
	PartiallyFilled
	Filled
	Canceled
	Rejected
)

// Terminal reports whether nothing can happen to the order any more.
func (s Status) Terminal() bool { return s == Filled || s == Canceled || s == Rejected }

// Action says what a Request wants done.
type Action uint8

// The actions.
const (
	ActionNone    Action = iota
	ActionExecute        // a new order: FIX NewOrderSingle (D)
	ActionCancel         // FIX OrderCancelRequest (F)
	ActionReplace        // FIX OrderCancelReplaceRequest (G)
)

// Request is what a client asks of a Desk. Execute uses all fields but
// OrigClOrdID; Replace names the order in OrigClOrdID and gives its new
// ClOrdID, OrderQty and Price; Cancel names it in OrigClOrdID and has a ClOrdID of
// its own.
type Request struct {
	Action      Action
	Account     string // empty trades for the first account
	ClOrdID     string
	OrigClOrdID string
	Symbol      string
	Side        feed.Side
	Type        Type
	TimeInForce TimeInForce
	OrderQty    feed.Size
	Price       feed.Price // 0: none
}

// Execution is a report on an order: FIX ExecutionReport (8). While the order is
// open CumQty + LeavesQty = OrderQty; once it is terminal LeavesQty is 0.
type Execution struct {
	Account        string
	ClOrdID        string
	OrigClOrdID    string
	Symbol         string
	Side           feed.Side
	Type           Type
	TimeInForce    TimeInForce
	OrderQty       feed.Size
	Price          feed.Price
	OrderID        uint64 // the exchange's own, from 1
	ExecID         uint64 // over all accounts, from 1
	ReportSeq      uint64 // per account, from 1, no holes
	ExecType       ExecType
	OrdStatus      Status
	LastQty        feed.Size
	LastPx         feed.Price
	CumQty         feed.Size
	LeavesQty      feed.Size
	AvgPx          feed.Price // half-even to 1e-9
	Reject         RejectCode // why refused, else empty
	Text           string     // the refusal in words, with the field at fault
	TransactTimeNS int64      // wall clock
	ServiceNS      int64      // waited in simulated service
}
