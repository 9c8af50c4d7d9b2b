package commits

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// mostLog bounds how much of a reflog is read at once, in bytes.
const mostLog = 1 << 20

// A reflog is what git notes of HEAD in the file logs/HEAD.
type reflog struct {
	name string
	at   int64 // how much of it was read
}

func (l *reflog) size() int64 {
	st := filestat.Of(l.name)
	if !st.Exists() {
		return 0
	}
	return st.Size
}

// A noted is a line of a reflog.
type noted struct{ id, kind string }

// read returns what git has noted since the last look, the newest first.
func (l *reflog) read() (all []noted) {
	f, _, err := filestat.OpenRegular(l.name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, l.at, mostLog))
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	l.at += int64(len(text))
	for line := range strings.Lines(string(text)) {
		of, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ids := strings.Fields(of); len(ids) > 1 {
			kind, rest, _ := strings.Cut(message, ": ")
			if strings.HasPrefix(rest, "Merge made by ") {
				kind = "commit (merge)"
			}
			all = append(all, noted{ids[1], kind})
		}
	}
	slices.Reverse(all)
	return all
}

// made reports whether who moved HEAD has written the commit: also one that ends a conflict.
func (n noted) made() bool {
	return strings.HasPrefix(n.kind, "commit") || strings.HasPrefix(n.kind, "revert") || strings.HasSuffix(n.kind, "(continue)")
}

// repeats reports whether git has made the commit of another one.
func (n noted) repeats() bool {
	name, _, _ := strings.Cut(n.kind, " ")
	return (name == "cherry-pick" || name == "rebase" || name == "am" || strings.HasPrefix(n.kind, "pull --rebase")) && !strings.HasSuffix(n.kind, "(start)")
}

// Made notices commits that are made in a work tree. It reads files, and asks git nothing.
type Made struct {
	Root string
	log  reflog
}

// Bounds of a look at commits that were made.
const (
	mostMade   = 16
	firstBytes = 16 << 10 // of the reflog, at the first look
)

// Look returns the commits that were made in the work tree since the last look, the latest last: at first, and if there are many, the
// latest ones.
func (m *Made) Look() (ids []string) {
	first := m.log.name == ""
	if first {
		repo, ok := askgit.Find(m.Root)
		if !ok {
			return nil
		}
		m.log.name = filepath.Join(repo.Dir, "logs", "HEAD")
	}
	switch size := m.log.size(); {
	case size == m.log.at:
		return nil
	case first, size < m.log.at: // git has made the file shorter
		m.log.at = max(size-firstBytes, 0)
	}
	whole := m.log.at == 0 || !first
	all := m.log.read()
	if !whole && len(all) > 0 {
		all = all[:len(all)-1] // the rest of a line
	}
	for _, n := range all {
		if (n.made() || n.repeats()) && !slices.Contains(ids, n.id) && len(ids) < mostMade {
			ids = append(ids, n.id)
		}
	}
	slices.Reverse(ids)
	return ids
}
