package atomicfile

import (
	"os"
	"path"
	"path/filepath"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// mostSiblings bounds how many entries of a folder Renamed looks at.
const mostSiblings = 10_000

// Renamed returns the path to which a file of root was renamed in a folder. That is the one other file there which has its content and
// was made, renamed or written since a moment of package clock. Renamed returns "" if no file or several are such, and on systems that do not
// tell these times.
func Renamed(root, from, folder string, content diffs.Content, since int64) (to string) {
	dir, err := os.Open(filepath.Join(root, filepath.FromSlash(folder)))
	if err != nil || !filestat.ChangeTimes {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostSiblings) // after an error, the names that were read before it
	for _, base := range names {
		name := path.Join(folder, base)
		st := filestat.Of(filepath.Join(dir.Name(), base))
		when := clock.Known(st.Ctime)
		if st.Mtime < st.Ctime { // it was not written then, so it is no copy
			when += int64(clock.Lag)
		}
		if name == from || st.Size != int64(len(content.Data)) || when < since {
			continue
		}
		if (State{Content: content}).Same(Read(root, name)) {
			if to != "" {
				return ""
			}
			to = name
		}
	}
	return to
}
