package report

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWriteWholeKeepsTheOldFile: what fails half way leaves what was there.
func TestWriteWholeKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "old.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteWhole(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "ne"); err != nil {
			t.Error(err)
		}
		return errFull
	})
	if !errors.Is(err, errFull) {
		t.Errorf("error %v, want that the disk is full", err)
	}
	holds(t, path, "old")
	only(t, dir, "old.json")
}

// TestWriteWholeKeepsLinksAndPipes: neither is replaced by a file.
func TestWriteWholeKeepsLinksAndPipes(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	put := func(path string) {
		t.Helper()
		if err := WriteWhole(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
			t.Error(err)
		}
	}
	put(link)
	holds(t, file, "new")
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}

	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		got <- string(b)
	}()
	put(pipe)
	if s := <-got; s != "new" {
		t.Errorf("through the pipe came %q", s)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info, err)
	}
	only(t, dir, "file", "link", "pipe")
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", path, b, err, want)
	}
}
