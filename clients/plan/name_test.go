package plan

import (
	"strings"
	"testing"
)

// A plan's name is that of a directory, and leads nowhere else.
func TestNameIsOfADirectory(t *testing.T) {
	for _, name := range []string{"../../evil", "a/b", ".hidden", "-flag", "a b", "ä", `a\b`, strings.Repeat("n", 65), "a\x00b"} {
		_, err := Read(strings.NewReader("name: "+quoted(name)+"\ncells: [grpc]\n"), "p.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:1: ") || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"a", "quick-2", "v1.2_x", strings.Repeat("n", 64)} {
		if p, err := Read(strings.NewReader("name: "+quoted(name)+"\ncells: [grpc]\n"), "p.yaml"); err != nil || p.Name != name {
			t.Errorf("%q: %v", name, err)
		}
	}
	if p, err := Read(strings.NewReader("cells: [grpc]\n"), "p.yaml"); err != nil || p.Name == "" {
		t.Errorf("without a name: %v", err)
	}
}

// quoted is a YAML string in double quotes.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, "\x00", `\0`).Replace(s) + `"`
}

// A fault in what all cells have is told once.
func TestFaultsAreToldOnce(t *testing.T) {
	_, err := Read(strings.NewReader("base: {rate: .nan}\ncells: [grpc, websocket]\naxes: {transport: [grpc, sse], streams: [1, abc]}\n"), "p.yaml")
	if err == nil || err.Error() != "p.yaml:1: rate \".nan\", want a number\np.yaml:3: streams \"abc\", want a whole number" {
		t.Errorf("%v", err)
	}
}
