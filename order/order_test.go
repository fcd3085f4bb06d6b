package order

import "testing"

// TestTerminal: what is terminal stays so; a status without a name is not.
func TestTerminal(t *testing.T) {
	for status, want := range map[Status]bool{
		StatusNone: false, New: false, PartiallyFilled: false, Filled: true, Canceled: true, Rejected: true, Rejected + 1: false, 255: false,
	} {
		if status.Terminal() != want {
			t.Errorf("status %d is terminal: %v", status, !want)
		}
	}
}
