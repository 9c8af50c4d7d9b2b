package atomicfile

import (
	"os"
	"path"
	"path/filepath"

	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// mostSiblings bounds how many entries of a folder Renamed looks at.
const mostSiblings = 10_000

// Renamed returns the path to which a file of root was renamed in a folder; is was its state at its old path. That is the one other name there
// of the very file, with its content: any other file with this content may be one that somebody has copied. Renamed returns "" if there is
// none, or several, and on systems that do not tell files from each other.
func Renamed(root, from, folder string, content diffs.Content, is filestat.Stat) (to string) {
	dir, err := os.Open(filepath.Join(root, filepath.FromSlash(folder)))
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostSiblings) // after an error, the names that were read before it
	for _, base := range names {
		name := path.Join(folder, base)
		if name != from && is.Touched(filestat.Of(filepath.Join(dir.Name(), base))) && (State{Content: content}).Same(Read(root, name)) {
			if to != "" {
				return ""
			}
			to = name
		}
	}
	return to
}
