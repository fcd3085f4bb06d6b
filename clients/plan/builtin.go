package plan

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// BuiltIn lists the plans that come with the program.
func BuiltIn() []string { return []string{"quick", "default", "full"} }

// Text returns the file of a built-in plan, nil where there is none of the name.
func Text(name string) []byte {
	if !slices.Contains(BuiltIn(), name) {
		return nil
	}
	b, err := builtin.ReadFile(path.Join("builtin", name+".yaml"))
	if err != nil {
		return nil
	}
	return b
}

// Load reads a plan: a built-in one by its name, else a file.
func Load(nameOrFile string) (*Plan, error) {
	if b := Text(nameOrFile); b != nil {
		return Read(bytes.NewReader(b), nameOrFile)
	}
	f, err := os.Open(nameOrFile)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("plan %q: there is no such file, and no built-in plan of the name; those are %s", nameOrFile, strings.Join(BuiltIn(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("open plan: %w", err)
	}
	defer func() { _ = f.Close() }()
	return Read(f, nameOrFile)
}
