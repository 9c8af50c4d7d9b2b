package origins

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/diffs"
	"cursord/sessions"
)

// sumSize is how many bytes an export has of the hash of a line: enough to tell the lines of a file apart, too few to tell what they say.
const sumSize = 2

// An Exporter tells what an exported session has written in files. What the turns that came with a fork have written counts as the fork's.
type Exporter struct {
	Session string
	From    []string          // the sessions that it is a fork of
	Turns   map[string]string // the ids of the turns that came from them, by those in the histories of files
}

// Knows reports whether some of the sessions that have written in a file may be exported.
func (e *Exporter) Knows(writers []string) bool {
	return slices.Contains(writers, e.Session) || slices.ContainsFunc(e.From, func(s string) bool { return slices.Contains(writers, s) })
}

// File returns what the session has written in a file, for an export; nil if that is nothing.
func (e *Exporter) File(path string, review *diffs.Review) *api.WrittenFile {
	written := review.Written(func(src diffs.Source) bool {
		return src.SessionID == e.Session || slices.Contains(e.From, src.SessionID) && e.Turns[src.TurnID] != ""
	})
	for i := range written {
		src := &written[i].Source
		turn := e.Turns[src.TurnID]
		if src.SessionID == e.Session || turn == "" {
			continue
		}
		if index, ok := strings.CutPrefix(src.ItemID, src.TurnID+":"); ok {
			src.ItemID = turn + ":" + index
		}
		src.SessionID, src.TurnID = e.Session, turn
	}
	if len(written) == 0 {
		return nil
	}
	out := &api.WrittenFile{Path: path}
	for _, line := range lines(string(review.Current().Data)) {
		sum := sha256.Sum256([]byte(line))
		out.Sums = append(out.Sums, sum[:sumSize]...)
	}
	for _, w := range written {
		lines := api.WrittenLines{TurnID: w.Source.TurnID, ItemID: w.Source.ItemID, Via: sessions.Via(w.Source.Via), From: w.From, Text: w.Lines}
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
		src := diffs.Source{SessionID: session, TurnID: turn, Via: diffs.Via(l.Via), Imported: true}
		if index, ok := strings.CutPrefix(l.ItemID, l.TurnID+":"); ok {
			if n, err := strconv.Atoi(index); err == nil && n >= 0 {
				src.ItemID = sessions.ItemID(turn, n)
			}
		}
		w := diffs.Written{Source: src, From: l.From, Lines: l.Text}
		if l.At != nil {
			w.At = l.At.UnixMilli()
		}
		written = append(written, w)
	}
	return written
}

// Recall tells the review of a file what a session has written in it, where the file was when it was exported with these sums. Where the text
// is still that one, as a person has changed it since, each line is known by its place: half of the lines of the longer text must be in both.
// Elsewhere, and for an export without sums, only the lines' text tells it. over is that of diffs.Review.Recall. Recall reports whether it has
// told the review anything.
func Recall(review *diffs.Review, written []diffs.Written, sums []byte, over func(known, told diffs.Source) bool) bool {
	if placed, same := place(string(review.Current().Data), written, sums); same {
		return review.Recall(placed, true, over) > 0
	}
	return review.Recall(written, false, over) > 0
}

// place returns the lines as they are placed in a text, without those that are not in it any more; same reports whether it is the text that
// was exported, perhaps changed since.
func place(text string, written []diffs.Written, sums []byte) (placed []diffs.Written, same bool) {
	here, were := lines(text), len(sums)/sumSize
	if len(here) > 2*were || were > 2*len(here) {
		return nil, false
	}
	var was, is strings.Builder
	for sum := sums; len(sum) >= sumSize; sum = sum[sumSize:] {
		was.WriteString(hex.EncodeToString(sum[:sumSize]) + "\n")
	}
	for _, line := range here {
		sum := sha256.Sum256([]byte(line))
		is.WriteString(hex.EncodeToString(sum[:sumSize]) + "\n")
	}
	at, i, j := map[int]int{}, 0, 0 // the lines of the text by those of the export
	for _, e := range append(diffs.LineEdits(was.String(), is.String()), diffs.LineEdit{From: were}) {
		for ; i < e.From; i, j = i+1, j+1 {
			at[i] = j
		}
		i, j = e.To, j+strings.Count(e.Text, "\n")
	}
	if 2*len(at) < max(were, len(here)) {
		return nil, false
	}
	for _, w := range written {
		for k, line := range w.Lines {
			if j, there := at[w.From+k]; there && here[j] == line {
				placed = append(placed, diffs.Written{Source: w.Source, At: w.At, From: j, Lines: []string{line}})
			}
		}
	}
	return placed, true
}

// lines returns the lines of a text, without their ends.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimRight(line, "\r\n"))
	}
	return all
}
