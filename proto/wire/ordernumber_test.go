package wire

import (
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/order"
)

// TestOrderNumbers has what each literal reads as, or what its error says. Whether
// a desk takes it is the desk's to say: 0, -1 and 1,000,000.00000001 are numbers.
func TestOrderNumbers(t *testing.T) {
	const bad = "-" // breaks the whole JSON
	for _, c := range []struct{ literal, orderQty, price string }{
		{`0`, "", ""},
		{`"0"`, "", ""},
		{`"-0"`, "", ""},
		{`0.0`, "", ""},
		{`-1`, "-1", "-1"},
		{`"-1"`, "-1", "-1"},
		{`1`, "1", "1"},
		{`1000000`, "1000000", "1000000"},
		{`"1000000.00000001"`, "1000000.00000001", "1000000.00000001"},
		{`1000000.00000001`, "1000000.00000001", "1000000.00000001"},
		{`0.00000001`, "0.00000001", "0.00000001"},
		{`1e-8`, "0.00000001", "0.00000001"},
		{`0.000000001`, "digits past 1e-8", "0.000000001"},
		{`"1.123456789"`, "digits past 1e-8", "1.123456789"},
		{`0.0000000001`, "digits past 1e-8", "digits past 1e-9"},
		{`1.1234567890`, "digits past 1e-8", "1.123456789"},
		{`1e6`, "1000000", "1000000"},
		{`"1E6"`, "1000000", "1000000"},
		{`1e400`, "beyond", "beyond"},
		{`"1e400"`, "beyond", "beyond"},
		{`-1e400`, "beyond", "beyond"},
		{`1e-400`, "digits past", "digits past"},
		{`9007199254.740993`, "9007199254.740993", "9007199254.740993"},
		{`9007199254740993`, "beyond", "beyond"},
		{`9223372036.854775807`, "digits past 1e-8", "9223372036.854775807"},
		{`92233720368.54775807`, "92233720368.54775807", "beyond"},
		{`92233720368.54775808`, "beyond", "beyond"},
		{`-92233720368.54775808`, "-92233720368.54775808", "beyond"},
		{`"NaN"`, "is no number", "is no number"},
		{`"Inf"`, "is no number", "is no number"},
		{`"-Infinity"`, "is no number", "is no number"},
		{`""`, "is no number", "is no number"},
		{`" 1"`, "is no number", "is no number"},
		{`"1,000"`, "not a decimal number", "not a decimal number"},
		{`"0x10"`, "not a decimal number", "not a decimal number"},
		{`null`, "got null", "got null"},
		{`true`, "got true", "got true"},
		{`[1]`, "got an array", "got an array"},
		{`NaN`, bad, bad},
		{`-Infinity`, bad, bad},
		{`01`, bad, bad},
		{`1.`, bad, bad},
	} {
		for member, want := range map[string]string{"orderQty": c.orderQty, "price": c.price} {
			for _, action := range []order.Action{order.ActionExecute, order.ActionReplace} {
				var q, in order.Request
				body := `{"` + member + `":` + c.literal + `}`
				err := UnmarshalOrder(JSON, []byte(body), action, &q)
				inErr := UnmarshalOrderRequest(JSON, []byte(`{"`+actionNames[action]+`":`+body+`}`), &in)
				if want == bad || strings.ContainsAny(want, "abcdefghijklmnopqrstuvwxyz") {
					wantError(t, err, "decode JSON order: ")
					wantError(t, inErr, "decode JSON order: "+actionNames[action])
					if want != bad {
						wantError(t, err, member+": ")
						wantError(t, err, want)
						wantError(t, inErr, actionNames[action]+"."+member+": ")
					}
					continue
				}
				got := q.OrderQty.String()
				if member == "price" {
					got = q.Price.String()
				}
				if want == "" {
					want = "0"
				}
				if err != nil || inErr != nil || got != want || in != q {
					t.Errorf("%s as %s reads as %s and %+v, %v, %v, want %s", c.literal, member, got, in, err, inErr, want)
				}
			}
		}
	}
}

// TestExecutionIDs: an id above 2^53 survives as a JSON number.
func TestExecutionIDs(t *testing.T) {
	for literal, want := range map[string]uint64{`9007199254740993`: 9007199254740993, `"9007199254740993"`: 9007199254740993,
		`18446744073709551615`: 18446744073709551615, `0`: 0} {
		var e order.Execution
		err := UnmarshalExecution(JSON, []byte(`{"orderId":`+literal+`,"execId":`+literal+`,"reportSeq":`+literal+`}`), &e)
		if err != nil || e.OrderID != want || e.ExecID != want || e.ReportSeq != want {
			t.Errorf("%s: %+v, %v", literal, e, err)
		}
	}
	for _, literal := range []string{`18446744073709551616`, `-1`, `1.5`, `1e3`, `1.0`, `"NaN"`, `null`} {
		for _, member := range []string{"orderId", "execId", "reportSeq"} {
			wantError(t, UnmarshalExecution(JSON, []byte(`{"`+member+`":`+literal+`}`), &order.Execution{}), "decode JSON execution: "+member+": ")
		}
		wantError(t, UnmarshalStreamRequest(JSON, []byte(`{"subscribe":{"afterReportSeq":`+literal+`}}`), &StreamRequest{}), "subscribe.afterReportSeq: ")
	}
}
