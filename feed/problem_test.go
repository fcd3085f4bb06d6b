package feed

import (
	"errors"
	"testing"
)

// problemCode returns the code of a *Problem, and "" for any other error.
func problemCode(err error) ProblemCode {
	var p *Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

func TestProblemError(t *testing.T) {
	p := &Problem{Code: CodeUnknownSymbol, Message: "symbol Z is not listed", Symbol: "Z"}
	if got := p.Error(); got != "UNKNOWN_SYMBOL: symbol Z is not listed" {
		t.Errorf("the error reads %q", got)
	}
}
