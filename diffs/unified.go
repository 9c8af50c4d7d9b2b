package diffs

import (
	"bytes"
	"fmt"
)

// A FilePatch is what Unified says of one file.
type FilePatch struct {
	Path    string // relative, with "/"
	OldPath string // for Renamed; else ""
	Kind    Kind
	Mode    string // of a created or deleted file, in git's octal; "" means "100644"
	OldMode string // before and after a change of the mode; else ""
	NewMode string
	Hunks   []Hunk // in file order

	// Old and New are the contents of a Binary or Large file, so that the patch can hold them. Without either, the
	// patch only says that the file differs, and git will not apply it.
	Old, New *Content
}

// Patch returns what Unified is to say of the review's file. Contents that are not reviewed by lines are part of it.
func (r *Review) Patch(path string) FilePatch {
	f := FilePatch{Path: path, Kind: r.Kind(), Hunks: r.Hunks()}
	if r.whole != nil && r.op.ID != 0 {
		if f.Kind != Large {
			f.Kind = Binary
		}
		old, now := r.Baseline(), r.Current()
		f.Old, f.New = &old, &now
	}
	return f
}

// Unified returns the files' hunks as one patch in git's format. What git apply makes of it on the baselines is the
// present text, and the other way round with -R, as long as all of a file's hunks are given.
func Unified(files []FilePatch) []byte {
	var b bytes.Buffer
	for i := range files {
		files[i].write(&b)
	}
	return b.Bytes()
}

func (f *FilePatch) write(b *bytes.Buffer) {
	old := f.OldPath
	if old == "" {
		old = f.Path
	}
	mode := f.Mode
	if mode == "" {
		mode = "100644"
	}
	created, deleted := f.Kind == Created, f.Kind == Deleted
	whole := f.Kind == Binary || f.Kind == Large
	if whole && f.Old != nil && f.New != nil {
		created, deleted = !f.Old.Exists, !f.New.Exists
	}
	lines := 0
	for i := range f.Hunks {
		lines += len(f.Hunks[i].Lines)
	}
	if !whole && !created && !deleted && lines == 0 && f.OldMode == f.NewMode && old == f.Path {
		return // a change that was not seen: there is nothing to say
	}
	fmt.Fprintf(b, "diff --git %s %s\n", quotePath("a/"+old), quotePath("b/"+f.Path))
	switch {
	case created:
		fmt.Fprintf(b, "new file mode %s\n", mode)
	case deleted:
		fmt.Fprintf(b, "deleted file mode %s\n", mode)
	case f.OldMode != f.NewMode:
		fmt.Fprintf(b, "old mode %s\nnew mode %s\n", f.OldMode, f.NewMode)
	}
	if old != f.Path {
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", quotePath(old), quotePath(f.Path))
	}
	oldName, newName := "a/"+old, "b/"+f.Path
	if created {
		oldName = "/dev/null"
	}
	if deleted {
		newName = "/dev/null"
	}
	switch {
	case whole && f.Old != nil && f.New != nil:
		writeBinary(b, *f.Old, *f.New, mode)
	case whole:
		fmt.Fprintf(b, "Binary files %s and %s differ\n", quotePath(oldName), quotePath(newName))
	case lines > 0:
		fmt.Fprintf(b, "--- %s\n+++ %s\n", headerPath(oldName), headerPath(newName))
		drift := 0
		for _, h := range joinHunks(f.Hunks) {
			h.NewStart = startLine(endLine(h.OldStart, h.OldLines)+drift, h.NewLines)
			drift += h.NewLines - h.OldLines
			writeHunk(b, h)
		}
	}
}

// endLine is the inverse of startLine: the number of lines before the hunk.
func endLine(start, count int) int {
	if count == 0 {
		return start
	}
	return start - 1
}

// joinHunks makes one of hunks whose context overlaps or touches, as git has it, and leaves out those without lines.
func joinHunks(hunks []Hunk) []Hunk {
	var joined []Hunk
	for _, h := range hunks {
		if len(h.Lines) == 0 {
			continue
		}
		if n := len(joined); n > 0 {
			p := &joined[n-1]
			before := endLine(p.OldStart, p.OldLines)
			overlap := before + p.OldLines - endLine(h.OldStart, h.OldLines)
			if overlap >= 0 {
				p.Lines = append(p.Lines[:len(p.Lines):len(p.Lines)], h.Lines[overlap:]...)
				p.OldLines += h.OldLines - overlap
				p.NewLines += h.NewLines - overlap
				p.OldStart = startLine(before, p.OldLines)
				p.OldNoEOL, p.NewNoEOL = h.OldNoEOL, h.NewNoEOL
				continue
			}
		}
		joined = append(joined, h)
	}
	return joined
}

func writeHunk(b *bytes.Buffer, h Hunk) {
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(h.OldStart, h.OldLines), span(h.NewStart, h.NewLines))
	lastOld, lastNew := -1, -1
	for i, l := range h.Lines {
		if l[0] != '+' && h.OldNoEOL {
			lastOld = i
		}
		if l[0] != '-' && h.NewNoEOL {
			lastNew = i
		}
	}
	for i, l := range h.Lines {
		b.WriteString(l)
		b.WriteByte('\n')
		if i == lastOld || i == lastNew {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

func span(start, count int) string {
	if count == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}
