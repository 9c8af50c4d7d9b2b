package term

import (
	"encoding/json"
	"io"
)

// PrintJSON prints v for programs, and for people who read it.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(PlainWriter{w})
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
