package daemon

import (
	"io/fs"
	"path/filepath"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
)

// A file with several names is written in place, so that these stay one file. But a name can be an agent's doing, and the
// others then lie where no decision may write. So it is written in place only if it is the very file, with no more names, that
// the path had when the turn began in which its review did; otherwise a new file takes its place, and the other names keep
// what they have. In a copy it always does: what names a file has there is an agent's doing.

// A links is a file and how many names it had.
type links struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Names uint64 `json:"names"`
}

// severs reports whether a change must not write a file in place because of names that it has.
func (c *change) severs(info fs.FileInfo) bool {
	now, was := linksOf(info), c.links
	return now.Names > 1 && (now.Dev != was.Dev || now.Ino != was.Ino || now.Names > was.Names)
}

// keepLinks notes which of the listed files have several names, unless something may have been written by now.
func (s *snapshot) keepLinks(files []listed, stats []filestat.Stat, names map[int]uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.links = make(map[string]links, len(names))
	for i, n := range names {
		s.links[files[i].path] = links{stats[i].Dev, stats[i].Ino, n}
	}
}

// linked returns the links that a path had when the turn began; zero if it had one name, or that is not known.
func (s *snapshot) linked(name string) links {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[name]
}

// noteLinks notes through which links the file may be written in the work tree. It is called when something of the file comes
// under review of which nothing was, as far as a turn can have done that.
func (f *file) noteLinks() {
	starts := f.tree.starts.list()
	if len(starts) == 0 || f.outside() {
		return
	}
	f.links = links{}
	if f.tree.isolated() {
		// Nobody has looked at the work tree when the turn began, but the file says when it was given a name.
		full := filepath.Join(f.tree.work, filepath.FromSlash(f.realPath()))
		st, names := filestat.Linked(full)
		if filestat.ChangeTimes && names > 1 && clock.Known(st.Ctime) < starts[0].began-int64(st.Slack()) {
			f.links = links{st.Dev, st.Ino, names}
		}
		return
	}
	name := f.path
	if f.review != nil && f.review.OldPath() != "" {
		name = f.review.OldPath()
	}
	l := starts[0].linked(name)
	for _, s := range starts {
		if s.linked(name) != l {
			return // a turn may have done that in which another has begun
		}
	}
	f.links = l
}
