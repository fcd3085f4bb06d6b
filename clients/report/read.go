package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// schemaPrefix and a number are the schemas of results.json; oldest and newest are
// those that ReadFile takes.
const (
	schemaPrefix = "tickgauge.results/v"
	oldest       = 1
	newest       = 2
)

// Read reads a results.json, or that of a directory; that of a comparison which has
// not come to its end has all runs that are there.
func Read(path string) (*Results, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read results: %w", err)
	case !info.IsDir():
		return ReadFile(path)
	}
	r, err := ReadFile(filepath.Join(path, "results.json"))
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	d, err := OpenDirectory(path, nil)
	if errors.Is(err, ErrNoComparison) {
		return nil, fmt.Errorf("read results %s: the directory has neither a results.json nor the %s of a comparison; name another, or a file that --json wrote", path, planFile)
	}
	if err != nil {
		return nil, err
	}
	if r, err = d.Results(); err == nil && r.Schema == "" {
		err = fmt.Errorf("read results %s: no run has ended yet; go on with compare --resume %s", path, path)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// ReadFile reads a results.json of this schema or an older one, which it brings up
// to this one. A newer schema, a file that is not whole and another JSON are errors.
func ReadFile(path string) (*Results, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	r, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("read results %s: %w", path, err)
	}
	return r, nil
}

func parse(b []byte) (*Results, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	err := json.NewDecoder(bytes.NewReader(b)).Decode(&head)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("the file ends early, after %d bytes: it was not written or copied whole; take another copy, or measure again", len(b))
	case err != nil && !errors.As(err, &kind):
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	version, err := strconv.Atoi(strings.TrimPrefix(head.Schema, schemaPrefix))
	switch {
	case !strings.HasPrefix(head.Schema, schemaPrefix) || err != nil || version < oldest:
		return nil, fmt.Errorf("no results of tickgauge: the schema is %q, not %s%d; name a file that --json wrote", head.Schema, schemaPrefix, newest)
	case version > newest:
		return nil, fmt.Errorf("the schema is %s, and this program reads up to v%d; use a newer tickgauge", head.Schema, newest)
	}
	var r Results
	if err := json.Unmarshal(b, &r); errors.As(err, &kind) {
		return nil, fmt.Errorf("%s has the JSON value %s, which tickgauge never writes there; take the file as it was written", strings.ReplaceAll(kind.Field, ".Cell.", "."), kind.Value) // Cell is embedded, and no name of the file
	} else if err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	return &r, r.complete()
}

// complete brings results up to this schema, and returns an error where they have
// holes that no writer leaves.
func (r *Results) complete() error {
	r.Schema = Schema
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Source == "" { // said once for all cells
			c.Source = r.Source
			c.Zipf = r.Zipf
		}
		if slices.Contains(c.Runs, nil) {
			return fmt.Errorf("a run of cell %s is null", c.Name())
		}
	}
	if slices.Contains(r.Orders, nil) {
		return errors.New("a run of orders is null")
	}
	return nil
}
