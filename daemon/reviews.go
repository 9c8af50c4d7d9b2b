package daemon

import (
	"context"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/review"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// This file is the way from requests to the reviewers.

// Decide accepts or rejects hunks. All that a request names is checked before anything changes; with Path, TurnID or
// All, what cannot be decided is left and listed, and a reject leaves what may be a person's. A reject in a file that an
// agent is about to write waits until the agent's tool has ended, or ctx has.
func (d *Daemon) Decide(ctx context.Context, root string, dec api.Decision, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Decide(ctx, dec, reply) })
}

// Undo takes back the latest decision of a workspace that is not undone yet; if only is not 0, only if that is the
// number of the decision. As with Decide, what writes a file that an agent is about to write waits.
func (d *Daemon) Undo(ctx context.Context, client api.ClientID, root string, only uint64, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Undo(ctx, client, only, reply) })
}

// Redo makes again the latest decision that was undone.
func (d *Daemon) Redo(ctx context.Context, client api.ClientID, root string, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Redo(ctx, client, reply) })
}

// Merge answers with the edits that bring into a client's unsaved text what the disk has in other lines.
func (d *Daemon) Merge(ctx context.Context, client api.ClientID, root, path string, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Merge(ctx, client, path, reply) })
}

// review has do ask the reviewer of a workspace for what may write files.
func (d *Daemon) review(root string, reply func(api.Decided, error), do func(*review.Reviewer)) {
	w, err := d.workspace(root)
	if err != nil {
		reply(api.Decided{}, err)
		return
	}
	defer w.release()
	_ = d.tryDisk() // the reviewer asks what is wrong still
	do(w.review)
}

// Diffs lists what is pending in a workspace, in a file of it, or of a turn, as a client sees it.
func (d *Daemon) Diffs(client api.ClientID, root, path, turn string) ([]*sessions.Diff, error) {
	w, err := d.workspace(root)
	if err != nil {
		return nil, err
	}
	defer w.release()
	return w.review.Diffs(client, path, turn)
}

// Unified returns what is pending as one patch in git's format: of a workspace, a file of it, or a turn's files.
func (d *Daemon) Unified(root, path, turn string) (string, error) {
	w, err := d.workspace(root)
	if err != nil {
		return "", err
	}
	defer w.release()
	return w.review.Unified(path, turn)
}

// Comment keeps a remark about a hunk for the agent's next prompt.
func (d *Daemon) Comment(root, hunk, text string) error {
	w, err := d.workspace(root)
	if err != nil {
		return err
	}
	defer w.release()
	return w.review.Comment(hunk, text)
}

// Dismiss takes files outside of the workspace off the list of what is to be reviewed: the one at a path, or all for "". It
// returns how many those are.
func (d *Daemon) Dismiss(root, path string) (int, error) {
	w, err := d.workspace(root)
	if err != nil {
		return 0, err
	}
	defer w.release()
	return w.review.Dismiss(path)
}

// resumeAll has what the last daemon had begun to write finished, one workspace after the other: a file may be half written, and
// whoever comes to it before us takes that for what it is to hold.
func (d *Daemon) resumeAll(ctx context.Context) {
	roots, err := d.store.Intending()
	if err != nil {
		d.log.Error("what the last daemon was about to write is not known", "err", err)
	}
	for _, root := range roots {
		if ctx.Err() != nil {
			return
		}
		w, err := d.workspace(root) // its start resumes
		if err != nil {
			d.log.Warn("what the last daemon was about to write is left until the workspace is there", "workspace", root, "err", err)
			continue
		}
		w.review.Wait()
		w.release()
	}
}

// NewClient returns the name of a client that may open documents; CloseClient ends it.
func (d *Daemon) NewClient() api.ClientID { return d.docs.NewClient() }

// CloseClient closes all documents of a client.
func (d *Daemon) CloseClient(client api.ClientID) { d.docs.CloseClient(client) }

// OpenDocument tells that a client has a file open. Its text, if given, is what the client has; while that is not what
// is on disk, the document is unsaved: the client's diffs of the file are measured against it, and what the client
// rejects there is answered as edits. Like those below, it returns an error if it does nothing.
func (d *Daemon) OpenDocument(client api.ClientID, uri string, version int, text *string) error {
	return d.docs.Open(client, uri, version, text)
}

// ChangeDocument tells the whole text of an open document; one that is not newer than what is known is ignored.
func (d *Daemon) ChangeDocument(client api.ClientID, uri string, version int, text string) error {
	return d.docs.Change(client, uri, version, text)
}

// SaveDocument tells that an open document is on disk now. It may be newer than what is known. A text that was known to
// be unsaved is a person's, whatever an agent does at the same time.
func (d *Daemon) SaveDocument(client api.ClientID, uri string, version *int) error {
	return d.docs.Save(client, uri, version)
}

