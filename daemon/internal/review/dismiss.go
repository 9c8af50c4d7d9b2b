package review

import (
	"cmp"
	"slices"

	"cursord/daemon/api"
	"cursord/sessions"
)

// Dismiss takes files that nobody can decide off the list: those outside of the workspace, or, if the workspace is gone, all;
// of these the file at path, unless path is "". It decides nothing, writes no file, and cannot be undone. It returns the
// number of files. A later change by an agent lists a file again.
func (r *Reviewer) Dismiss(path string, gone bool) (n int, err error) {
	stopped := r.callStored(func() {
		r.refreshPending()
		n, err = r.dismiss(path, gone)
	})
	return n, cmp.Or(stopped, err)
}

func (r *Reviewer) dismiss(path string, gone bool) (int, error) {
	files, err := r.chosen(0, path, "")
	if err != nil {
		return 0, err
	}
	inside := func(f *file) bool { return !gone && !f.outside() }
	if path != "" && slices.ContainsFunc(files, inside) {
		e := api.Invalid("path", "%s is in the workspace, and only files outside of it can be dismissed", path)
		e.Hint = "accept or reject it"
		return 0, e
	}
	files = slices.DeleteFunc(files, inside)
	if path != "" && len(files) == 0 {
		return 0, api.Errorf(api.KindNotFound, "%s has nothing to dismiss", path)
	}
	for _, f := range files {
		r.ops = append(r.ops, sessions.DropReview{Path: f.path, Session: f.tree.Session})
		r.vacated[f.path], r.viewed[f.path], r.rewatch = true, true, true
		delete(r.deferred, f)
		delete(r.affected, f)
		delete(f.tree.files, f.path)
	}
	r.save()
	return len(files), nil
}
