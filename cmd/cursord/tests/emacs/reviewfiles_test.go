//go:build unix

package emacs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsOddFiles reviews files without a last newline, with CR LF, with a byte order mark, created and deleted files, and files
// whose line ends an agent changes.
func TestEmacsOddFiles(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Tree{"crlf": "a\r\nb\r\nc\r\n", "bom": "\ufeffone\ntwo\n", "noeol": "x\ny", "new": "(absent)", "gone": "was\nhere\n", "top": "1\n2\n3\n", "ü ö": "ä\n"}
		after := world.Tree{"crlf": "a\r\nB\r\nc\r\nd\r\n", "bom": "\ufeffONE\ntwo\n", "noeol": "x\nY", "new": "brand\nnew\n", "gone": "(absent)", "top": "2\n3\n", "ü ö": "ä\nß 😀\n"}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "crlf", "bom", "noeol", "gone", "top", "new", "ü ö")
		asText := func(text string) string { return strings.TrimPrefix(strings.ReplaceAll(text, "\r", ""), "\ufeff") }
		same := func(want world.Tree) {
			t.Helper()
			for path, text := range want {
				if text != "(absent)" {
					e.untilText(path, asText(text))
					e.poll(path+" unmodified", func() bool { return !e.modified(path) })
				}
			}
		}
		e.plays(c)
		same(after)
		for path, rows := range map[string][]int{"crlf": {2, 4}, "bom": {1}, "noeol": {2}, "gone": {1}, "top": {1}, "new": {1}, "ü ö": {2}} {
			e.untilRows(path, rows...)
		}
		e.command("cursord-reject-all")
		e.poll("nothing left", func() bool { return len(c.Diffs()) == 0 })
		w.RequireTree(before)
		same(before)

		// In buffers with changes.
		e.command("cursord-undo")
		e.poll("the hunks again", func() bool { return len(c.Diffs()) == 7 })
		for _, f := range []struct {
			path                string
			rows                []int
			line                int
			text, typed, wanted string
		}{
			{"noeol", []int{3}, 3, "x\nY", "mine\nx\nY", "mine\nx\ny"},
			{"crlf", []int{3, 5}, 3, "a\nB\nc\nd\n", "mine\na\nB\nc\nd\n", "mine\na\nb\nc\nd\n"},
			{"bom", []int{1}, 1, "ONE\ntwo\n", "ONE\ntwo\nmine\n", "one\ntwo\nmine\n"},
			{"top", []int{1}, 1, "2\n3\n", "2\n3\nmine\n", "1\n2\n3\nmine\n"},
		} {
			e.find(f.path)
			e.untilText(f.path, f.text)
			e.eval(`(progn (goto-char (point-%s)) (insert "mine\n") nil)`, map[bool]string{false: "min", true: "max"}[f.line == 1])
			e.untilText(f.path, f.typed)
			e.untilRows(f.path, f.rows...)
			e.goes(f.line)
			e.command("cursord-reject-hunk")
			e.untilText(f.path, f.wanted)
			e.eval(`(progn (setq require-final-newline nil mode-require-final-newline nil) (save-buffer) nil)`)
			want := f.wanted
			if f.path == "crlf" {
				want = strings.ReplaceAll(want, "\n", "\r\n")
			}
			if f.path == "bom" {
				want = "\ufeff" + want
			}
			require.Equal(t, want, w.Get(f.path))
		}
		e.quiet()
	})
}

