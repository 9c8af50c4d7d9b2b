package snapshot

import (
	"context"
	"strings"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/paths"
)

// A prompt waits for its snapshot for a moment (Wait). In a large tree a call may begin before the snapshot is taken. The time of a file's last
// change then tells whether the file is as it was before the call. If it is not, the file is doubtful: nobody knows what it held. A scan finds
// it changed, whoever has changed it, and takes what git's index has for its former content, if git knows the file. A person may have written
// the rest. Where states have no times, all files are doubtful.

// lateText says for people what a late snapshot lacks. s.mu must be held.
func (s *Snapshot) lateText() string {
	text := "a call of the agent began before all files had been looked at, so the earlier content of what was changed until then is not known"
	if len(s.repos) > 0 && !s.isolated {
		text += ", and it is compared with git's index instead"
	}
	return text
}

// AgentBegins notes that the agent may be at work from now on, even before its first call is known. Take notes it after Wait
// at the latest.
func (s *Snapshot) AgentBegins() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun == 0 {
		s.begun = clock.Now()
	}
}

// CallBegins notes that calls may have written since a moment, if this is the first one. Files that have changed since, and were
// not looked at before, become doubtful.
func (s *Snapshot) CallBegins(since int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ahead = nil; s.called != 0 {
		return
	}
	s.called = max(since, s.begun)
	if filestat.ChangeTimes && s.shift == nil && s.begun != 0 && s.listed && s.called <= s.lookedAt {
		s.doubt(nil, nil)
	}
}

// sure reports whether a file in a state is as it was before the first call. s.mu must be held.
func (s *Snapshot) sure(st filestat.Stat) bool {
	return s.called == 0 || s.shift != nil || filestat.ChangeTimes && !st.Racy(s.called)
}

// doubt makes files doubtful. listed are those that git's index may have, and missing those of them that were not there when all were looked at.
// s.mu must be held.
func (s *Snapshot) doubt(listed, missing []git.Listed) {
	doubtful := map[string]*entry{}
	for name, e := range s.files.own {
		if e != nil && !s.sure(e.Stat) {
			doubtful[name] = &entry{Stat: e.Stat}
		}
	}
	for i, st := range s.files.base.states() {
		if name := s.files.base.name(i); !s.sure(st) && !s.files.hides(name) {
			doubtful[name] = &entry{Stat: st}
		}
	}
	folders := map[string]bool{}
	for _, l := range missing {
		dir := paths.Parent(l.Path)
		changed, known := folders[dir]
		if !known {
			st := filestat.Of(s.Full(dir))
			changed = !st.Exists() || !s.sure(st)
			folders[dir] = changed
		}
		if changed {
			doubtful[l.Path] = &entry{}
		}
	}
	for _, l := range listed {
		e := doubtful[l.Path]
		if e == nil || l.ID == 0 {
			continue
		}
		if r := s.repositoryOf(l.Path); r != nil && s.known(r) {
			if e.Mode = l.Mode(e.Mode); !s.isolated { // the caller knows better what such a tree began with
				e.blob = git.Blob{OID: s.files.base.ids.Of(l.ID)}
			}
		}
	}
	lacks := len(doubtful) > 0
	for dir := range s.dirs {
		if lacks = lacks || listed != nil && !s.sure(filestat.Of(s.Full(dir))); lacks { // perhaps files were deleted that git does not know
			s.mixed, s.short = true, s.lateText()
			break
		}
	}
	for name, e := range doubtful {
		if e.Exists() {
			e.racy, e.doubtful, e.content = true, true, nowhere
			s.files.set(name, e)
		}
	}
}

// known reports whether git's index was read as it was before the first call. s.mu must be held.
func (s *Snapshot) known(r *git.Repository) bool { return r.Index.Exists() && s.sure(r.Index) }

// disbelieve forgets which files git's index has unchanged, if the index may be the agent's, and adds them to those that are to be read. s.mu
// must be held.
func (s *Snapshot) disbelieve(unread []git.Listed) []git.Listed {
	for i := range s.files.base.len() {
		name := s.files.base.name(i)
		if r := s.repositoryOf(name); s.files.base.oids[i] != 0 && (r == nil || !s.known(r)) {
			s.files.base.oids[i] = 0
			unread = append(unread, git.Listed{Path: name})
		}
	}
	return unread
}

// guesses returns what git's index had of doubtful files.
func (s *Snapshot) guesses(names []string) map[string][]byte {
	found, wanted := map[string][]byte{}, map[*git.Repository]map[string]string{}
	s.mu.Lock()
	for _, name := range names {
		if e, repo := s.files.get(name), s.repositoryOf(name); e != nil && e.doubtful && e.blob.OID != "" && repo != nil {
			if wanted[repo] == nil {
				wanted[repo] = map[string]string{}
			}
			wanted[repo][strings.TrimPrefix(name, repo.At)] = e.blob.OID
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), ScanTime)
	defer cancel()
	for repo, oids := range wanted {
		for name, data := range repo.Checkout(ctx, oids) {
			found[repo.At+name] = data
		}
	}
	return found
}
