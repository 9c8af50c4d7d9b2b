package diffs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cursord/diffs/internal/gitform"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// A FilePatch is one file's part of what Unified writes.
type FilePatch struct {
	Path    string // relative, with "/"
	OldPath string // where it was, if it has moved; else ""
	Kind    Kind
	Mode    string // of a created or deleted file, in git's octal; "" means "100644"
	OldMode string // before and after a change of the mode; else ""
	NewMode string
	Hunks   []Hunk // in file order

	// Old and New are the contents of a Binary, Large or Symlink file, for the patch to hold them. Without one of them the
	// patch only says that the file differs, and git will not apply it.
	Old, New *Content
}

// Patch returns the part of a patch for the review's file, with the hunks for which keep returns true; a nil keep takes all.
// It has the contents of a file that is not reviewed by lines.
func (r *Review) Patch(path string, keep func(Hunk) bool) FilePatch {
	f := FilePatch{Path: path, Kind: r.Kind(), Hunks: r.Hunks()}
	if keep != nil {
		f.Hunks = slices.DeleteFunc(f.Hunks, func(h Hunk) bool { return !keep(h) })
	}
	kept := func(op fileOp) bool {
		return op.ID != 0 && slices.ContainsFunc(f.Hunks, func(h Hunk) bool { return h.ID == op.ID })
	}
	old, now := r.Baseline(), r.Current()
	switch {
	case !old.Exists:
		f.Mode = now.gitMode()
	case !now.Exists:
		f.Mode = old.gitMode()
	}
	if kept(r.chmod) {
		f.OldMode, f.NewMode = old.gitMode(), now.gitMode()
	}
	if kept(r.renamed) {
		f.OldPath = r.wasPath
	}
	if !now.Exists && kept(r.op) && r.OldPath() != "" {
		f.Path = r.wasPath // the file was moved there and then deleted
	}
	switch {
	case r.whole != nil && kept(r.op):
		if f.Kind != Large && f.Kind != Symlink {
			f.Kind = Binary
		}
		f.Old, f.New = &old, &now
	case r.whole != nil:
		f.Kind = Modified
	}
	return f
}

// gitMode returns git's mode of c, which says only who may run a file.
func (c *Content) gitMode() string {
	switch {
	case c.Target != "":
		return "120000"
	case c.Mode&0o111 != 0:
		return "100755"
	}
	return "100644"
}

// blob returns git's name for a content.
func (c *Content) blob() string { return gitform.Blob(c.Exists, c.body().text) }

// Unified writes the files' hunks as one patch in git's format. If all hunks of a file are given, git apply makes the
// present text of the baseline, and git apply -R the baseline of the present text.
func Unified(files []FilePatch) []byte {
	var b bytes.Buffer
	gone, come := make([]string, len(files)), make([]string, len(files))
	for i, f := range files {
		created, deleted := f.ends()
		if deleted || !created && f.OldPath != "" {
			gone[i] = cmp.Or(f.OldPath, f.Path)
		}
		if created || !deleted && f.OldPath != "" {
			come[i] = f.Path
		}
	}
	for _, i := range gitform.Order(gone, come) {
		files[i].write(&b)
	}
	return b.Bytes()
}

// ends reports whether the patch makes the file, or removes it.
func (f *FilePatch) ends() (created, deleted bool) {
	if whole := f.Kind == Binary || f.Kind == Large || f.Kind == Symlink; whole && f.Old != nil && f.New != nil {
		return !f.Old.Exists, !f.New.Exists
	}
	return f.Kind == Created, f.Kind == Deleted
}

