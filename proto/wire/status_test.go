package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/feed"
)

// problemCodes are the codes that package feed declares.
func problemCodes(t *testing.T) []feed.ProblemCode {
	t.Helper()
	source, err := os.ReadFile("../../feed/problem.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []feed.ProblemCode
	for _, line := range regexp.MustCompile(`(?m)^\tCode\w+ +ProblemCode = "(\w+)"`).FindAllSubmatch(source, -1) {
		out = append(out, feed.ProblemCode(line[1]))
	}
	if len(out) < 16 {
		t.Fatalf("found only %q", out)
	}
	return out
}

func TestEveryProblemHasAStatus(t *testing.T) {
	declared := problemCodes(t)
	for _, code := range declared {
		if _, ok := statuses[code]; !ok {
			t.Errorf("%s has no status", code)
		}
	}
	if len(statuses) != len(declared) {
		t.Errorf("%d codes have a status, and %d are declared", len(statuses), len(declared))
	}
}

// docSection returns what docs/wire.md has under a heading, up to the next one.
func docSection(t *testing.T, heading string) (text string, ok bool) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok = strings.Cut(string(doc), "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text, ok
}

// TestDocumentedStatuses holds the table of docs/wire.md to that of the code.
func TestDocumentedStatuses(t *testing.T) {
	table, ok := docSection(t, "Errors")
	if !ok {
		t.Fatal("docs/wire.md has no section Errors")
	}
	rows := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([A-Z_]+) \\| (\\d+) \\| .+ \\|$").FindAllStringSubmatch(table, -1)
	documented := make(map[feed.ProblemCode]bool)
	for _, row := range rows {
		code := feed.ProblemCode(row[1])
		if documented[code] {
			t.Errorf("%s is documented twice", code)
		}
		documented[code] = true
		var c codes.Code
		if err := c.UnmarshalJSON([]byte(strconv.Quote(row[2]))); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		if s, ok := statuses[code]; !ok || s.grpc != c || strconv.Itoa(s.http) != row[3] {
			t.Errorf("%s is documented as %s and %s, the code says %s and %d", code, row[2], row[3], s.grpc, s.http)
		}
	}
	for code := range statuses {
		if !documented[code] {
			t.Errorf("%s is not documented", code)
		}
	}
}

func TestHTTPStatus(t *testing.T) {
	for code, want := range map[feed.ProblemCode]int{feed.CodeNoTick: 404, feed.CodeRateLimited: 429, "NEW": 500, "": 500} {
		if got := HTTPStatus(code); got != want {
			t.Errorf("%s is %d, want %d", code, got, want)
		}
	}
}

func TestGRPCStatus(t *testing.T) {
	slow := &feed.Problem{Code: feed.CodeSlowConsumer, Message: "read faster"}
	own := status.Error(codes.Aborted, "own")
	for _, test := range []struct {
		err  error
		code codes.Code
		text string
	}{
		{slow, codes.ResourceExhausted, "SLOW_CONSUMER: read faster"},
		{fmt.Errorf("write: %w", slow), codes.ResourceExhausted, "SLOW_CONSUMER: read faster"},
		{errors.Join(slow, io.ErrClosedPipe), codes.ResourceExhausted, "SLOW_CONSUMER: read faster"},
		{errors.Join(context.Canceled, slow), codes.ResourceExhausted, "SLOW_CONSUMER: read faster"},
		{&feed.Problem{Code: "NEW", Message: "x"}, codes.Internal, "NEW: x"},
		{own, codes.Aborted, "own"},
		{fmt.Errorf("call: %w", own), codes.Aborted, "own"},
		{context.Canceled, codes.Canceled, "context canceled"},
		{context.DeadlineExceeded, codes.DeadlineExceeded, "context deadline exceeded"},
		{io.ErrUnexpectedEOF, codes.Internal, "unexpected EOF"},
	} {
		s, ok := status.FromError(GRPCStatus(test.err))
		if !ok || s.Code() != test.code || !strings.Contains(s.Message(), test.text) {
			t.Errorf("%v is %v, want %s with %q", test.err, s, test.code, test.text)
		}
	}
	if err := GRPCStatus(nil); err != nil {
		t.Errorf("nil is %v", err)
	}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		wrapped := status.Code(GRPCStatus(fmt.Errorf("read: %w", cause)))
		if want := status.FromContextError(cause).Code(); wrapped != want {
			t.Errorf("wrapped %v is %s, want %s", cause, wrapped, want)
		}
	}
}

func TestWriteProblem(t *testing.T) {
	write := func(id string, p *feed.Problem) (*http.Response, feed.Problem) {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		if id != "" {
			r.Header.Set(RequestIDHeader, id)
		}
		WriteProblem(w, r, p)
		body, ok := strings.CutSuffix(w.Body.String(), "\n")
		var got feed.Problem
		if err := UnmarshalProblem([]byte(body), &got); err != nil || !ok {
			t.Errorf("body %q: %v", w.Body, err)
		}
		return w.Result(), got
	}
	p := &feed.Problem{Code: feed.CodeUnknownSymbol, Message: `no "X"`, Symbol: "X"}
	resp, got := write("r-1", p)
	want := *p
	want.RequestID = "r-1"
	if resp.StatusCode != 404 || got != want || p.RequestID != "" {
		t.Errorf("%s %+v, want %+v; the problem is now %+v", resp.Status, got, want, p)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store", RequestIDHeader: "r-1"} {
		if got := resp.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	ids := make(map[string]bool)
	for _, asked := range []string{"", strings.Repeat("x", 129), ""} {
		resp, got := write(asked, p)
		if id := got.RequestID; id == "" || id == asked || id != resp.Header.Get(RequestIDHeader) || ids[id] {
			t.Errorf("asked with id %q, answered with %q", asked, id)
		}
		ids[got.RequestID] = true
	}
	if _, got := write(strings.Repeat("x", 128), p); len(got.RequestID) != 128 {
		t.Errorf("a request id of 128 bytes came back as %q", got.RequestID)
	}
	if resp, got := write("", &feed.Problem{Code: feed.CodeBadRequest, Message: "bad \xff"}); resp.StatusCode != 400 || got.Message != "bad \uFFFD" {
		t.Errorf("%s %+v, want the text mended", resp.Status, got)
	}
}
