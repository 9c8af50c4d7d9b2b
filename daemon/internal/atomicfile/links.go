package atomicfile

import "io/fs"

// A file with several names is written in place, so that these stay one file. But an agent may have made a name, and the
// other names may then lie where no decision may write. So a file is written in place only if it is the very file, with no
// more names, that was at the path when the turn began that put it under review. Otherwise a new file takes its place, and
// the other names keep the old content. In a copy a new file always takes its place, because there the agent makes all
// names.

// A Links is a file and the number of its names.
type Links struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Names uint64 `json:"names"`
}

// severs reports whether a change must replace a file instead of writing it in place, because of the file's other names.
func (c *Change) severs(info fs.FileInfo) bool {
	now, was := linksOf(info), c.Links
	return now.Names > 1 && (now.Dev != was.Dev || now.Ino != was.Ino || now.Names > was.Names)
}
