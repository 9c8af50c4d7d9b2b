package view

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// PrintDiffs prints diffs for people, with the id of each hunk. It breaks titles and hints to fit in columns; 0 breaks none. Lines of code stay whole.
func PrintDiffs(w io.Writer, p term.Palette, columns int, diffs []*sessions.Diff) {
	for i, d := range diffs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		io.WriteString(w, term.Fold(DiffTitle(p, d)+"\n", columns))
		for _, h := range d.Hunks {
			printHunk(w, p, columns, h)
		}
	}
}

// DiffTitle returns a file's path and its kind of change.
func DiffTitle(p term.Palette, d *sessions.Diff) string {
	name := term.Clean(d.Path)
	if d.OldPath != "" {
		name = term.Clean(d.OldPath) + " → " + name
	}
	about := []string{string(d.Kind)}
	if d.Added > 0 || d.Removed > 0 {
		about = append(about, p.Green(fmt.Sprintf("+%d", d.Added))+" "+p.Red(fmt.Sprintf("-%d", d.Removed)))
	}
	switch {
	case d.OldMode != "":
		about = append(about, fmt.Sprintf("mode %s → %s", d.OldMode, d.NewMode))
	case d.NewMode != "":
		about = append(about, "mode "+d.NewMode)
	}
	switch {
	case d.OldTarget != "" && d.NewTarget != "":
		about = append(about, fmt.Sprintf("link %q → %q", d.OldTarget, d.NewTarget))
	case d.NewTarget != "":
		about = append(about, fmt.Sprintf("now a link to %q", d.NewTarget))
	case d.OldTarget != "":
		about = append(about, fmt.Sprintf("was a link to %q", d.OldTarget))
	}
	if d.Kind == sessions.DiffLarge {
		about = append(about, "decided as a whole: see the settings large_lines and large_size")
	}
	if d.Baseline == "unknown" {
		about = append(about, "what it was is not known: it can only be accepted")
	}
	if filepath.IsAbs(d.Path) {
		about = append(about, "outside of the workspace: it can only be looked at")
	}
	return p.Bold(name) + " (" + strings.Join(about, ", ") + ")"
}

// Patch returns a patch in git's form for people.
func Patch(p term.Palette, patch string) string {
	var b strings.Builder
	inHunk := false
	for line := range strings.Lines(term.CleanText(patch)) {
		text, end := strings.CutSuffix(line, "\n")
		paint := func(s string) string { return s }
		switch {
		case strings.HasPrefix(text, "diff "):
			inHunk, paint = false, p.Bold
		case strings.HasPrefix(text, "@@ "):
			inHunk, paint = true, p.Cyan
		case inHunk && strings.HasPrefix(text, "+"):
			paint = p.Green
		case inHunk && strings.HasPrefix(text, "-"):
			paint = p.Red
		case !inHunk && (strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "+++ ")):
			paint = p.Bold
		}
		if b.WriteString(paint(text)); end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func printHunk(w io.Writer, p term.Palette, columns int, h sessions.Hunk) {
	io.WriteString(w, term.Fold(HunkHead(p, h)+"\n", columns))
	for _, line := range HunkLines(p, h) {
		fmt.Fprintln(w, line)
	}
}

// MaybeYours says that it is not certain who wrote something.
const MaybeYours = "may be yours: it is not surely the agent's"

// HunkHead returns a hunk's position and id.
func HunkHead(p term.Palette, h sessions.Hunk) string {
	head := "@@ whole file @@"
	if len(h.Lines) > 0 {
		head = fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
	}
	head = p.Cyan(head) + " " + p.Yellow(term.Clean(h.ID))
	if by := h.MadeBy(); by != "" && by != "edit" {
		head += p.Dim(" by " + term.Clean(by))
	}
	if h.Isolated {
		head += p.Dim(" in " + copyOf(h))
	}
	if len(h.Linked) > 0 {
		head += p.Dim(" with " + term.Clean(strings.Join(h.Linked, " ")))
	}
	if h.MaybeYours() {
		head += "\n" + p.Yellow(MaybeYours)
	}
	if len(h.Beside) > 0 {
		var yours []string
		for _, i := range h.Beside {
			yours = append(yours, strings.TrimSpace(h.Lines[i][1:]))
		}
		head += "\n" + p.Yellow("the work tree has changed here, too, by you or by what you accepted: reject keeps its lines, accept keeps both, accept --replace takes the agent's: "+term.Clean(term.Abridge(strings.Join(yours, "; "), 100)))
	}
	return head
}

// copyOf names the copy of an isolated hunk by the turn that wrote there last.
func copyOf(h sessions.Hunk) string {
	if len(h.Sources) == 0 {
		return "a copy"
	}
	return "the copy of turn " + term.Clean(h.Sources[len(h.Sources)-1].TurnID)
}

// HunkLines returns a hunk's lines for people. A missing newline at the end of the file gets a line of its own. With colours
// the changed words are marked.
func HunkLines(p term.Palette, h sessions.Hunk) []string {
	marks := make([][]mark, len(h.Lines))
	if p {
		marks = markWords(h.Lines)
	}
	lastOld, lastNew := -1, -1
	for i, line := range h.Lines {
		if !strings.HasPrefix(line, "+") {
			lastOld = i
		}
		if !strings.HasPrefix(line, "-") {
			lastNew = i
		}
	}
	lines := make([]string, len(h.Lines))
	for i, line := range h.Lines {
		switch {
		case strings.HasPrefix(line, "+"):
			lines[i] = marked(p, "32", line, marks[i])
		case strings.HasPrefix(line, "-"):
			lines[i] = marked(p, "31", line, marks[i])
		default:
			lines[i] = term.CleanText(line)
		}
		if h.OldNoEOL && i == lastOld || h.NewNoEOL && i == lastNew {
			lines[i] += "\n" + p.Dim(`\ No newline at end of file`)
		}
	}
	return lines
}
