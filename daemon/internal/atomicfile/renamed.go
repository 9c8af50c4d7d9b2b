package atomicfile

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// Bounds of the search for a renamed file.
const (
	mostSiblings = 10_000  // entries of a folder
	mostSought   = 100_000 // names below a folder
)

// Renamed returns the path to which a file of root was renamed in a folder; is was its state at its old path. That is the one other name there
// of the very file, with its content or half of its lines: any other file with this content may be one that somebody has copied. Renamed returns ""
// if there is none, or several, and on systems that do not tell files from each other.
func Renamed(root, from, folder string, content diffs.Content, is filestat.Stat) (to string) {
	dir, err := os.Open(filepath.Join(root, filepath.FromSlash(folder)))
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostSiblings) // after an error, the names that were read before it
	for _, base := range names {
		name, full := path.Join(folder, base), filepath.Join(dir.Name(), base)
		if name == from || !is.Became(filestat.Of(full), full) {
			continue
		}
		now := Read(root, name)
		if !(State{Content: content}).Same(now) && (now.Unreadable != "" || Alike(content, now.Content) == 0) {
			continue
		}
		if to != "" {
			return ""
		}
		to = name
	}
	return to
}

// Strayed returns, for each of some files that were below root, where the very file is now; "" if it is nowhere, or has several names. It looks
// neither at contents nor into git's folders.
func Strayed(root string, files []filestat.Stat) (names []string) {
	type inode struct{ dev, ino uint64 }
	of := map[inode]int{}
	for i, is := range files {
		of[inode{is.Dev, is.Ino}] = i
	}
	names = make([]string, len(files))
	looked := 0
	_ = filepath.WalkDir(root, func(full string, e fs.DirEntry, err error) error {
		looked++
		switch folder := e != nil && e.IsDir(); {
		case looked > mostSought:
			return fs.SkipAll
		case folder && (err != nil || e.Name() == ".git"):
			return fs.SkipDir
		case folder || err != nil:
			return nil
		}
		is := filestat.Of(full)
		i, wanted := of[inode{is.Dev, is.Ino}]
		name, err := filepath.Rel(root, full)
		switch {
		case !wanted || err != nil || !files[i].Became(is, full):
		case names[i] != "":
			names[i] = ""
			delete(of, inode{is.Dev, is.Ino})
		default:
			names[i] = filepath.ToSlash(name)
		}
		return nil
	})
	return names
}

// The sizes of texts that Alike compares: in shorter ones are lines that may be anywhere.
const (
	shortest = 16
	longest  = 1 << 20
)

// Alike counts the lines that two texts have in common; 0 if these are less than half of the lines of one.
func Alike(was, now diffs.Content) int {
	if !was.Exists || !now.Exists || was.Target != "" || now.Target != "" || max(len(was.Data), len(now.Data)) > longest || len(was.Data) < shortest {
		return 0
	}
	lines := func(c diffs.Content) int {
		return len(strings.SplitAfter(strings.TrimSuffix(string(c.Data), "\n"), "\n"))
	}
	common := lines(was)
	for _, e := range diffs.LineEdits(string(was.Data), string(now.Data)) {
		common -= e.To - e.From
	}
	if 2*common < max(lines(was), lines(now)) {
		return 0
	}
	return common
}
