package rpc

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"
)

// edge is how many bytes are kept of each end of a line over the limit. Most requests have their id there, before or behind their parameters.
const edge = 512

// A skipped is what is kept of a line over the limit.
type skipped struct{ head, tail []byte }

// add keeps the ends of part, which follows line; line has the beginning until the first call.
func (s *skipped) add(line, part []byte) {
	if s.head == nil {
		s.head = bytes.Clone(line[:min(len(line), edge)])
	}
	s.tail = append(s.tail, part[max(0, len(part)-edge):]...)
	s.tail = append([]byte(nil), s.tail[max(0, len(s.tail)-edge):]...)
}

// idPatterns find an id in front of a request's parameters, and behind them. They are compiled at the first use.
var idPatterns = sync.OnceValue(func() [2]*regexp.Regexp {
	const id = `"id"\s*:\s*("[^"\\]*"|-?\d+)\s*`
	return [2]*regexp.Regexp{regexp.MustCompile(`^\s*\{[^{]*?` + id + `,`), regexp.MustCompile(`,\s*` + id + `\}\s*$`)}
})

// id returns the id of the request in the skipped line, or nil if its ends do not show one.
func (s *skipped) id() json.RawMessage {
	head, _, _ := bytes.Cut(s.head, []byte(`"params"`))
	if found := idPatterns()[0].FindSubmatch(append(head, ',')); found != nil {
		return found[1]
	}
	if found := idPatterns()[1].FindSubmatch(s.tail); found != nil {
		return found[1]
	}
	return nil
}

// SkippedID returns the id of the request that the last Read has skipped with ErrTooLong. It is nil if the ends of the line do not show one, or
// if the message had headers.
func (f *FrameReader) SkippedID() json.RawMessage { return f.skipped.id() }
