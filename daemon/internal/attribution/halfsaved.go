package attribution

import (
	"bytes"

	"cursord/diffs"
)

// A Saving says whether a file may be half saved.
type Saving int

const (
	NotSaving   Saving = iota
	MaybeSaving        // it may be half saved, or a person has made it shorter
	HalfSaved          // it is empty, or ends within a line
)

// SavingOf judges a file that has just been made shorter than it was. pending says that something of it is under review.
func SavingOf(was, now diffs.Content, pending bool) Saving {
	end := []byte("\n")
	switch {
	case len(now.Data) == 0 || bytes.HasSuffix(was.Data, end) && !bytes.HasSuffix(now.Data, end):
		return HalfSaved
	case bytes.HasPrefix(was.Data, now.Data) || !pending:
		return MaybeSaving
	}
	return NotSaving
}
