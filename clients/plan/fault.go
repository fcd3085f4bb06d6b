package plan

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with a plan.
type Fault struct {
	Line int // in the file; 0: of the whole
	Err  error
}

// Faults are all that is wrong with a plan, a line each; File stands before each
// where it is known.
type Faults struct {
	File string
	All  []Fault
}

// add adds a fault, once: what the base has is read for every cell.
func (f *Faults) add(line int, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, have := range f.All {
		if have.Line == line && have.Err.Error() == err.Error() {
			return
		}
	}
	f.All = append(f.All, Fault{line, err})
}

func (f *Faults) err() error {
	if len(f.All) == 0 {
		return nil
	}
	return f
}

func (f *Faults) Error() string {
	lines := make([]string, len(f.All))
	for i, fault := range f.All {
		switch {
		case f.File == "":
		case fault.Line == 0:
			lines[i] = f.File + ": "
		default:
			lines[i] = fmt.Sprintf("%s:%d: ", f.File, fault.Line)
		}
		lines[i] += fault.Err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the errors of all faults.
func (f *Faults) Unwrap() []error {
	errs := make([]error, len(f.All))
	for i, fault := range f.All {
		errs[i] = fault.Err
	}
	return errs
}
