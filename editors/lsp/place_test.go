package lsp

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// hunk makes a hunk of lines as a diff has them; it begins at these lines.
func hunk(old, now int, isolated bool, lines ...string) sessions.Hunk {
	h := sessions.Hunk{ID: "1.1", Kind: "text", OldStart: old, NewStart: now, Lines: lines, Isolated: isolated}
	for _, line := range lines {
		if line[0] != '+' {
			h.OldLines++
		}
		if line[0] != '-' {
			h.NewLines++
		}
	}
	return h
}

// TestPlace finds hunks in texts that may have moved on.
func TestPlace(t *testing.T) {
	change := []string{" b", "-c", "+C", "+D", " e"}
	for _, one := range []struct {
		name     string
		text     string
		hunk     sessions.Hunk
		side     side
		from, to int
	}{
		{"as it is on disk", "a b C D e f", hunk(2, 2, false, change...), newSide, 2, 4},
		{"as it was", "a b c e f", hunk(2, 2, false, change...), oldSide, 2, 3},
		{"moved down", "x y z a b C D e f", hunk(2, 2, false, change...), newSide, 5, 7},
		{"moved up", "b C D e f", hunk(2, 2, false, change...), newSide, 1, 3},
		{"the nearest of two", "b C D e b C D e b C D e", hunk(6, 6, false, change...), newSide, 5, 7},
		{"neither side", "a b X e f", hunk(2, 2, false, change...), neither, 2, 2},
		{"apart, as it was", "a b c e f", hunk(2, 2, true, change...), oldSide, 2, 3},
		{"apart, accepted", "a b C D e f", hunk(2, 2, true, change...), newSide, 2, 4},
		{"apart, inserted", "a b", hunk(1, 1, true, " a", "+x", " b"), oldSide, 1, 1},
		{"apart, what it inserts is elsewhere already", "a b a x b", hunk(1, 1, true, " a", "+x", " b"), oldSide, 1, 1},
		{"apart, deleted", "a x b", hunk(1, 1, true, " a", "-x", " b"), oldSide, 1, 2},
		{"apart, into nothing", "", hunk(0, 1, true, "+x"), oldSide, 0, 0},
		{"at the end, and not there", "a b", hunk(3, 2, false, " b", "+c"), oldSide, 2, 2},
	} {
		t.Run(one.name, func(t *testing.T) {
			s := &Server{docs: map[string]*document{}, out: newOutbox(io.Discard), opts: Options{Log: slog.New(slog.DiscardHandler)}}
			w := &workspace{path: "/w", named: "/w"}
			text := strings.ReplaceAll(one.text, " ", "\n")
			if text != "" {
				text += "\n"
			}
			s.docs["file:///w/f"] = &document{uri: "file:///w/f", workspace: w, path: "f", text: newText(text)}
			all := s.place(w, &sessions.Diff{Path: "f", Kind: sessions.DiffModified, Hunks: []sessions.Hunk{one.hunk}})
			require.Len(t, all, 1)
			require.Equal(t, []int{int(one.side), one.from, one.to}, []int{int(all[0].side), all[0].from, all[0].to})
			s.out.close()
		})
	}
}

// BenchmarkPlace finds 2,000 hunks in a document of 100,000 lines after a line was put in front: what each key costs
// in a file that an agent has changed all over.
func BenchmarkPlace(b *testing.B) {
	var text strings.Builder
	d := &sessions.Diff{Path: "f", Kind: sessions.DiffModified}
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d\n", i)
		if i%50 == 10 {
			d.Hunks = append(d.Hunks, hunk(i, i, true, fmt.Sprintf(" line %d", i-1), fmt.Sprintf("-line %d", i), fmt.Sprintf("+agent %d", i), fmt.Sprintf(" line %d", i+1)))
		}
	}
	s := &Server{docs: map[string]*document{}}
	w := &workspace{path: "/w", named: "/w"}
	s.docs["file:///w/f"] = &document{uri: "file:///w/f", workspace: w, path: "f", text: newText("new\n" + text.String())}
	for b.Loop() {
		s.place(w, d)
	}
}