func (f *FilePatch) write(b *bytes.Buffer) {
	if f.Old != nil && f.New != nil && f.Old.Exists && f.New.Exists && (f.Old.Target != "") != (f.New.Target != "") {
		// In git's format a file does not become a link, or a link a file: one is deleted and the other created.
		gone, come := *f, *f
		gone.New, gone.Mode = &Content{}, f.Old.gitMode()
		come.Old, come.Mode, come.OldPath = &Content{}, f.New.gitMode(), ""
		if f.OldPath != "" {
			gone.Path = f.OldPath
		}
		gone.write(b)
		come.write(b)
		return
	}
	old, mode := cmp.Or(f.OldPath, f.Path), cmp.Or(f.Mode, "100644")
	created, deleted := f.ends()
	whole := f.Kind == Binary || f.Kind == Large || f.Kind == Symlink
	hunks, lines := f.Hunks, 0
	if whole && f.Old != nil && f.New != nil && linesOnly(*f.Old) && linesOnly(*f.New) {
		whole, hunks = false, []Hunk{wholeHunk(*f.Old, *f.New)}
	}
	for i := range hunks {
		lines += len(hunks[i].Lines)
	}
	if !whole && !created && !deleted && lines == 0 && f.OldMode == f.NewMode && old == f.Path {
		return // nobody saw the change: there is nothing to write
	}
	fmt.Fprintf(b, "diff --git %s %s\n", QuotePath("a/"+old), QuotePath("b/"+f.Path))
	switch {
	case created:
		fmt.Fprintf(b, "new file mode %s\n", mode)
	case deleted:
		fmt.Fprintf(b, "deleted file mode %s\n", mode)
	case f.OldMode != f.NewMode:
		fmt.Fprintf(b, "old mode %s\nnew mode %s\n", f.OldMode, f.NewMode)
	}
	if old != f.Path && !created && !deleted {
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", QuotePath(old), QuotePath(f.Path))
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
		mode := f.New.gitMode()
		if !f.Old.Exists || !f.New.Exists || mode != f.Old.gitMode() {
			mode = ""
		}
		gitform.Binary(b, [2]string{f.Old.blob(), f.New.blob()}, mode, f.Old.Data, f.New.Data)
	case whole:
		fmt.Fprintf(b, "Binary files %s and %s differ\n", QuotePath(oldName), QuotePath(newName))
	case lines > 0:
		if f.Kind == Symlink && !created && !deleted {
			fmt.Fprintf(b, "index %s..%s 120000\n", f.Old.blob(), f.New.blob())
		}
		fmt.Fprintf(b, "--- %s\n+++ %s\n", gitform.Header(oldName), gitform.Header(newName))
		for _, h := range drifted(hunks) {
			writeHunk(b, h)
		}
	}
}

// linesOnly reports whether a patch can show a content as lines.
func linesOnly(c Content) bool { return c.Target != "" || new(Limits).Classify(c.Data) == Modified }

// wholeHunk replaces one content by another.
func wholeHunk(old, now Content) Hunk {
	h := Hunk{Kind: FileHunk}
	add := func(mark string, c Content) (n int, noEOL bool) {
		lines := linetext.Split(c.body().text)
		for _, l := range lines {
			h.Lines = append(h.Lines, mark+strings.TrimSuffix(l, "\n"))
			noEOL = weave.LacksEOL(l)
		}
		return len(lines), noEOL
	}
	h.OldLines, h.OldNoEOL = add("-", old)
	h.NewLines, h.NewNoEOL = add("+", now)
	h.OldStart, h.NewStart = startLine(0, h.OldLines), startLine(0, h.NewLines)
	return h
}

// drifted returns hunks as a patch has them: joined, and on its new side where they are if it has no others.
func drifted(hunks []Hunk) []Hunk {
	joined, drift := joinHunks(hunks), 0
	for i := range joined {
		h := &joined[i]
		h.NewStart = startLine(endLine(h.OldStart, h.OldLines)+drift, h.NewLines)
		drift += h.NewLines - h.OldLines
	}
	return joined
}

// endLine is the inverse of startLine: it returns the number of lines before the hunk.
func endLine(start, count int) int {
	if count == 0 {
		return start
	}
	return start - 1
}

// joinHunks joins hunks whose context overlaps or touches, as git does, and leaves out hunks without lines.
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
	gitform.Hunk(b, [2]int{h.OldStart, h.OldLines}, [2]int{h.NewStart, h.NewLines}, h.Lines, h.OldNoEOL, h.NewNoEOL)
}