// TestEmacsPlacesStay adds and removes lines around windows' places, also in narrowed and read-only buffers: the places stay.
func TestEmacsPlacesStay(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(200, nil)
		after := world.Numbered(200, map[int]string{5: "a\nb\nc\nd\n", 20: "", 125: "line 125 and more\n", 180: "x\n"})
		w.PutAll(world.Tree{"f": before, "g": before})
		w.Plays(append(world.Edits("1", "f", before, after), world.Edits("2", "g", before, after)...)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "g", "f")
		e.eval("(setq cursord--replace-careful-time -1)") // as on a machine that has no time
		e.eval(`(progn (with-current-buffer "g" (setq buffer-read-only t) (goto-char (point-min)) (forward-line 124) (narrow-to-region (point) (progn (forward-line 2) (point))))
			(goto-char (point-min)) (forward-line 119) (set-window-start nil (point)) (forward-line 5) (forward-char 4)
			(setq mark-150 (copy-marker (save-excursion (search-forward "line 150") (match-beginning 0)))) nil)`)
		at := `(list (save-excursion (goto-char (window-start)) (thing-at-point 'line t)) (thing-at-point 'line t) (current-column)
			(buffer-substring mark-150 (+ mark-150 8)) (buffer-name))`
		want := []any{"line 120\n", "line 125\n", 4.0, "line 150", "f"}
		require.Equal(t, want, e.eval(at))
		e.plays(c)
		e.agree(c, "f", after, 4)
		e.agree(c, "g", after, 4)
		want[1] = "line 125 and more\n"
		require.Equal(t, want, e.eval(at))
		require.Equal(t, []any{"line 125 and more\nline 126\n", true}, e.eval(`(with-current-buffer "g" (list (buffer-string) buffer-read-only))`))
		e.command("cursord-reject-all")
		e.agree(c, "f", before, 0)
		e.agree(c, "g", before, 0)
		want[1] = "line 125\n"
		require.Equal(t, want, e.eval(at))
		require.Equal(t, "line 125\nline 126\n", e.eval(`(with-current-buffer "g" (buffer-string))`))
		e.quiet()
	})
}

// TestEmacsIsolated reviews the changes of an isolated session: an accept writes them to the file, or, in a buffer with unsaved
// changes, is an edit.
func TestEmacsIsolated(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "five\n", 15: "15a\n15b\n", 25: ""})
		w.Put("f", before)
		w.Plays(append(world.Edits("1", "f", before, after), world.Done)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		turn := c.Turn(world.Obj{"sessionId": c.Isolates().ID})
		require.Equal(t, "completed", string(turn.Status))
		e.agree(c, "f", before, 3)
		e.untilRows("f", 5, 15, 25)
		require.Equal(t, []any{"+five\n", "+15a\n+15b\n", ""}, e.eval(`(vconcat (mapcar (lambda (o) (substring-no-properties (or (overlay-get o 'after-string) ""))) cursord--marks))`))
		e.goes(5)
		e.command("cursord-accept-hunk")
		one := world.Numbered(30, map[int]string{5: "five\n"})
		e.agree(c, "f", one, 2)
		e.untilRows("f", 15, 25)
		// The buffer's undo takes back the accept. It takes back no reject, which changes no text here.
		e.keys("C-/")
		e.agree(c, "f", before, 3)
		e.untilRows("f", 5, 15, 25)
		e.goes(25)
		e.command("cursord-reject-hunk")
		e.agree(c, "f", before, 2)
		e.keys("M-> x")
		e.until("what was typed is known", `(cursord--diff-fits-p (cursord-document))`)
		e.keys("C-a C-/")
		e.until("it is taken back", `(equal (buffer-string) %q)`, before)
		e.until("that is known", `(cursord--diff-fits-p (cursord-document))`)
		e.agree(c, "f", before, 2)
		e.command("cursord-undo")
		e.agree(c, "f", before, 3)
		e.goes(5)
		e.command("cursord-accept-hunk")
		e.agree(c, "f", one, 2)
		e.untilRows("f", 15, 25)
		// In a buffer with unsaved changes.
		e.eval(`(progn (goto-char (point-min)) (insert "mine\n") nil)`)
		e.untilRows("f", 16, 26)
		e.goes(16)
		e.command("cursord-accept-hunk")
		two := "mine\n" + world.Numbered(30, map[int]string{5: "five\n", 15: "15a\n15b\n"})
		e.untilText("f", two)
		require.Equal(t, one, w.Get("f"))
		e.command("save-buffer")
		e.poll("the disk", func() bool { return w.Get("f") == two })
		e.pending("f", 1)
		e.command("cursord-review")
		e.poll("the review", func() bool {
			return strings.Contains(e.buffer(emacsReview), "Isolated: the file has these lines once they are accepted.\n") && strings.Contains(e.buffer(emacsReview), "-line 25\n")
		})
		e.keys("r")
		e.agree(c, "f", two, 0)
		e.quiet()
	})
}
