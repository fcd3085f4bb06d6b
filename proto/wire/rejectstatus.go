package wire

import (
	"fmt"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// rejects is the table of docs/wire.md: what a refused order is on each transport,
// and FIX's word for it. FIX has no reason of its own for some: 99 is other.
var rejects = map[order.RejectCode]struct {
	grpc codes.Code
	http int
	ord  int // OrdRejReason
	cxl  int // CxlRejReason
}{
	order.RejectBadRequest:     {codes.InvalidArgument, http.StatusBadRequest, 99, 99},
	order.RejectUnknownAccount: {codes.NotFound, http.StatusNotFound, 15, 99},
	order.RejectUnknownSymbol:  {codes.NotFound, http.StatusNotFound, 1, 99},
	order.RejectBadID:          {codes.InvalidArgument, http.StatusBadRequest, 99, 99},
	order.RejectBadSide:        {codes.InvalidArgument, http.StatusBadRequest, 11, 99},
	order.RejectBadType:        {codes.InvalidArgument, http.StatusBadRequest, 11, 99},
	order.RejectBadTIF:         {codes.InvalidArgument, http.StatusBadRequest, 11, 99},
	order.RejectBadQty:         {codes.InvalidArgument, http.StatusBadRequest, 13, 99},
	order.RejectBadPrice:       {codes.InvalidArgument, http.StatusBadRequest, 99, 99},
	order.RejectOffGrid:        {codes.InvalidArgument, http.StatusBadRequest, 18, 18},
	order.RejectDuplicate:      {codes.AlreadyExists, http.StatusConflict, 6, 6},
	order.RejectUnknownOrder:   {codes.NotFound, http.StatusNotFound, 5, 1},
	order.RejectTooLate:        {codes.FailedPrecondition, http.StatusConflict, 4, 0},
	order.RejectBelowCum:       {codes.FailedPrecondition, http.StatusConflict, 13, 99},
	order.RejectTooManyOpen:    {codes.ResourceExhausted, http.StatusConflict, 3, 99},
	order.RejectShuttingDown:   {codes.Unavailable, http.StatusServiceUnavailable, 2, 2},
}

// The tags of FIX that FIXReason returns.
const (
	FIXOrdRejReason = 103
	FIXCxlRejReason = 102
)

// RejectHTTPStatus returns the HTTP status of a refused order; an unknown code is
// 500.
func RejectHTTPStatus(code order.RejectCode) int {
	if s, ok := rejects[code]; ok {
		return s.http
	}
	return http.StatusInternalServerError
}

// RejectGRPCStatus returns a refusal as a gRPC status error: the code of the
// table, unknown ones as INTERNAL, its word in front of the text, and the report
// in the details.
func RejectGRPCStatus(e *order.Execution) error {
	code := codes.Internal
	if s, ok := rejects[e.Reject]; ok {
		code = s.grpc
	}
	e = mendedExecution(e)
	s := status.New(code, string(e.Reject)+": "+e.Text)
	if detailed, err := s.WithDetails(ExecutionToProto(e)); err == nil {
		s = detailed
	}
	return s.Err()
}

// RejectedExecution returns the report that a gRPC error carries, where
// RejectGRPCStatus made it.
func RejectedExecution(err error) (order.Execution, bool) {
	s, ok := status.FromError(err)
	if !ok {
		return order.Execution{}, false
	}
	for _, d := range s.Details() {
		if p, ok := d.(*pb.Execution); ok {
			e, err := ExecutionFromProto(p)
			return e, err == nil
		}
	}
	return order.Execution{}, false
}

// FIXReason returns the tag that FIX tells a refusal of the action with, and its
// value: OrdRejReason for a new order, CxlRejReason for a cancel or a replace. An
// unknown code is 99, other.
func FIXReason(code order.RejectCode, action order.Action) (tag, value int) {
	s, ok := rejects[code]
	if !ok {
		s.ord, s.cxl = 99, 99
	}
	if action == order.ActionCancel || action == order.ActionReplace {
		return FIXCxlRejReason, s.cxl
	}
	return FIXOrdRejReason, s.ord
}

// AppendRejection appends the JSON body of a refused order: the problem, its code
// that of the refusal, with the report as its execution. Text that is not UTF-8 is
// mended; enumerations without a name are errors.
func AppendRejection(dst []byte, p *feed.Problem, e *order.Execution) ([]byte, error) {
	e, err := checkedExecution(e)
	if err != nil {
		return dst, fmt.Errorf("encode JSON rejection: execution.%w", err)
	}
	out := appendProblemJSON(dst, p)
	out = appendName(out[:len(out)-1], "execution")
	return append(appendExecutionJSON(out, e), '}'), nil
}

// UnmarshalRejection reads the body of a REST error, whether or not an order was
// refused, into p, whose former content goes, and the report into e. It tells
// whether there was a report; where not, e is untouched.
func UnmarshalRejection(data []byte, p *feed.Problem, e *order.Execution) (refused bool, err error) {
	*p = feed.Problem{}
	err = readJSON(data, "problem", false, func(r *reader) error {
		return r.object(func(name []byte) error {
			if string(name) == "execution" {
				refused = true
				return r.execution(e)
			}
			return r.problemMember(name, p)
		})
	})
	if err != nil {
		return false, fmt.Errorf("decode JSON: %w", err)
	}
	return refused, nil
}

// WriteRejection answers an HTTP request whose order was refused, as WriteProblem
// does, with the report in the body.
func WriteRejection(w http.ResponseWriter, r *http.Request, e *order.Execution) {
	p := feed.Problem{Code: feed.ProblemCode(e.Reject), Message: e.Text, RequestID: requestID(r)}
	if e.Reject == order.RejectUnknownSymbol {
		p.Symbol = e.Symbol
	}
	body, err := AppendRejection(nil, &p, e)
	if err != nil { // only a report that no desk makes can do this
		body = appendProblemJSON(nil, &p)
	}
	writeProblemBody(w, RejectHTTPStatus(e.Reject), p.RequestID, body)
}
