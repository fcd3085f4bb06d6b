package wire

import (
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
)

// AppendTick appends the JSON object of a tick, as a quote has it. A symbol that
// is not UTF-8 and an unknown side or origin are errors.
func AppendTick(dst []byte, t *feed.Tick) ([]byte, error) {
	if err := checkTick(t); err != nil {
		return dst, fmt.Errorf("encode JSON: tick.%w", err)
	}
	return appendTickJSON(dst, t), nil
}

// UnmarshalTick reads the JSON object of a tick into t, whose former content goes.
func UnmarshalTick(data []byte, t *feed.Tick) error {
	if err := readJSON(data, "tick", false, func(r *reader) error { return r.tick(t) }); err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	return nil
}

// AppendSymbols appends the JSON object of the listed symbols, in their order. A
// name that is not UTF-8 is an error.
func AppendSymbols(dst []byte, symbols []feed.Symbol) ([]byte, error) {
	out := append(dst, `{"symbols":[`...)
	for i, s := range symbols {
		if err := checkText(fmt.Sprintf("symbols[%d].name", i), s.Name); err != nil {
			return dst, fmt.Errorf("encode JSON: %w", err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(append(out, `{"name":`...), s.Name)
		out = s.TickSize.Append(append(out, `,"tickSize":"`...))
		out = append(out, `"}`...)
	}
	return append(out, "]}"...), nil
}

// UnmarshalSymbols reads what AppendSymbols writes.
func UnmarshalSymbols(data []byte) ([]feed.Symbol, error) {
	symbols := []feed.Symbol{}
	err := readJSON(data, "", false, func(r *reader) error {
		return r.object(func(name []byte) error {
			if string(name) == "symbols" {
				return r.symbols(&symbols)
			}
			return r.unknown()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	return symbols, nil
}

func (r *reader) symbols(to *[]feed.Symbol) error {
	return r.array(func() error {
		var s feed.Symbol
		err := r.object(func(name []byte) error {
			switch string(name) {
			case "name":
				return r.string(&s.Name)
			case "tickSize":
				return r.price(&s.TickSize)
			}
			return r.unknown()
		})
		*to = append(*to, s)
		return err
	})
}

// AppendProblem appends the JSON object of a problem, the body of every REST
// error. Text that is not UTF-8 is mended, so the error is always nil; it is
// there to make the functions of this package alike.
func AppendProblem(dst []byte, p *feed.Problem) ([]byte, error) {
	return appendProblemJSON(dst, p), nil
}

// UnmarshalProblem reads the JSON object of a problem into p, whose former
// content goes.
func UnmarshalProblem(data []byte, p *feed.Problem) error {
	*p = feed.Problem{}
	if err := readJSON(data, "problem", false, func(r *reader) error { return r.problem(p) }); err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	return nil
}
