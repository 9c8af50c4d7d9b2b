package origins

import (
	"strconv"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/diffs"
	"cursord/sessions"
)

// Exported returns what a session has written in a file, for an export; nil if that is nothing.
func Exported(path string, written []diffs.Written) *api.WrittenFile {
	if len(written) == 0 {
		return nil
	}
	out := &api.WrittenFile{Path: path}
	for _, w := range written {
		lines := api.WrittenLines{TurnID: w.Source.TurnID, ItemID: w.Source.ItemID, Via: sessions.Via(w.Source.Via), Text: w.Lines}
		if w.At != 0 {
			at := sessions.Time{Time: time.UnixMilli(w.At).UTC()}
			lines.At = &at
		}
		out.Lines = append(out.Lines, lines)
	}
	return out
}

// Imported returns the lines of a file as written by a session that was imported; turns has the new ids of its turns by those in the
// file. Lines of other turns are left out.
func Imported(file *api.WrittenFile, session string, turns map[string]string) (written []diffs.Written) {
	for _, l := range file.Lines {
		turn := turns[l.TurnID]
		if turn == "" {
			continue
		}
		src := diffs.Source{SessionID: session, TurnID: turn, Via: diffs.Via(l.Via)}
		if index, ok := strings.CutPrefix(l.ItemID, l.TurnID+":"); ok {
			if n, err := strconv.Atoi(index); err == nil && n >= 0 {
				src.ItemID = sessions.ItemID(turn, n)
			}
		}
		w := diffs.Written{Source: src, Lines: l.Text}
		if l.At != nil {
			w.At = l.At.UnixMilli()
		}
		written = append(written, w)
	}
	return written
}
