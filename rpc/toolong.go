package rpc

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"
)

// edge is how many bytes are kept of each end of a line over the limit. A request's id is there, before or behind its parameters.
const edge = 512

// A skipped is what is kept of a line over the limit.
type skipped struct{ head, tail []byte }

func (s *skipped) add(line, part []byte) {
	if s.head == nil {
		s.head = bytes.Clone(line[:min(len(line), edge)])
	}
	s.tail = append(s.tail, part[max(0, len(part)-edge):]...)
	s.tail = append([]byte(nil), s.tail[max(0, len(s.tail)-edge):]...)
}

// ids finds an id in front of a request's parameters, and behind them. It is made when it is needed.
var ids = sync.OnceValue(func() [2]*regexp.Regexp {
	const id = `"id"\s*:\s*("[^"\\]*"|-?\d+)\s*`
	return [2]*regexp.Regexp{regexp.MustCompile(`^\s*\{[^{]*?` + id + `,`), regexp.MustCompile(`,\s*` + id + `\}\s*$`)}
})

// id returns the id of the request that the line is, as far as its ends show it; else nil.
func (s *skipped) id() json.RawMessage {
	head, _, _ := bytes.Cut(s.head, []byte(`"params"`))
	if found := ids()[0].FindSubmatch(append(head, ',')); found != nil {
		return found[1]
	}
	if found := ids()[1].FindSubmatch(s.tail); found != nil {
		return found[1]
	}
	return nil
}

// SkippedID returns the id of the request that the last Read has skipped with ErrTooLong, if it was one line and its ends show the id; else
// nil.
func (f *FrameReader) SkippedID() json.RawMessage { return f.skipped.id() }
