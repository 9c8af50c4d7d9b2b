package rpc

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// edge is how much of both ends of a line over the limit is kept, in bytes: a request's id is there, in front of its parameters or behind
// them.
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

var (
	idInFront = regexp.MustCompile(`^\s*\{[^{]*?"id"\s*:\s*("[^"\\]*"|-?\d+)\s*,`)
	idBehind  = regexp.MustCompile(`,\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*$`)
)

// id returns the id of the request that the line is, as far as its ends show it; else nil.
func (s *skipped) id() json.RawMessage {
	head, _, _ := bytes.Cut(s.head, []byte(`"params"`))
	if found := idInFront.FindSubmatch(append(head, ',')); found != nil {
		return found[1]
	}
	if found := idBehind.FindSubmatch(s.tail); found != nil {
		return found[1]
	}
	return nil
}

// SkippedID returns the id of the request that the last Read has skipped with ErrTooLong, if it was one line and its ends show the id; else
// nil.
func (f *FrameReader) SkippedID() json.RawMessage { return f.skipped.id() }
