package daemon

import (
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// Diffs lists what is pending in a workspace, in a file of it, or of a turn, as a client sees it.
func (d *Daemon) Diffs(client api.ClientID, root, path, turn string) ([]*sessions.Diff, error) {
	w, err := d.workspace(root)
	if err != nil {
		return nil, err
	}
	defer w.release()
	list, stored := []*sessions.Diff{}, make(chan struct{})
	stopped := w.review.call(func() {
		w.review.refreshPending()
		var files []*file
		files, err = w.review.listed(client, path, turn)
		list = append(list, w.review.shownOf(client, files)...)
		w.review.whenStored(func() { close(stored) })
	})
	if stopped != nil {
		return nil, stopped
	}
	select {
	case <-stored:
		return list, err
	case <-w.done:
		return nil, errStopped
	}
}

// Unified returns what is pending as one patch in git's format: of a workspace, a file of it, or a turn's files.
func (d *Daemon) Unified(root, path, turn string) (string, error) {
	w, err := d.workspace(root)
	if err != nil {
		return "", err
	}
	defer w.release()
	var patch []byte
	stopped := w.review.call(func() {
		w.review.refreshPending()
		var chosen []*file
		chosen, err = w.review.listed(0, path, turn)
		// Each copy's are a patch of their own, on the work tree.
		slices.SortStableFunc(chosen, func(a, b *file) int { return strings.Compare(a.tree.session, b.tree.session) })
		var files []diffs.FilePatch
		for _, f := range chosen {
			if !f.outside() && w.review.load(f) == nil {
				files = append(files, f.patch(turn))
			}
		}
		patch = diffs.Unified(files)
	})
	if stopped != nil {
		return "", stopped
	}
	return string(patch), err
}

// patch returns the file's pending hunks, or those of a turn.
func (f *file) patch(turn string) diffs.FilePatch {
	if turn == "" {
		return f.review.Patch(f.path, nil)
	}
	return f.review.Patch(f.path, func(h diffs.Hunk) bool { return fromTurn(h, turn) })
}

func fromTurn(h diffs.Hunk, turn string) bool {
	return slices.ContainsFunc(h.Sources, func(s diffs.Source) bool { return s.TurnID == turn })
}

// named returns the path that a client means by a path or a URI: a link itself if that is under review, else what it points to.
func (r *reviewer) named(path string) string {
	if paths.IsURI(path) { // as a diff's uri
		if local, err := paths.Local(path); err == nil {
			path = local
		}
	}
	link := paths.CanonicalOf(r.w.root, r.w.root, path, false)
	if slices.ContainsFunc(r.at(link), func(f *file) bool { return f.pending() }) {
		return link
	}
	return paths.Canonical(r.w.root, r.w.root, path)
}

// checkDiffPath refuses a URI that names no local file. What is no URI is a path, whatever is in it.
func checkDiffPath(path string) error {
	if scheme, _, is := strings.Cut(path, "://"); is && !strings.Contains(scheme, "/") && !paths.IsURI(path) {
		e := api.Invalid("path", "%.300q is a URI, and not of a file", path)
		e.Hint = "send the diff's path, an absolute path, or a file:// URI"
		return e
	}
	if !paths.IsURI(path) {
		return nil
	}
	_, err := LocalPath("path", path)
	return err
}

// listed is chosen where a turn must be one of the workspace.
func (r *reviewer) listed(client api.ClientID, path, turn string) ([]*file, error) {
	files, err := r.chosen(client, path, turn)
	if err != nil || turn == "" || len(files) > 0 {
		return files, err
	}
	if t, err := r.w.d.store.Turn(turn); err != nil {
		return nil, storeError(err)
	} else if t.Workspace != r.w.root {
		return nil, api.Errorf(api.KindNotFound, "turn %s is not of the workspace %s", turn, r.w.root)
	}
	return files, nil
}

// chosen lists the files with something pending for a client that a path and a turn, if given, select.
func (r *reviewer) chosen(client api.ClientID, path, turn string) ([]*file, error) {
	if path != "" {
		if why := paths.TooLongIn(r.w.root, path); why != "" {
			return nil, api.Invalid("path", "%s", why)
		}
		if err := checkDiffPath(path); err != nil {
			return nil, err
		}
		name := path
		path = r.named(path)
		if filepath.IsAbs(path) && path != r.w.root && r.shared().files[path] == nil {
			return nil, api.Errorf(api.KindOutsideWorkspace, "%s is outside of the workspace %s", name, r.w.root)
		}
	}
	files := slices.DeleteFunc(r.sorted(), func(f *file) bool {
		diff := r.partOf(client, f)
		return diff == nil || diff.State != "pending" || path != "" && f.path != path ||
			turn != "" && !slices.Contains(diff.Turns, turn)
	})
	return files, nil
}

// partOf returns what a file has of the diff of its path, as a client sees it.
func (r *reviewer) partOf(client api.ClientID, f *file) *sessions.Diff {
	if b := f.buffers[client]; b != nil && b.diff != nil {
		return b.diff
	}
	if f.unread {
		return r.told[f.path] // it cannot be read
	}
	return f.diff
}

// shownOf returns the diffs of files, as a client sees them, those of a path once.
func (r *reviewer) shownOf(client api.ClientID, files []*file) (diffs []*sessions.Diff) {
	done := map[string]bool{}
	for _, f := range files {
		if diff := r.shown(client, f.path); diff != nil && !done[f.path] {
			done[f.path] = true
			diffs = append(diffs, diff)
		}
	}
	return diffs
}
