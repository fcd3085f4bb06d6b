package plan

import (
	"fmt"
	"slices"
	"strings"
)

// OrderCell is one way and load of executing orders.
type OrderCell struct {
	Path         string // grpc-unary, rest-unary, grpc-stream, websocket or rest+sse
	HTTPVersion  string // 1.1 or 2
	Encoding     string
	Workers      int
	Rate         float64 // orders/s of an open loop; 0: a closed loop
	PayloadBytes int     // 0: orders are not padded
}

// Name says which cell it is among others of one comparison.
func (c OrderCell) Name() string {
	name := c.Path
	if c.Path == "rest-unary" || c.Path == "rest+sse" {
		name += " h" + strings.TrimSuffix(c.HTTPVersion, ".1")
	}
	if c.Rate > 0 {
		return fmt.Sprintf("%s, %.0f orders/s", name, c.Rate)
	}
	return fmt.Sprintf("%s, %d workers", name, c.Workers)
}

// orderChoices are the paths of the default comparison by the names that select
// them.
var orderChoices = []struct{ name, path, version string }{
	{"grpc-unary", "grpc-unary", "2"},
	{"rest-unary", "rest-unary", "1.1"},
	{"rest-unary-h2c", "rest-unary", "2"},
	{"grpc-stream", "grpc-stream", "2"},
	{"websocket", "websocket", "1.1"},
	{"rest+sse", "rest+sse", "1.1"},
	{"rest+sse-h2c", "rest+sse", "2"},
}

// PathNames lists the paths that DefaultOrders knows.
func PathNames() []string {
	var names []string
	for _, c := range orderChoices {
		names = append(names, c.name)
	}
	return names
}

// DefaultOrders returns a cell for each path that is named, all where none is, in
// the given order; base has what they have in common. An unknown name is an error.
func DefaultOrders(names []string, base OrderCell) ([]OrderCell, error) {
	if len(names) == 0 {
		names = PathNames()
	}
	var cells []OrderCell
	for n, name := range names {
		i := slices.Index(PathNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("unknown path %q; choose from %s", name, strings.Join(PathNames(), ", "))
		}
		if slices.Index(names, name) != n {
			return nil, fmt.Errorf("path %q is named twice", name)
		}
		c := base
		c.Path, c.HTTPVersion = orderChoices[i].path, orderChoices[i].version
		cells = append(cells, c)
	}
	return cells, nil
}
