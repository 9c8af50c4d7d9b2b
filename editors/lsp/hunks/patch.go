package hunks

import (
	"fmt"
	"strings"

	"cursord/sessions"
)

// A Listed hunk is a hunk in the list of all hunks: its id and its lines, up to but without To. The first hunk of a file begins with
// the line that names the file.
type Listed struct {
	ID       string
	From, To int
}

// ListedIn returns the hunks in the text of a list.
func ListedIn(text string) (all []Listed) {
	head, n := -1, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		id := ""
		switch {
		case strings.HasPrefix(line, fileHead):
			head = n
		case strings.HasPrefix(line, wholeHead), strings.HasPrefix(line, linesHead):
			id = line[strings.LastIndexByte(line, ' ')+1:]
		}
		last := len(all) - 1
		switch {
		case id != "" && last >= 0 && all[last].ID == id && head < 0: // the lines of a whole file
			all[last].To = n + 1
		case id != "":
			from := n
			if head >= 0 {
				from = head
			}
			all, head = append(all, Listed{ID: id, From: from, To: n + 1}), -1
		case head < 0 && last >= 0:
			all[last].To = n + 1
		}
		n++
	}
	return all
}

// The lines above a hunk begin like this: of a file, of a hunk about a whole file, and of a hunk of lines. The latter two end with
// the hunk's id, so that the text says which hunks it has even if the editor shows an older list.
const (
	fileHead  = "diff --cursord "
	wholeHead = "# "
	linesHead = "@@ "
)

// WritePatch writes the hunks of a file as ListedIn reads them.
func WritePatch(b *strings.Builder, d *sessions.Diff) {
	old := d.OldPath
	if old == "" {
		old = d.Path
	}
	if len(d.Hunks) > 0 {
		fmt.Fprintf(b, "%sa/%s b/%s\n", fileHead, old, d.Path)
	}
	for i := range d.Hunks {
		h := &d.Hunks[i]
		if h.Kind != "text" {
			fmt.Fprintf(b, "%s%d/%d %s · %s\n", wholeHead, i+1, len(d.Hunks), Summary(d, h), h.ID)
		}
		if len(h.Lines) == 0 {
			continue
		}
		fmt.Fprintf(b, "%s-%d,%d +%d,%d @@ %s\n", linesHead, h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.ID)
		for _, line := range Lines(h) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
}

// Lines returns the lines of a hunk as a patch has them: with a line behind the last one of a side that has no line end.
func Lines(h *sessions.Hunk) (lines []string) {
	const noEOL = `\ No newline at end of file`
	if !h.OldNoEOL && !h.NewNoEOL {
		return h.Lines
	}
	old, now := -1, -1 // the last lines
	for i, line := range h.Lines {
		if !strings.HasPrefix(line, "+") {
			old = i
		}
		if !strings.HasPrefix(line, "-") {
			now = i
		}
	}
	for i, line := range h.Lines {
		if lines = append(lines, line); h.OldNoEOL && i == old || h.NewNoEOL && i == now {
			lines = append(lines, noEOL)
		}
	}
	return lines
}
