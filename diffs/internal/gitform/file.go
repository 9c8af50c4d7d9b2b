package gitform

import (
	"bytes"
	"cmp"
	"fmt"
)

// A File is one file's part of a patch.
type File struct {
	Path, OldPath    string // OldPath is "" if the file has not moved
	Created, Deleted bool   // of a file whose Contents are not given
	Mode             string // of a created or deleted file; "" means "100644"
	OldMode, NewMode string // before and after a change of the mode; else ""
	Hunks            []Hunk // in file order
	Whole            bool   // the file is not reviewed by lines
	Link             bool   // it is a link, before or after
	Contents         *[2]Side
}

// A Side is what a path holds before or after.
type Side struct {
	Exists bool
	Link   bool
	Lines  bool // a patch can show it as lines; also if it does not exist
	Mode   string
	Data   []byte // of a link, its target
}

// Patch writes files as one patch, which git apply takes in both directions.
func Patch(files []File) []byte {
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
	for _, i := range order(gone, come) {
		files[i].write(&b)
	}
	return b.Bytes()
}

// ends reports whether the patch makes the file, or removes it.
func (f *File) ends() (created, deleted bool) {
	if f.Whole && f.Contents != nil {
		return !f.Contents[0].Exists, !f.Contents[1].Exists
	}
	return f.Created, f.Deleted
}

func (f *File) write(b *bytes.Buffer) {
	var was, is Side
	if f.Contents != nil {
		was, is = f.Contents[0], f.Contents[1]
	}
	if was.Exists && is.Exists && was.Link != is.Link {
		// In git's format a file does not become a link, or a link a file: one is deleted and the other created.
		absent, gone, come := Side{Lines: true}, *f, *f
		gone.Contents, gone.Mode, gone.Path = &[2]Side{was, absent}, was.Mode, cmp.Or(f.OldPath, f.Path)
		come.Contents, come.Mode, come.OldPath = &[2]Side{absent, is}, is.Mode, ""
		gone.write(b)
		come.write(b)
		return
	}
	old, mode := cmp.Or(f.OldPath, f.Path), cmp.Or(f.Mode, "100644")
	created, deleted := f.ends()
	whole, hunks, lines := f.Whole, f.Hunks, 0
	if whole && was.Lines && is.Lines {
		whole, hunks = false, []Hunk{Whole(was, is)}
	}
	for i := range hunks {
		lines += len(hunks[i].Lines)
	}
	if !whole && !created && !deleted && lines == 0 && f.OldMode == f.NewMode && old == f.Path {
		return // nobody saw the change: there is nothing to write
	}
	fmt.Fprintf(b, "diff --git %s %s\n", Quote("a/"+old), Quote("b/"+f.Path))
	switch {
	case created:
		fmt.Fprintf(b, "new file mode %s\n", mode)
	case deleted:
		fmt.Fprintf(b, "deleted file mode %s\n", mode)
	case f.OldMode != f.NewMode:
		fmt.Fprintf(b, "old mode %s\nnew mode %s\n", f.OldMode, f.NewMode)
	}
	if old != f.Path && !created && !deleted {
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", Quote(old), Quote(f.Path))
	}
	oldName, newName := "a/"+old, "b/"+f.Path
	if created {
		oldName = "/dev/null"
	}
	if deleted {
		newName = "/dev/null"
	}
	switch {
	case whole && f.Contents != nil:
		mode := is.Mode
		if !was.Exists || !is.Exists || mode != was.Mode {
			mode = ""
		}
		fmt.Fprintf(b, "index %s..%s", was.blob(), is.blob())
		if mode != "" {
			fmt.Fprintf(b, " %s", mode)
		}
		b.WriteString("\nGIT binary patch\n")
		literal(b, is.Data)
		literal(b, was.Data)
	case whole:
		fmt.Fprintf(b, "Binary files %s and %s differ\n", Quote(oldName), Quote(newName))
	case lines > 0:
		if f.Link && !created && !deleted {
			fmt.Fprintf(b, "index %s..%s 120000\n", was.blob(), is.blob())
		}
		fmt.Fprintf(b, "--- %s\n+++ %s\n", header(oldName), header(newName))
		for _, h := range drifted(hunks) {
			h.write(b)
		}
	}
}
