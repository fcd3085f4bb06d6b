package order

// RejectCode says why a request was refused, the same word on every transport.
// docs/wire.md maps each to a gRPC status, an HTTP status and FIX's OrdRejReason
// (103) or CxlRejReason (102).
type RejectCode string

// The codes. The validation ones are decided before the order is given an
// order_id or matched with anything.
const (
	RejectBadRequest     RejectCode = "BAD_REQUEST" // the message is no order
	RejectUnknownAccount RejectCode = "UNKNOWN_ACCOUNT"
	RejectUnknownSymbol  RejectCode = "UNKNOWN_SYMBOL"
	RejectBadID          RejectCode = "BAD_CL_ORD_ID"     // missing, too long, or with control characters
	RejectBadSide        RejectCode = "BAD_SIDE"          // neither buy nor sell
	RejectBadType        RejectCode = "BAD_ORD_TYPE"      // neither limit nor market
	RejectBadTIF         RejectCode = "BAD_TIME_IN_FORCE" // unknown, or day on a market order that would rest
	RejectBadQty         RejectCode = "BAD_ORDER_QTY"     // not in (0, 1,000,000]
	RejectBadPrice       RejectCode = "BAD_PRICE"         // missing on a limit order, present on a market order, or not positive
	RejectOffGrid        RejectCode = "PRICE_OFF_GRID"
	RejectDuplicate      RejectCode = "DUPLICATE_CL_ORD_ID"  // the id was used with another body
	RejectUnknownOrder   RejectCode = "UNKNOWN_ORDER"        // no open or remembered order of that account with that id
	RejectTooLate        RejectCode = "TOO_LATE"             // the order is terminal
	RejectBelowCum       RejectCode = "QTY_BELOW_CUM_QTY"    // a replace to less than what is filled
	RejectTooManyOpen    RejectCode = "TOO_MANY_OPEN_ORDERS" // the account has as many resting orders as it may
	RejectShuttingDown   RejectCode = "SHUTTING_DOWN"
)
