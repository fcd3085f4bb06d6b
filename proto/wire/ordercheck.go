package wire

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

var errNoOrder = errors.New("want exactly one of execute, cancel, replace")

func actionKnown(a order.Action) bool { return a > order.ActionNone && int(a) < len(actionNames) }

// checkOrder says why q cannot be written, so that what writes it cannot fail.
func checkOrder(q *order.Request, padding string) error {
	if !actionKnown(q.Action) {
		return errNoOrder
	}
	if err := checkOrderFields(q, padding); err != nil {
		return err
	}
	for _, f := range [...]struct{ name, text string }{
		{"account", q.Account}, {"clOrdId", q.ClOrdID}, {"origClOrdId", q.OrigClOrdID}, {"symbol", q.Symbol}, {"padding", padding},
	} {
		if !utf8.ValidString(f.text) {
			return checkText(f.name, f.text)
		}
	}
	return checkEnums(q.Side, q.Type, q.TimeInForce)
}

// checkOrderFields finds what the message of the action has no field for, which
// would otherwise be lost in silence.
func checkOrderFields(q *order.Request, padding string) error {
	bare := *q
	bare.Action, bare.Account, bare.ClOrdID = 0, "", ""
	switch q.Action {
	case order.ActionExecute:
		if q.OrigClOrdID != "" {
			return errors.New("execute has no origClOrdId")
		}
		return nil
	case order.ActionReplace:
		bare.OrigClOrdID, bare.OrderQty, bare.Price = "", 0, 0
		if bare != (order.Request{}) || padding != "" {
			return errors.New("replace has account, clOrdId, origClOrdId, orderQty and price alone")
		}
		return nil
	}
	bare.OrigClOrdID = ""
	if bare != (order.Request{}) || padding != "" {
		return errors.New("cancel has account, clOrdId and origClOrdId alone")
	}
	return nil
}

func checkEnums(side feed.Side, typ order.Type, tif order.TimeInForce) error {
	if err := checkEnum("side", side, sideNames); err != nil {
		return err
	}
	if err := checkEnum("ordType", typ, ordTypeNames); err != nil {
		return err
	}
	return checkEnum("timeInForce", tif, tifNames)
}

// checkedExecution returns e, or a copy with its text mended where it is a
// refusal: what that quotes of a bad request must not keep it from being told.
func checkedExecution(e *order.Execution) (*order.Execution, error) {
	if err := checkEnums(e.Side, e.Type, e.TimeInForce); err != nil {
		return nil, err
	}
	if err := checkEnum("execType", e.ExecType, execTypeNames); err != nil {
		return nil, err
	}
	if err := checkEnum("ordStatus", e.OrdStatus, statusNames); err != nil {
		return nil, err
	}
	for _, f := range [...]struct{ name, text string }{
		{"account", e.Account}, {"clOrdId", e.ClOrdID}, {"origClOrdId", e.OrigClOrdID},
		{"symbol", e.Symbol}, {"ordRejReason", string(e.Reject)}, {"text", e.Text},
	} {
		switch {
		case utf8.ValidString(f.text):
		case e.ExecType == order.ExecRejected:
			return mendedExecution(e), nil
		default:
			return nil, fmt.Errorf("%s: %s %w", f.name, quoteShort(f.text), errUTF8)
		}
	}
	return e, nil
}

func mendedExecution(e *order.Execution) *order.Execution {
	m := *e
	for _, text := range [...]*string{&m.Account, &m.ClOrdID, &m.OrigClOrdID, &m.Symbol, (*string)(&m.Reject), &m.Text} {
		*text = strings.ToValidUTF8(*text, "\uFFFD")
	}
	return &m
}
