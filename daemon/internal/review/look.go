package review

import (
	"path/filepath"
	"sync"
	"time"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/watch"
	"cursord/diffs"
)

// watchPending has the folders watched of what is pending in the workspace, and looks at what happened there before.
func (r *Reviewer) watchPending() {
	for again := true; again; again = r.rewatch {
		r.rewatch = false
		var paths []string
		for _, f := range r.sorted() {
			if (f.diff != nil && f.diff.State == "pending" || f.away()) && !f.outside() {
				paths = append(paths, r.absolute(f))
			}
		}
		var also []string
		if len(paths) > 0 {
			// What was committed while nothing was pending was no word about what is pending now.
			if len(r.watch.Paths) > 0 && r.head.Known() {
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

// look takes in what touched files hold now, those that are just being saved a moment later: a person's word is final,
// and a file that is cut off or gone for a moment is not what the person means.
func (r *Reviewer) look(touched func(path string) bool) {
	r.rewatch = true // folders may have come and gone
	r.lookAgain(touched, 0)
	if head := r.head.Path(); head != "" && touched(head) {
		r.headMoved(r.setup.Running() == 0)
	}
}

// How often a look waits for a save to end, and for a file to come back.
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
		if !f.pending() && !f.away() || f.outside() || !touched(p) {
			continue
		}
		st := filestat.Of(p)
		age, quiet := time.Duration(clock.Now()-st.Written()), settle/2
		if st.Size == 0 {
			quiet = saveTries * settle / 2 // on a busy disk, what was cut off may stay so for a while
		}
		if !f.tree.explained(r.shared().changedAt(f.realPath(), st)) ||
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

// How long a file must have been left alone to be taken for saved; atomicfile.EmptyTime if it is empty or gone, and was not.
const (
	quietTime = 15 * time.Millisecond
	heldTime  = 2 * time.Second        // the same where an editor has it unsaved: on a busy disk a save takes its time
	savedTime = 300 * time.Millisecond // and how long that is waited for
	lookTime  = 2 * time.Millisecond   // how often it is looked at
)

// readSaved reads a file of the work tree, when it is not what was last seen, in a moment in which nobody is at it: many
// editors empty a file before they write it, or move it away. By then running agents have said if it was them.
func (r *Reviewer) readSaved(f *file) atomicfile.State {
	path, name := r.absolute(f), f.realPath()
	last := atomicfile.State{Content: f.real()}
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
		when := r.shared().changedAt(name, before)
		if late { // who writes again and again has done so before
			when = min(when, begun)
		}
		explained := known || r.shared().explained(when)
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
		case emptied: // a file may be empty before its times say so
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
		case <-time.After(min(max(quiet-age, lookTime), quiet)):
		case <-r.quit:
			return img
		}
	}
}

// DocumentChanged has the reviewer look at a document of the workspace: at once, or in a moment, because people type
// faster than anybody reads.
func (r *Reviewer) DocumentChanged(path string, atOnce bool) {
	look := func() { r.later.Put(r.lookAtDocuments) }
	r.docs.mu.Lock()
	defer r.docs.mu.Unlock()
	if r.docs.paths == nil {
		r.docs.paths = map[string]bool{}
	}
	r.docs.paths[path] = true
	switch {
	case atOnce:
		look()
	case r.docs.timer == nil:
		r.docs.timer = time.AfterFunc(r.watch.Limits.Settle, look)
	}
}

func (r *Reviewer) lookAtDocuments() {
	r.docs.mu.Lock()
	paths := r.docs.paths
	r.docs.paths, r.docs.timer = nil, nil
	r.docs.mu.Unlock()
	var files []*file
	for _, f := range r.sorted() {
		if !f.outside() && paths[r.absolute(f)] {
			files = append(files, f)
			r.affected[f] = true
		}
	}
	r.refreshAll(files)
}

// changedDocuments are those that the reviewer has not looked at.
type changedDocuments struct {
	mu    sync.Mutex
	paths map[string]bool // guarded by mu; absolute
	timer *time.Timer     // guarded by mu; nil: no look is due in a moment
}
