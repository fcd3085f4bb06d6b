package wire

import (
	"fmt"

	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// AppendExecution appends a report: the message Execution, which the unary calls
// and REST answer with. Text that is not UTF-8 is mended in a report with
// ExecRejected, as it may quote the client; elsewhere it is an error, as
// enumerations without a name are.
func AppendExecution(dst []byte, enc Encoding, e *order.Execution) ([]byte, error) {
	e, err := checkedExecution(e)
	if err != nil {
		return dst, fmt.Errorf("encode %s execution: %w", enc, err)
	}
	switch enc {
	case Protobuf:
		return appendExecutionProto(dst, e), nil
	case JSON:
		return appendExecutionJSON(dst, e), nil
	}
	return dst, unknownEncoding(enc)
}

// UnmarshalExecution reads a report into e, whose former content goes. A number
// that does not fit and an enumeration's value that is not known are errors that
// name the member. After an error e holds nothing of use.
func UnmarshalExecution(enc Encoding, data []byte, e *order.Execution) error {
	switch enc {
	case Protobuf:
		var p pb.Execution
		if err := unmarshalProto(data, &p); err != nil {
			return fmt.Errorf("decode protobuf execution: %w", err)
		}
		if err := executionFromProto(&p, e); err != nil {
			return fmt.Errorf("decode protobuf execution: %w", err)
		}
	case JSON:
		if err := readJSON(data, "", false, func(r *reader) error { return r.execution(e) }); err != nil {
			return fmt.Errorf("decode JSON execution: %w", err)
		}
	default:
		return unknownEncoding(enc)
	}
	return nil
}

// AppendExecutionMessage appends a whole MarketDataMessage that holds a report,
// with the errors of AppendExecution.
func AppendExecutionMessage(dst []byte, enc Encoding, e *order.Execution) ([]byte, error) {
	e, err := checkedExecution(e)
	if err != nil {
		return dst, fmt.Errorf("encode %s message: execution.%w", enc, err)
	}
	switch enc {
	case Protobuf:
		return nested(dst, executionField, func(dst []byte) []byte { return appendExecutionProto(dst, e) }), nil
	case JSON:
		return append(appendExecutionJSON(append(dst, `{"execution":`...), e), '}'), nil
	}
	return dst, unknownEncoding(enc)
}

// executionRoom is about what a report takes, so that it is allocated once.
func executionRoom(enc Encoding, e *order.Execution) int {
	texts := len(e.Account) + len(e.ClOrdID) + len(e.OrigClOrdID) + len(e.Symbol) + len(e.Reject) + len(e.Text)
	if enc == Protobuf {
		return texts + 128
	}
	return texts + 640
}
