package review

import (
	"path/filepath"
	"time"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/watch"
	"cursord/diffs"
)

// watchPending watches the folders of pending files, and looks at folders that are new to it.
func (r *Reviewer) watchPending() {
	for again := true; again; again = r.rewatch {
		r.rewatch = false
		var paths []string
		for _, f := range r.sorted() {
			if f.followed() && !f.outside() {
				paths = append(paths, r.absolute(f))
			}
		}
		var also []string
		if len(paths) > 0 {
			if r.head.Known() {
				r.headMoved(r.setup.Running() == 0)
			} else {
				r.lookAtHead(false)
			}
			if head := r.head.Path(); head != "" {
				also = append(also, head)
			}
		}
		if added := r.watch.Want(paths, also...); added != nil {
			r.lookAgain(func(path string) bool { return watch.Below(added, path) }, 0)
		}
	}
}

// look takes in the present content of touched files. It waits a moment for files that are just being saved, because a file
// may be cut off or gone during a save.
func (r *Reviewer) look(touched func(path string) bool) {
	r.rewatch = true                       // folders may have been made or removed
	r.answers.Look(r.setup.Running() == 0) // before the files, which may have changed since they were committed
	r.lookAgain(touched, 0)
	if head := r.head.Path(); head != "" && touched(head) {
		r.headMoved(r.setup.Running() == 0)
	}
}

// Numbers of looks that wait for a save to end, and for a missing file to come back.
const (
	saveTries = 20
	goneTries = 3
)

func (r *Reviewer) lookAgain(touched func(path string) bool, tries int) {
	settle := r.watch.Limits.Settle
	var files []*file
	saved := map[string]bool{}
	for _, f := range r.sorted() {
		p := r.absolute(f)
		if !f.followed() || f.outside() || !touched(p) {
			continue
		}
		st := filestat.Of(p)
		age, quiet := time.Duration(clock.Now()-st.Written()), settle/2
		if st.Size == 0 {
			quiet = saveTries * settle / 2 // on a busy disk an emptied file may stay empty for a while
		}
		if !f.tree.Explained(r.shared().ChangedAt(f.realPath(), st)) ||
			!st.Exists() && tries < goneTries || st.Exists() && tries < saveTries && age >= 0 && age < quiet {
			saved[p] = true
		} else {
			files = append(files, f)
		}
	}
	r.refreshAll(files)
	if len(saved) > 0 {
		time.AfterFunc(settle, func() {
			r.later.Put(func() { r.lookAgain(func(path string) bool { return saved[path] }, tries+1) })
		})
	}
}

// Times for which a file must be left alone before it counts as saved. If a file is empty or gone, atomicfile.EmptyTime
// applies.
const (
	quietTime = 15 * time.Millisecond
	heldTime  = 2 * time.Second        // for a file that an editor holds unsaved: on a busy disk a save takes long
	savedTime = 300 * time.Millisecond // the longest time that readSaved waits
	lookTime  = 2 * time.Millisecond   // the pause between two looks
)

// readSaved reads a file of the work tree. If the file has changed, it waits until nobody is writing it, because many
// editors empty a file, or move it away, before they write it. By then running agents have announced their own writes.
func (r *Reviewer) readSaved(f *file) atomicfile.State {
	path, name := r.absolute(f), f.realPath()
	last := atomicfile.State{Content: f.Real()}
	begun := clock.Now()
	for {
		before := filestat.Of(path)
		img := atomicfile.Read(r.setup.Root, name)
		late := clock.Now()-begun > int64(savedTime)
		emptied := len(img.Bytes()) == 0 && len(last.Bytes()) > 0
		by := r.author(name, img, f.lookedAt)
		known := by != nil && by.Via != diffs.ViaUnknown
		if img.Unreadable != "" || img.Same(last) || known && len(img.Bytes()) >= len(last.Bytes()) {
			return img
		}
		when := r.shared().ChangedAt(name, before)
		if late { // somebody who writes again and again began earlier
			when = min(when, begun)
		}
		explained := known || r.shared().Explained(when)
		if late && explained && !(emptied && img.Exists && !known) {
			return img
		}
		quiet, changed := quietTime, before.Written()
		if emptied && !known {
			quiet = atomicfile.EmptyTime
			if len(r.setup.Documents.Unsaved(path)) > 0 {
				quiet = heldTime
			}
		}
		switch {
		case !before.Exists():
			changed = filestat.Of(filepath.Dir(path)).Written()
		case emptied: // a file may be empty before its times show the change
			changed = max(changed, begun)
		}
		age := time.Duration(clock.Now() - changed)
		if filestat.Of(path) == before && (age < 0 || age >= quiet) && explained {
			return img
		}
		switch {
		case late && !explained:
			return atomicfile.State{Unreadable: "it has just been written, perhaps by the agent that is at work"}
		case late:
			return atomicfile.State{Unreadable: "somebody is writing it again and again"}
		}
		select {
		case <-time.After(min(max(quiet-age, lookTime), quietTime)): // an emptied file has its text soon
		case <-r.quit:
			return img
		}
	}
}

// DocumentChanged has the reviewer look at a document of the workspace, at once or in a moment.
func (r *Reviewer) DocumentChanged(path string, atOnce bool) {
	r.docs.Add(path, atOnce, r.watch.Limits.Settle, func() { r.later.Put(r.lookAtDocuments) })
}

func (r *Reviewer) lookAtDocuments() {
	paths := r.docs.Take()
	var files []*file
	for _, f := range r.sorted() {
		if !f.outside() && paths[r.absolute(f)] {
			files = append(files, f)
			r.affected[f] = true
		}
	}
	r.refreshAll(files)
}
