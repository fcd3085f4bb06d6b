package plan

import (
	"encoding/json"
	"fmt"
)

// Schema returns the JSON Schema (2020-12) of a plan's file, for editors.
func Schema() ([]byte, error) {
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	}
	one, several := make(map[string]any), make(map[string]any)
	for _, a := range axisList {
		described := map[string]any{"description": a.about}
		for k, v := range a.schema {
			described[k] = v
		}
		one[a.name] = described
		several[a.name] = map[string]any{
			"description": a.about,
			"anyOf":       []any{a.schema, map[string]any{"type": "array", "items": a.schema, "minItems": 1}},
		}
	}
	duration := func(about string) map[string]any {
		return map[string]any{"type": "string", "description": about + " Such as 500ms, 4s or 2m.", "pattern": `^[0-9.]+(ms|s|m|h)([0-9.]+(ms|s|m))*$`}
	}
	list := func(item map[string]any) map[string]any { return map[string]any{"type": "array", "items": item} }
	schema := object(map[string]any{
		"name":       map[string]any{"type": "string"},
		"about":      map[string]any{"type": "string", "description": "A sentence for people."},
		"rounds":     map[string]any{"type": "integer", "description": "Each runs every cell once: 1 for a look, 6 or more for a verdict.", "not": map[string]any{"minimum": 2, "maximum": MinRounds - 1}, "minimum": 1, "maximum": MostRounds},
		"warmup":     duration("Before each measured window."),
		"window":     duration("The measured part of a run."),
		"seed":       map[string]any{"type": "integer", "minimum": 0, "description": "Of synthetic sources."},
		"base":       object(one),
		"cells":      list(map[string]any{"anyOf": []any{oneOf(Names()...), object(one)}}),
		"axes":       object(several),
		"vary":       object(several),
		"thresholds": list(map[string]any{"type": "string", "description": "Such as " + thresholdExample + "."}),
		"orders": object(map[string]any{
			"paths":         list(oneOf(PathNames()...)),
			"encoding":      oneOf(encodings...),
			"workers":       map[string]any{"type": "integer", "minimum": 1},
			"rate":          map[string]any{"type": "number", "exclusiveMinimum": 0, "description": "Orders per second of the open loop."},
			"window":        duration("Of each run of orders."),
			"payload_bytes": map[string]any{"type": "integer", "minimum": 0},
			"beside":        oneOf(append(Names(), NoStreams)...),
		}),
	})
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "A plan of tickgauge compare"
	b, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return append(b, '\n'), nil
}
