package wire

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// TestEveryRejectHasAStatus holds the table to what package order declares.
func TestEveryRejectHasAStatus(t *testing.T) {
	source, err := os.ReadFile("../../order/reject.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\tReject\w+ +RejectCode = "(\w+)"`).FindAllSubmatch(source, -1)
	for _, line := range declared {
		if _, ok := rejects[order.RejectCode(line[1])]; !ok {
			t.Errorf("%s has no status", line[1])
		}
	}
	if len(rejects) != len(declared) || len(declared) < 15 {
		t.Errorf("%d codes have a status, and %d are declared", len(rejects), len(declared))
	}
	for code, s := range rejects {
		if p, ok := statuses[feed.ProblemCode(code)]; ok && (p.grpc != s.grpc || p.http != s.http) {
			t.Errorf("%s is %s and %d of an order, and %s and %d of market data", code, s.grpc, s.http, p.grpc, p.http)
		}
	}
}

// TestDocumentedRejects holds the table of docs/wire.md to that of the code.
func TestDocumentedRejects(t *testing.T) {
	table, ok := docSection(t, "Refused orders")
	if !ok {
		t.Fatal("docs/wire.md has no section Refused orders")
	}
	documented := make(map[order.RejectCode]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([A-Z_]+) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\| .+ \\|$").FindAllStringSubmatch(table, -1) {
		code := order.RejectCode(row[1])
		if documented[code] {
			t.Errorf("%s is documented twice", code)
		}
		documented[code] = true
		var c codes.Code
		if err := c.UnmarshalJSON([]byte(strconv.Quote(row[2]))); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		s, ok := rejects[code]
		if !ok || s.grpc != c || fmt.Sprint(s.http, s.ord, s.cxl) != strings.Join(row[3:6], " ") {
			t.Errorf("%s is documented as %s, the code says %+v", code, row[2:6], s)
		}
	}
	for code := range rejects {
		if !documented[code] {
			t.Errorf("%s is not documented", code)
		}
	}
}

func TestRejectStatuses(t *testing.T) {
	for _, c := range []struct {
		code     order.RejectCode
		http     int
		grpc     codes.Code
		ord, cxl int
	}{
		{order.RejectBadQty, 400, codes.InvalidArgument, 13, 99},
		{order.RejectDuplicate, 409, codes.AlreadyExists, 6, 6},
		{order.RejectUnknownOrder, 404, codes.NotFound, 5, 1},
		{order.RejectTooLate, 409, codes.FailedPrecondition, 4, 0},
		{"NEW", 500, codes.Internal, 99, 99},
		{"", 500, codes.Internal, 99, 99},
	} {
		e := order.Execution{ClOrdID: "a", Reject: c.code, Text: "text", ExecType: order.ExecRejected, OrdStatus: order.Rejected}
		err := RejectGRPCStatus(&e)
		if got := status.Code(err); got != c.grpc || RejectHTTPStatus(c.code) != c.http {
			t.Errorf("%q is %s and %d, want %s and %d", c.code, got, RejectHTTPStatus(c.code), c.grpc, c.http)
		}
		if got := status.Convert(err).Message(); got != string(c.code)+": text" {
			t.Errorf("message %q", got)
		}
		if got, ok := RejectedExecution(fmt.Errorf("execute: %w", err)); !ok || got != e {
			t.Errorf("carries %+v, %v", got, ok)
		}
		for action, want := range map[order.Action][2]int{order.ActionExecute: {103, c.ord}, order.ActionNone: {103, c.ord},
			order.ActionCancel: {102, c.cxl}, order.ActionReplace: {102, c.cxl}} {
			if tag, value := FIXReason(c.code, action); tag != want[0] || value != want[1] {
				t.Errorf("%q of action %d is %d=%d, want %d=%d", c.code, action, tag, value, want[0], want[1])
			}
		}
	}
	for _, err := range []error{nil, errors.New("x"), status.Error(codes.NotFound, "no details"), GRPCStatus(&feed.Problem{Code: feed.CodeInternal})} {
		if e, ok := RejectedExecution(err); ok {
			t.Errorf("%v carries %+v", err, e)
		}
	}
	mended := RejectGRPCStatus(&order.Execution{ClOrdID: "a\xff", Reject: order.RejectBadID, Text: "\xff"})
	if e, ok := RejectedExecution(mended); !ok || e.ClOrdID != "a\uFFFD" || e.Text != "\uFFFD" {
		t.Errorf("%v carries %+v, %v", mended, e, ok)
	}
}

func TestRejectionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, e := drawProblem(t), drawExecution(t)
		data, err := AppendRejection([]byte("before"), &p, &e)
		data = must(t, data, err)
		gotP, gotE := drawProblem(t), drawExecution(t)
		if refused, err := UnmarshalRejection(data[6:], &gotP, &gotE); err != nil || !refused || gotP != p || gotE != e {
			t.Fatalf("%q\nreads as %+v %+v, %v, %v", data, gotP, gotE, refused, err)
		}
		if err := UnmarshalProblem(data[6:], &gotP); err != nil || gotP != p {
			t.Fatalf("as a problem alone: %+v, %v", gotP, err)
		}
		data, err = AppendProblem(nil, &p)
		before := gotE
		if refused, err := UnmarshalRejection(must(t, data, err), &gotP, &gotE); err != nil || refused || gotP != p || gotE != before {
			t.Fatalf("without an execution: %+v %+v, %v, %v", gotP, gotE, refused, err)
		}
	})
	var p feed.Problem
	var e order.Execution
	for data, want := range map[string]string{
		`{"execution":{"avgPx":"x"}}`:     "problem.execution.avgPx: ",
		`{"execution":{},"execution":{}}`: "problem.execution: stands twice",
		`{"execution":null}`:              "problem.execution: want an object, got null",
		`{"execution":{},"fatal":1}`:      "problem.fatal: ",
	} {
		refused, err := UnmarshalRejection([]byte(data), &p, &e)
		wantError(t, err, want)
		if refused {
			t.Errorf("%s is refused", data)
		}
	}
	_, err := AppendRejection(nil, &p, &order.Execution{Side: 9})
	wantError(t, err, "execution.side: unknown value 9")
}

