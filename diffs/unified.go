package diffs

import (
	"slices"

	"cursord/diffs/internal/gitform"
)

// QuotePath returns a path as git writes it in a patch: unchanged, or in double quotes with C's escapes if it holds quotes,
// backslashes, control characters or bytes outside ASCII.
func QuotePath(path string) string { return gitform.Quote(path) }

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

// Unified writes the files' hunks as one patch in git's format. If all hunks of a file are given, git apply makes the
// present text of the baseline, and git apply -R the baseline of the present text.
func Unified(files []FilePatch) []byte {
	forms := make([]gitform.File, len(files))
	for i, f := range files {
		forms[i] = gitform.File{
			Path: f.Path, OldPath: f.OldPath, Created: f.Kind == Created, Deleted: f.Kind == Deleted, Mode: f.Mode, OldMode: f.OldMode, NewMode: f.NewMode,
			Whole: f.Kind == Binary || f.Kind == Large || f.Kind == Symlink, Link: f.Kind == Symlink, Hunks: hunkForms(f.Hunks),
		}
		if f.Old != nil && f.New != nil {
			forms[i].Contents = &[2]gitform.Side{f.Old.form(), f.New.form()}
		}
	}
	return gitform.Patch(forms)
}

func hunkForms(hunks []Hunk) []gitform.Hunk {
	forms := make([]gitform.Hunk, len(hunks))
	for i, h := range hunks {
		forms[i] = gitform.Hunk{
			OldStart: h.OldStart, OldLines: h.OldLines, NewStart: h.NewStart, NewLines: h.NewLines,
			Lines: h.Lines, OldNoEOL: h.OldNoEOL, NewNoEOL: h.NewNoEOL,
		}
	}
	return forms
}

func (c *Content) form() gitform.Side {
	s := gitform.Side{Exists: c.Exists, Link: c.Target != "", Data: c.Data, Mode: c.gitMode()}
	if s.Link {
		s.Data = []byte(c.Target)
	}
	s.Lines = s.Link || new(Limits).Classify(c.Data) == Modified
	return s
}
