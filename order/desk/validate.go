package desk

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// The bounds of a request.
const (
	MaxIDBytes = 64
	// MaxOrderQty is 1,000,000 in units of 1e-8.
	MaxOrderQty feed.Size = 1_000_000 * 100_000_000
)

// invalid says what is wrong with a request before anything is done about it,
// naming the field; an empty code means nothing is.
func (d *Desk) invalid(req *order.Request) (order.RejectCode, string) {
	if req.ClOrdID != "" || req.Action != order.ActionCancel {
		if text := badID("cl_ord_id", req.ClOrdID); text != "" {
			return order.RejectBadID, text
		}
	}
	switch req.Action {
	case order.ActionExecute:
		return d.invalidOrder(req)
	case order.ActionCancel, order.ActionReplace:
		if text := badID("orig_cl_ord_id", req.OrigClOrdID); text != "" {
			return order.RejectBadID, text
		}
		if req.Action == order.ActionCancel {
			return "", ""
		}
		if code, text := badQty(req.OrderQty); code != "" {
			return code, text
		}
		if req.Price <= 0 {
			return order.RejectBadPrice, fmt.Sprintf("price %s: a replace gives the price that the order is to have", req.Price)
		}
		return "", ""
	default:
		return order.RejectBadType, "neither an order, a cancel nor a replace"
	}
}

func (d *Desk) invalidOrder(req *order.Request) (order.RejectCode, string) {
	m := d.byName[req.Symbol]
	if m == nil {
		return order.RejectUnknownSymbol, "symbol " + short(req.Symbol) + " is not listed; GET /v2/symbols or ListSymbols tells which are"
	}
	if req.Side != feed.SideBuy && req.Side != feed.SideSell {
		return order.RejectBadSide, "side: want BUY or SELL"
	}
	if req.Type != order.Limit && req.Type != order.Market {
		return order.RejectBadType, "ord_type: want LIMIT or MARKET"
	}
	if req.TimeInForce > order.FOK {
		return order.RejectBadTIF, "time_in_force: want DAY, IOC or FOK"
	}
	if code, text := badQty(req.OrderQty); code != "" {
		return code, text
	}
	switch {
	case req.Type == order.Market && req.Price != 0:
		return order.RejectBadPrice, fmt.Sprintf("price %s: a market order has none", req.Price)
	case req.Type == order.Market:
	case req.Price <= 0:
		return order.RejectBadPrice, fmt.Sprintf("price %s: a limit order wants one above 0", req.Price)
	case req.Price%m.symbol.TickSize != 0:
		return order.RejectOffGrid, offGrid(req.Price, m.symbol)
	}
	return "", ""
}

func badQty(qty feed.Size) (order.RejectCode, string) {
	if qty <= 0 || qty > MaxOrderQty {
		return order.RejectBadQty, fmt.Sprintf("order_qty %s: want more than 0 and at most %s", qty, MaxOrderQty)
	}
	return "", ""
}

func offGrid(px feed.Price, s feed.Symbol) string {
	return fmt.Sprintf("price %s is not on the grid of %s, which is %s", px, short(s.Name), s.TickSize)
}

func badID(field, id string) string {
	switch {
	case id == "":
		return field + " is missing"
	case len(id) > MaxIDBytes:
		return fmt.Sprintf("%s has %d bytes, want at most %d", field, len(id), MaxIDBytes)
	case !utf8.ValidString(id):
		return field + " is not UTF-8"
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return field + " " + short(id) + " has control characters"
		}
	}
	return ""
}

func short(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// reportOn starts a report from what the request says of the order.
func reportOn(req order.Request) order.Execution {
	return order.Execution{
		Account: req.Account, ClOrdID: req.ClOrdID, OrigClOrdID: req.OrigClOrdID, Symbol: req.Symbol,
		Side: req.Side, Type: req.Type, TimeInForce: req.TimeInForce, OrderQty: req.OrderQty, Price: req.Price,
	}
}

// refuse answers a request that is about no order: FIX ExecType Rejected. An
// account that exists gets it as a report too.
func (d *Desk) refuse(h *holder, req order.Request, code order.RejectCode, text string, waited int64) order.Execution {
	e := reportOn(req)
	e.ExecType, e.OrdStatus, e.Reject, e.Text, e.ServiceNS = order.ExecRejected, order.Rejected, code, text, waited
	return d.refused(h, e)
}

// refuseChange answers a request about an order that stays as it is.
func (d *Desk) refuseChange(st *state, req order.Request, code order.RejectCode, text string, waited int64) order.Execution {
	e := st.last
	e.ClOrdID, e.OrigClOrdID, e.ServiceNS = req.ClOrdID, req.OrigClOrdID, waited
	e.ExecType, e.Reject, e.Text, e.LastQty, e.LastPx = order.ExecRejected, code, text, 0, 0
	return d.refused(st.holder, e)
}

func (d *Desk) refused(h *holder, e order.Execution) order.Execution {
	d.stats.rejected.Add(1)
	e.ExecID = d.execIDs.Add(1)
	e.TransactTimeNS = time.Now().UnixNano()
	if h != nil {
		// The answer has the names as they came, the ring none that is long: it keeps
		// thousands.
		kept := e
		kept.ClOrdID, kept.OrigClOrdID = clipped(e.ClOrdID), clipped(e.OrigClOrdID)
		if d.byName[e.Symbol] == nil {
			kept.Symbol = clipped(e.Symbol)
		}
		h.reports.Add(&kept)
		e.ReportSeq = kept.ReportSeq
	}
	return e
}

// clipped is a name, or a copy of its first MaxIDBytes.
func clipped(name string) string {
	if len(name) <= MaxIDBytes {
		return name
	}
	return strings.ToValidUTF8(name[:MaxIDBytes], "\uFFFD") + "…"
}
