package review

import "cursord/sessions"

// damagedReview drops a damaged review. The file stays as it is.
func (r *Reviewer) damagedReview(rec sessions.ReviewRecord, err error) {
	r.setup.Damaged("the review of "+rec.Path, err)
	r.ops = append(r.ops, sessions.DropReview{Path: rec.Path, Session: rec.Session})
	if published, err := r.setup.Store.Diff(r.setup.Root, rec.Path); err == nil {
		r.published[rec.Path], r.vacated[rec.Path] = published, true
	}
}

// republish stores and publishes the diff of a path again, because its record in the database was damaged.
func (r *Reviewer) republish(path string) {
	var files []*file
	for _, f := range r.at(path) {
		if err := r.load(f); err != nil {
			r.setup.Log.Error("a diff that was damaged cannot be made anew", "path", path, "err", err)
			return
		}
		files = append(files, f)
	}
	if len(files) > 0 {
		delete(r.composed, path)
		r.save(files...)
	}
}

// hollow reports whether a diff only stands in for a damaged one.
func hollow(d *sessions.Diff) bool { return d.State == "pending" && len(d.Hunks) == 0 }
