package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"cursord/agent/plaintext"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// How much of a tool call's texts clients get; item/read has everything.
const (
	outputEnds = 8 << 10 // kept of each end of a tool's output, in bytes
	argMax     = 4 << 10 // longer strings in args and result are cut …
	argKept    = 1 << 10 // … to this
)

// CutTool returns the tool as clients see it. If something was cut, it also returns the whole in the form for DecodeTool;
// otherwise nil.
func CutTool(whole *sessions.Tool) (cut *sessions.Tool, detail []byte) {
	c := *whole
	c.Output, c.OutputTruncated = cutOutput(whole.Output)
	c.Error = CutText(whole.Error, argMax)
	c.Command = CutText(whole.Command, argMax)
	c.Paths = cutPaths(whole.Paths)
	c.Args = cutJSON(whole.Args)
	c.Result = cutJSON(whole.Result)
	if c.OutputTruncated || len(c.Error) != len(whole.Error) || len(c.Command) != len(whole.Command) ||
		!slices.Equal(c.Paths, whole.Paths) || len(c.Args) != len(whole.Args) || len(c.Result) != len(whole.Result) {
		detail = encodeTool(whole)
	}
	return &c, detail
}

// cutPaths cuts paths that are too long to name a file.
func cutPaths(all []string) []string {
	if !slices.ContainsFunc(all, func(p string) bool { return paths.TooLong(p) != "" }) {
		return all
	}
	cut := make([]string, len(all))
	for i, p := range all {
		cut[i] = paths.Short(p)
	}
	return cut
}

// cutOutput keeps both ends of a long output, on rune boundaries.
func cutOutput(s string) (string, bool) {
	if len(s) <= 2*outputEnds {
		return s, false
	}
	return plaintext.Cut(s, outputEnds) + plaintext.CutFront(s, outputEnds), true
}

// CutText cuts a text longer than limit bytes to its first limit bytes, or to 1 KiB if that is less, and adds how long it
// was.
func CutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return plaintext.Cut(s, min(limit, argKept)) + fmt.Sprintf("…(%d bytes)", len(s))
}

// Encode returns v as JSON without HTML escapes, in valid UTF-8. It panics if v cannot be encoded.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	if out := bytes.TrimSuffix(b.Bytes(), []byte("\n")); utf8.Valid(out) {
		return out
	}
	return bytes.ToValidUTF8(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\uFFFD")) // for JSON that came from outside
}
