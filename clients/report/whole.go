package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteWhole writes what write gives to path, whole or not at all: into a file
// beside it that takes its place at the end. Where that fails, on a full disk too,
// an earlier file stays as it was. What is no file, as a pipe, is written to as it
// comes. The error names path, not the file that takes it until it is whole.
func WriteWhole(path string, write func(w io.Writer) error) error {
	err := writeWhole(path, write)
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeWhole(path string, write func(w io.Writer) error) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory; name a file")
	case !info.Mode().IsRegular():
		return writeStream(path, write)
	default:
		if path, err = filepath.EvalSymlinks(path); err != nil { // a link stays one
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".results-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already after the rename
	err = write(tmp)
	for _, then := range []func() error{func() error { return tmp.Chmod(0o644) }, tmp.Sync} {
		if err == nil {
			err = then()
		}
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}

// writeStream writes to a pipe or a device, which must never be replaced.
func writeStream(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
