package wire

import (
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func priceMember(dst []byte, name string, v feed.Price) []byte {
	if v == 0 {
		return dst
	}
	return append(v.Append(append(appendName(dst, name), '"')), '"')
}

func sizeMember(dst []byte, name string, v feed.Size) []byte {
	if v == 0 {
		return dst
	}
	return append(v.Append(append(appendName(dst, name), '"')), '"')
}

// appendOrderJSON takes a request that checkOrder has passed, so that what its
// action does not use is zero.
func appendOrderJSON(dst []byte, q *order.Request, padding string) []byte {
	dst = textMember(append(dst, '{'), "account", q.Account)
	dst = textMember(dst, "clOrdId", q.ClOrdID)
	dst = textMember(dst, "origClOrdId", q.OrigClOrdID)
	dst = textMember(dst, "symbol", q.Symbol)
	dst = enumMember(dst, "side", q.Side, sideNames)
	dst = enumMember(dst, "ordType", q.Type, ordTypeNames)
	dst = enumMember(dst, "timeInForce", q.TimeInForce, tifNames)
	dst = sizeMember(dst, "orderQty", q.OrderQty)
	dst = priceMember(dst, "price", q.Price)
	return append(textMember(dst, "padding", padding), '}')
}

// appendOrderMember appends an object with the request under the word of its action.
func appendOrderMember(dst []byte, q *order.Request, padding string) []byte {
	dst = appendName(append(dst, '{'), actionNames[q.Action])
	return append(appendOrderJSON(dst, q, padding), '}')
}

// appendExecutionJSON takes a report that checkedExecution has passed. It always
// writes the three quantities that say how much of the order is done.
func appendExecutionJSON(dst []byte, e *order.Execution) []byte {
	dst = textMember(append(dst, '{'), "account", e.Account)
	dst = textMember(dst, "clOrdId", e.ClOrdID)
	dst = textMember(dst, "origClOrdId", e.OrigClOrdID)
	dst = textMember(dst, "symbol", e.Symbol)
	dst = enumMember(dst, "side", e.Side, sideNames)
	dst = enumMember(dst, "ordType", e.Type, ordTypeNames)
	dst = enumMember(dst, "timeInForce", e.TimeInForce, tifNames)
	dst = e.OrderQty.Append(append(appendName(dst, "orderQty"), '"'))
	dst = priceMember(append(dst, '"'), "price", e.Price)
	dst = uint64Member(dst, "orderId", e.OrderID)
	dst = uint64Member(dst, "execId", e.ExecID)
	dst = uint64Member(dst, "reportSeq", e.ReportSeq)
	dst = enumMember(dst, "execType", e.ExecType, execTypeNames)
	dst = enumMember(dst, "ordStatus", e.OrdStatus, statusNames)
	dst = sizeMember(dst, "lastQty", e.LastQty)
	dst = priceMember(dst, "lastPx", e.LastPx)
	dst = e.CumQty.Append(append(dst, `,"cumQty":"`...))
	dst = e.LeavesQty.Append(append(dst, `","leavesQty":"`...))
	dst = priceMember(append(dst, '"'), "avgPx", e.AvgPx)
	dst = textMember(dst, "ordRejReason", string(e.Reject))
	dst = textMember(dst, "text", e.Text)
	dst = int64Member(dst, "transactTime", e.TransactTimeNS)
	return append(int64Member(dst, "serviceNs", e.ServiceNS), '}')
}

// same reads a string, but takes before again instead of making one that is equal.
func (r *reader) same(to *string, before string) error {
	b, err := r.text()
	if string(b) == before {
		*to = before
	} else {
		*to = string(b)
	}
	return err
}

func unmarshalOrderRequestJSON(data []byte, q *order.Request) error {
	q.Action = order.ActionNone
	return readJSON(data, "", true, func(r *reader) error {
		err := r.object(func(name []byte) error {
			if action := actionNamed(name); action != order.ActionNone {
				return r.union(action, q, errNoOrder)
			}
			return r.unknown()
		})
		if err == nil && q.Action == order.ActionNone {
			err = errNoOrder
		}
		return err
	})
}

// union reads the body of an action into q, which must have none yet.
func (r *reader) union(action order.Action, q *order.Request, several error) error {
	if q.Action != order.ActionNone {
		return several
	}
	q.Action = action
	return r.order(q)
}

// order reads the body of q's action, which has no members of the other actions.
func (r *reader) order(q *order.Request) error {
	before := order.Request{Account: q.Account, Symbol: q.Symbol}
	*q = order.Request{Action: q.Action}
	return r.object(func(name []byte) error {
		switch string(name) {
		case "account":
			return r.same(&q.Account, before.Account)
		case "clOrdId":
			return r.string(&q.ClOrdID)
		}
		if q.Action == order.ActionExecute {
			return r.executeMember(name, q, before.Symbol)
		}
		switch string(name) {
		case "origClOrdId":
			return r.string(&q.OrigClOrdID)
		case "orderQty":
			if q.Action == order.ActionReplace {
				return r.size(&q.OrderQty)
			}
		case "price":
			if q.Action == order.ActionReplace {
				return r.price(&q.Price)
			}
		}
		return r.unknown()
	})
}

func (r *reader) executeMember(name []byte, q *order.Request, symbol string) error {
	switch string(name) {
	case "symbol":
		return r.same(&q.Symbol, symbol)
	case "side":
		return readEnum(r, &q.Side, sideNames)
	case "ordType":
		return readEnum(r, &q.Type, ordTypeNames)
	case "timeInForce":
		return readEnum(r, &q.TimeInForce, tifNames)
	case "orderQty":
		return r.size(&q.OrderQty)
	case "price":
		return r.price(&q.Price)
	case "padding":
		_, err := r.text()
		return err
	}
	return r.unknown()
}

// execution resets e, but takes its account and symbol again where they are equal.
func (r *reader) execution(e *order.Execution) error {
	account, symbol := e.Account, e.Symbol
	*e = order.Execution{}
	return r.object(func(name []byte) error {
		switch string(name) {
		case "account":
			return r.same(&e.Account, account)
		case "clOrdId":
			return r.string(&e.ClOrdID)
		case "origClOrdId":
			return r.string(&e.OrigClOrdID)
		case "symbol":
			return r.same(&e.Symbol, symbol)
		case "side":
			return readEnum(r, &e.Side, sideNames)
		case "ordType":
			return readEnum(r, &e.Type, ordTypeNames)
		case "timeInForce":
			return readEnum(r, &e.TimeInForce, tifNames)
		case "orderQty":
			return r.size(&e.OrderQty)
		case "price":
			return r.price(&e.Price)
		case "orderId":
			return r.uint64(&e.OrderID)
		case "execId":
			return r.uint64(&e.ExecID)
		case "reportSeq":
			return r.uint64(&e.ReportSeq)
		case "execType":
			return readEnum(r, &e.ExecType, execTypeNames)
		case "ordStatus":
			return readEnum(r, &e.OrdStatus, statusNames)
		case "lastQty":
			return r.size(&e.LastQty)
		case "lastPx":
			return r.price(&e.LastPx)
		case "cumQty":
			return r.size(&e.CumQty)
		case "leavesQty":
			return r.size(&e.LeavesQty)
		case "avgPx":
			return r.price(&e.AvgPx)
		case "ordRejReason":
			return r.string((*string)(&e.Reject))
		case "text":
			return r.string(&e.Text)
		case "transactTime":
			return r.int64(&e.TransactTimeNS)
		case "serviceNs":
			return r.int64(&e.ServiceNS)
		}
		return r.unknown()
	})
}
