package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// The agent's JSON may contain whole files, so nothing here makes a second copy of a long string: strings are walked as they
// are written, and decoded a piece at a time.

// cutJSON cuts every string value longer than argMax in a JSON value.
func cutJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) <= argMax {
		return raw
	}
	if !json.Valid(raw) {
		return Encode(CutText(string(raw), argMax))
	}
	var cut []byte
	from := 0
	for at, end := range longStrings(raw) {
		kept, size := cutString(raw[at:end])
		if size <= argMax {
			continue
		}
		cut = append(append(cut, raw[from:at]...), Encode(fmt.Sprintf("%s…(%d bytes)", kept, size))...)
		from = end
	}
	if from == 0 {
		return raw
	}
	return append(cut, raw[from:]...)
}

// cutString returns the beginning of a quoted string, at most argKept bytes, and the length of the whole.
func cutString(quoted []byte) (kept string, size int) {
	for piece := range pieces(quoted) {
		if size == 0 {
			kept = strings.Clone(plaintext.Cut(piece, argKept))
		}
		size += len(piece)
	}
	return kept, size
}

// longStrings yields the positions, with quotes, of string values in valid JSON that may be longer than argMax.
func longStrings(raw []byte) iter.Seq2[int, int] {
	return func(yield func(at, end int) bool) {
		for at := 0; ; {
			open := bytes.IndexByte(raw[at:], '"')
			if open < 0 {
				return
			}
			at += open
			end := jsontext.StringEnd(raw, at)
			next := bytes.TrimLeft(raw[end:min(len(raw), end+16)], " \t\r\n")
			key := len(next) > 0 && next[0] == ':'
			if end-at > argMax && !key && !yield(at, end) {
				return
			}
			at = end
		}
	}
}

const (
	pieceSize    = 64 << 10
	longestQuote = len(`\ud83d\ude00`) // of one character
)

// pieces yields a quoted string's text, about pieceSize at a time.
func pieces(quoted []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for body := quoted[1 : len(quoted)-1]; len(body) > 0; {
			n := len(body)
			for i := pieceSize; i < len(body); i++ {
				// A piece ends before a plain character, and outside of an escape.
				if body[i] < utf8.RuneSelf && bytes.IndexByte(body[i-longestQuote:i], '\\') < 0 {
					n = i
					break
				}
			}
			var piece string
			_ = json.Unmarshal(append(append([]byte{'"'}, body[:n]...), '"'), &piece) // it was valid before
			if !yield(piece) {
				return
			}
			body = body[n:]
		}
	}
}

// reads reports whether a quoted string's content is text.
func reads(quoted []byte, text string) bool {
	if len(quoted)-2 < len(text) {
		return false
	}
	for piece := range pieces(quoted) {
		rest, ok := strings.CutPrefix(text, piece)
		if !ok {
			return false
		}
		text = rest
	}
	return text == ""
}