func TestWriteRejection(t *testing.T) {
	for _, c := range []struct {
		execution order.Execution
		status    int
		body      string
	}{
		{order.Execution{ClOrdID: "a", OrderQty: -1_00000000, ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: order.RejectBadQty, Text: "orderQty: -1"},
			400, `{"code":"BAD_ORDER_QTY","message":"orderQty: -1","requestId":"r-1","execution":{"clOrdId":"a","orderQty":"-1",` +
				`"execType":"REJECTED","ordStatus":"REJECTED","cumQty":"0","leavesQty":"0","ordRejReason":"BAD_ORDER_QTY","text":"orderQty: -1"}}`},
		{order.Execution{Symbol: "X\xff", ExecType: order.ExecRejected, Reject: order.RejectUnknownSymbol},
			404, `{"code":"UNKNOWN_SYMBOL","message":"","symbol":"X` + "\uFFFD" + `","requestId":"r-1","execution":{"symbol":"X` + "\uFFFD" +
				`","orderQty":"0","execType":"REJECTED","cumQty":"0","leavesQty":"0","ordRejReason":"UNKNOWN_SYMBOL"}}`},
		{order.Execution{Side: 9, Reject: order.RejectBadSide}, 400, `{"code":"BAD_SIDE","message":"","requestId":"r-1"}`},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v2/orders/execute", nil)
		r.Header.Set(RequestIDHeader, "r-1")
		WriteRejection(w, r, &c.execution)
		h := w.Header()
		if w.Code != c.status || w.Body.String() != c.body+"\n" || h.Get(RequestIDHeader) != "r-1" || h.Get("Content-Type") != "application/json" {
			t.Errorf("got  %d %s %v\nwant %d %s", w.Code, w.Body, h, c.status, c.body)
		}
	}
}
