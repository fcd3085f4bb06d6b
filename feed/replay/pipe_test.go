package replay

import (
	"path/filepath"
	"strings"
	"testing"

	"syscall"
)

// A pipe is refused at once: opening one waits for a writer.
func TestPipeIsNoCapture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("error %v, want that it is no regular file", err)
	}
}
