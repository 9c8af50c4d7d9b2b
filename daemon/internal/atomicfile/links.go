package atomicfile

import "io/fs"

// A file with several names is written in place, so that these stay one file. But a name can be an agent's doing, and the
// others then lie where no decision may write. So it is written in place only if it is the very file, with no more names, that
// the path had when the turn began in which its review did; otherwise a new file takes its place, and the other names keep
// what they have. In a copy it always does: what names a file has there is an agent's doing.

// A Links is a file and how many names it had.
type Links struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Names uint64 `json:"names"`
}

// severs reports whether a change must not write a file in place because of names that it has.
func (c *Change) severs(info fs.FileInfo) bool {
	now, was := linksOf(info), c.Links
	return now.Names > 1 && (now.Dev != was.Dev || now.Ino != was.Ino || now.Names > was.Names)
}
