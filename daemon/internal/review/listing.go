package review

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// patch returns the file's pending hunks, or those of a turn.
func (f *file) patch(turn string) diffs.FilePatch {
	return f.Review.Patch(f.path, func(h diffs.Hunk) bool { return turn == "" || h.FromTurn(turn) })
}

// named returns the path of the file that a client names by a path or a URI. If a link is under review, its path names the
// link; otherwise it names the link's target.
func (r *Reviewer) named(path string) string {
	if paths.IsURI(path) { // the form of a diff's uri
		if local, err := paths.Local(path); err == nil {
			path = local
		}
	}
	link := paths.CanonicalOf(r.setup.Root, r.setup.Root, path, false)
	if slices.ContainsFunc(r.at(link), func(f *file) bool { return f.pending() }) {
		return link
	}
	return paths.Canonical(r.setup.Root, r.setup.Root, path)
}

// listed is chosen, but returns an error for a turn that the workspace does not have.
func (r *Reviewer) listed(client api.ClientID, path, turn string) ([]*file, error) {
	files, err := r.chosen(client, path, turn)
	if err != nil || turn == "" || len(files) > 0 {
		return files, err
	}
	if t, err := r.setup.Store.Turn(turn); err != nil {
		return nil, api.StoreError(err)
	} else if t.Workspace != r.setup.Root {
		return nil, api.Errorf(api.KindNotFound, "turn %s does not belong to the workspace %s", turn, r.setup.Root)
	}
	return files, nil
}

// chosen lists the files with something pending for a client. path and turn, if given, restrict it.
func (r *Reviewer) chosen(client api.ClientID, path, turn string) ([]*file, error) {
	if path != "" {
		if why := paths.TooLongIn(r.setup.Root, path); why != "" {
			return nil, api.Invalid("path", "%s", why)
		}
		if err := api.DiffPath(path); err != nil {
			return nil, err
		}
		name := path
		path = r.named(path)
		if filepath.IsAbs(path) && path != r.setup.Root && r.shared().files[path] == nil {
			return nil, api.Errorf(api.KindOutsideWorkspace, "%s is outside of the workspace %s", name, r.setup.Root)
		}
	}
	files := slices.DeleteFunc(r.sorted(), func(f *file) bool {
		diff := r.partOf(client, f)
		return diff == nil || diff.State != "pending" || path != "" && f.path != path ||
			turn != "" && !slices.Contains(diff.Turns, turn)
	})
	return files, nil
}

// partOf returns a file's part in the diff of its path, as a client sees it.
func (r *Reviewer) partOf(client api.ClientID, f *file) *sessions.Diff {
	if b := f.Buffers[client]; b != nil && b.Diff != nil {
		return b.Diff
	}
	if f.unread {
		return r.published[f.path] // the review cannot be read
	}
	return f.diff
}

// shownAt returns the diffs of paths as a client sees them; each diff once.
func (r *Reviewer) shownAt(client api.ClientID, paths []string) (diffs []*sessions.Diff) {
	done := map[string]bool{}
	for _, path := range paths {
		if diff := r.shown(client, path); diff != nil && !done[path] {
			done[path] = true
			diffs = append(diffs, diff)
		}
	}
	return diffs
}

// pathsOf returns the paths of files, in their order.
func pathsOf(files []*file) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths
}

// Diffs lists the pending diffs of the workspace, of a file or of a turn, as a client sees them. They are on disk when it
// returns.
func (r *Reviewer) Diffs(client api.ClientID, path, turn string) (list []*sessions.Diff, err error) {
	list = []*sessions.Diff{}
	stopped := r.callStored(func() {
		r.refreshPending()
		var files []*file
		files, err = r.listed(client, path, turn)
		list = append(list, r.shownAt(client, pathsOf(files))...)
	})
	return list, cmp.Or(stopped, err)
}

// callStored is call, and returns once all that f has submitted is on disk.
func (r *Reviewer) callStored(f func()) error {
	stored := make(chan struct{})
	if err := r.call(func() { f(); r.setup.Loop.WhenStored(func() { close(stored) }) }); err != nil {
		return err
	}
	select {
	case <-stored:
		return nil
	case <-r.done:
		return api.ErrStopped
	}
}

// Unified returns the pending hunks of the workspace, of a file or of a turn's files as one patch in git's format.
func (r *Reviewer) Unified(path, turn string) (patch string, err error) {
	stopped := r.call(func() {
		r.refreshPending()
		var chosen []*file
		chosen, err = r.listed(0, path, turn)
		// The hunks of each copy make a patch of their own, against the work tree.
		slices.SortStableFunc(chosen, func(a, b *file) int { return strings.Compare(a.tree.Session, b.tree.Session) })
		var files []diffs.FilePatch
		for _, f := range chosen {
			if !f.outside() && r.load(f) == nil {
				files = append(files, f.patch(turn))
			}
		}
		patch = string(diffs.Unified(files))
	})
	return patch, cmp.Or(stopped, err)
}