// CloseDocument tells that a client has closed a document.
func (d *Daemon) CloseDocument(client api.ClientID, uri string) error {
	return d.docs.Close(client, uri)
}

// reviewers returns those of all workspaces.
func (d *Daemon) reviewers() (all []documents.Reviewer) {
	for _, w := range d.loops() {
		all = append(all, w.review)
	}
	return all
}

// A reviewLoop is a workspace's loop as its reviewer sees it.
type reviewLoop struct{ w *workspace }

func (l reviewLoop) Guard(f func()) bool { return l.w.guard(f) }

func (l reviewLoop) Number() (n uint64) {
	_ = l.w.call(func() { // an error says that there is nobody left to know the number
		l.w.seq++
		n = l.w.seq
	})
	return n
}

func (l reviewLoop) Commit(change *review.Commit) error {
	w := l.w
	return w.call(func() {
		c := &commit{ops: change.Ops}
		// These numbers come before something is put, so that they are on disk as given out when the views are published.
		for _, v := range change.Views {
			if v.Diff != nil {
				w.seq++
				v.Diff.Rev = w.seq
			}
		}
		for _, diff := range change.Diffs {
			w.put(c, diff, nil)
		}
		w.putViews(c, change)
		change.Numbered()
		if change.Stored != nil {
			c.replies = append(c.replies, change.Stored)
		}
		w.submit(c)
	})
}

// putViews publishes to clients how they see the files that they hold unsaved. For others nothing has happened. A diff that c
// publishes anyway goes with it. The reviewer waits meanwhile.
func (w *workspace) putViews(c *commit, change *review.Commit) {
	for _, v := range change.Views {
		mine := w.views[v.Client]
		if v.Diff == nil {
			delete(mine, v.Path)
			if len(mine) == 0 {
				delete(w.views, v.Client)
			}
		} else {
			if mine == nil {
				mine = map[string]*sessions.Diff{}
				w.views[v.Client] = mine
			}
			mine[v.Path] = v.Diff
		}
		if slices.ContainsFunc(change.Diffs, func(d *sessions.Diff) bool { return d.Path == v.Path }) {
			continue
		}
		diff := *v.Published
		w.put(c, &diff, nil)
		v.Published = &diff
		c.notes[len(c.notes)-1].only = v.Client
	}
}

// viewed returns n as the client of the subscription sees it.
func (s *Subscription) viewed(n *Notification) *Notification {
	v := s.w.views[s.client][n.ID]
	if v == nil {
		return n
	}
	diff := *v
	diff.Seq = n.Seq
	return &Notification{Workspace: n.Workspace, Kind: n.Kind, ID: n.ID, Seq: n.Seq, JSON: wire.Encode(&diff)}
}

func (l reviewLoop) Persist(ops ...sessions.Op) error {
	stored := make(chan error, 1)
	err := l.w.call(func() {
		c := &commit{ops: ops, replies: []func(error){func(err error) { stored <- err }}}
		l.w.submit(c)
		if err := l.w.d.store.Trouble(); err != nil { // whose beginning was published before
			l.w.answer(c, err)
		}
	})
	if err != nil {
		return err
	}
	return <-stored
}

func (l reviewLoop) WhenStored(then func()) {
	err := l.w.call(func() {
		if l.w.d.store.Backlog() == 0 || l.w.d.store.Trouble() != nil {
			then()
			return
		}
		l.w.submit(&commit{replies: []func(error){func(error) { then() }}})
	})
	if err != nil {
		then()
	}
}

// The methods below have nothing to do, and nobody to tell, where the loop has ended.

func (l reviewLoop) ForgetClient(client api.ClientID) {
	_ = l.w.call(func() { delete(l.w.views, client) })
}

func (l reviewLoop) Remark(session, text string) {
	_ = l.w.call(func() {
		var c commit
		l.w.addNote(&c, session, text)
		l.w.submit(&c)
	})
}

func (l reviewLoop) KeepRejections(decision uint64, rejections []decisionlog.Rejection) {
	_ = l.w.call(func() {
		var c commit
		for _, t := range rejections {
			if _, err := l.w.session(t.Session); err != nil {
				continue // it was deleted, and has no more prompts
			}
			l.w.keepNote(&c, note{SessionID: t.Session, Text: t.Text, Group: decision})
		}
		l.w.submit(&c)
	})
}

func (l reviewLoop) KeepsRejections(decision uint64) (kept bool) {
	_ = l.w.call(func() {
		kept = slices.ContainsFunc(l.w.notes, func(n note) bool { return n.Group == decision })
	})
	return kept
}

func (l reviewLoop) ForgetRejections(decision uint64) {
	_ = l.w.call(func() {
		var c commit
		l.w.dropNotes(&c, func(n note) bool { return n.Group == decision })
		if len(c.ops) > 0 {
			l.w.submit(&c)
		}
	})
}
