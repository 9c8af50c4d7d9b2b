package daemon

import (
	"context"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/review"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// This file is the way from requests to the reviewers.

// Decide accepts or rejects hunks. It checks everything that a request names before anything changes. With Path, TurnID or
// All, it leaves and lists what cannot be decided, and a reject leaves what may be a person's. If an open call names the
// file, a reject waits until the call has ended, or ctx has.
func (d *Daemon) Decide(ctx context.Context, root string, dec api.Decision, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Decide(ctx, dec, reply) })
}

// Undo takes back the latest decision of a workspace that is not undone; if only is not 0, it does so only if that is the
// decision's number. With asEdits, what a decision has changed by edits in a document that the client has open is changed by edits
// again. It waits as Decide does.
func (d *Daemon) Undo(ctx context.Context, client api.ClientID, root string, only uint64, asEdits bool, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Undo(ctx, client, only, asEdits, reply) })
}

// WouldUndo answers with the decision that Undo would take back, and changes nothing.
func (d *Daemon) WouldUndo(ctx context.Context, root string, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.WouldUndo(ctx, reply) })
}

// Redo makes the latest undone decision again; only and asEdits are as in Undo.
func (d *Daemon) Redo(ctx context.Context, client api.ClientID, root string, only uint64, asEdits bool, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Redo(ctx, client, only, asEdits, reply) })
}

// Merge returns the edits that bring the disk's changes in other lines into a client's unsaved text.
func (d *Daemon) Merge(ctx context.Context, client api.ClientID, root, path string, reply func(api.Decided, error)) {
	d.review(root, reply, func(r *review.Reviewer) { r.Merge(ctx, client, path, reply) })
}

// Places returns where the texts that a client has open of a path have its hunks.
func (d *Daemon) Places(client api.ClientID, root, path string) ([]api.PlacedDocument, error) {
	return reviewed(d, root, func(r *review.Reviewer) ([]api.PlacedDocument, error) { return r.Places(client, path) })
}

// review calls do with the reviewer of a workspace, for a request that may write files.
func (d *Daemon) review(root string, reply func(api.Decided, error), do func(*review.Reviewer)) {
	w, err := d.workspace(root)
	if err != nil {
		reply(api.Decided{}, err)
		return
	}
	defer w.release()
	_ = d.tryDisk() // the reviewer reports an error that remains
	do(w.review)
}

// reviewed returns what f returns for the reviewer of a workspace.
func reviewed[T any](d *Daemon, root string, f func(*review.Reviewer) (T, error)) (result T, err error) {
	w, err := d.workspace(root)
	if err != nil {
		return result, err
	}
	defer w.release()
	return f(w.review)
}

// Diffs lists what is pending in a workspace, in one of its files, or of a turn, as a client sees it.
func (d *Daemon) Diffs(client api.ClientID, root, path, turn string) ([]*sessions.Diff, error) {
	return reviewed(d, root, func(r *review.Reviewer) ([]*sessions.Diff, error) { return r.Diffs(client, path, turn) })
}

// Unified returns what is pending in a workspace, in one of its files, or in a turn's files, as one patch in git's format.
func (d *Daemon) Unified(root, path, turn string) (string, error) {
	return reviewed(d, root, func(r *review.Reviewer) (string, error) { return r.Unified(path, turn) })
}

// Commits lists what a session's agent has committed in its copy, as apart.Commits does.
func (d *Daemon) Commits(ctx context.Context, session string, only []string, patch bool) (api.Commits, error) {
	w, err := d.workspaceOfSession(session)
	if err != nil {
		return api.Commits{}, err
	}
	defer w.release()
	return apart.Commits(ctx, w.review.PlacesOf(session), only, patch)
}

// Comment adds a remark about a hunk to the agent's next prompt.
func (d *Daemon) Comment(root, hunk, text string) error {
	_, err := reviewed(d, root, func(r *review.Reviewer) (struct{}, error) { return struct{}{}, r.Comment(hunk, text) })
	return err
}

// Dismiss removes files that nobody can decide from review: those outside of the workspace, or all if its folder is gone; of
// these the one at a path, or all for "". It returns how many.
func (d *Daemon) Dismiss(root, path string) (int, error) {
	known, err := d.knownRoot(root)
	if err != nil {
		return 0, err
	}
	w, err := d.workspaceAt(known)
	if err != nil {
		return 0, err
	}
	defer w.release()
	return w.review.Dismiss(path, isGone(known))
}

// resumeTime bounds how long nobody is answered because decisions of the last daemon are being finished.
const resumeTime = 10 * time.Second

// resumeAll finishes what the last daemon had begun to write, one workspace after the other, and closes resumed: until then a file may be half
// written, and the transcript of a rewind may say something else than the files. Then it takes in what its turns have changed.
func (d *Daemon) resumeAll(ctx context.Context, resumed chan<- struct{}) {
	roots, err := d.store.Intending()
	if err != nil {
		d.log.Error("an unfinished decision of the last daemon cannot be read", "err", err)
	}
	defer d.killed.Done()
	d.takeUp(ctx, roots)
	close(resumed)
	d.takeUp(ctx, d.killed.Roots())
}

func (d *Daemon) takeUp(ctx context.Context, roots []string) {
	for _, root := range roots {
		if ctx.Err() != nil {
			return
		}
		w, err := d.workspace(root) // starting the loop resumes
		if err != nil {
			d.log.Warn("an unfinished decision of the last daemon waits until the workspace is there", "workspace", root, "err", err)
			continue
		}
		w.review.Wait()
		_ = reviewLoop{w}.Persist() // what it has told the loop
		w.release()
	}
}

// NewClient returns an id for a client that may open documents; CloseClient ends it.
func (d *Daemon) NewClient() api.ClientID { return d.docs.NewClient() }

// CloseClient closes all documents of a client.
func (d *Daemon) CloseClient(client api.ClientID) { d.docs.CloseClient(client) }

// OpenDocument says that a client has a file open. text, if given, is the client's text. While that differs from the disk,
// the document is unsaved, unless saved says that the client has yet to load the file: the client's diffs of the file are relative to it,
// and what the client rejects in it is answered as edits. Like the methods below, it returns an error if it does nothing.
func (d *Daemon) OpenDocument(client api.ClientID, uri string, version int, text *string, saved bool) error {
	return d.docs.Open(client, uri, version, text, saved)
}

// ChangeDocument gives the whole text of an open document; a version that is not newer than the known one is ignored.
func (d *Daemon) ChangeDocument(client api.ClientID, uri string, version int, text string, saved bool) error {
	return d.docs.Change(client, uri, version, text, saved)
}

// SaveDocument says that an open document is on disk now. It may be newer than the known text. A text that was known to be
// unsaved is a person's, whatever an agent does at the same time.
func (d *Daemon) SaveDocument(client api.ClientID, uri string, version *int) error {
	return d.docs.Save(client, uri, version)
}

// CloseDocument says that a client has closed a document.
func (d *Daemon) CloseDocument(client api.ClientID, uri string) error {
	return d.docs.Close(client, uri)
}

// reviewers returns the reviewers of all workspaces.
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
	_ = l.w.call(func() { // an error means that nobody is left who needs the number
		l.w.seq++
		n = l.w.seq
	})
	return n
}

func (l reviewLoop) Commit(change *review.Commit) error {
	w := l.w
	return w.call(func() {
		c := &commit{ops: change.Ops}
		// These seqs are given out before something is put, so that the store knows them when the views are published.
		for _, v := range change.Views {
			if v.Diff != nil {
				w.seq++
				v.Diff.Rev = w.seq
			}
		}
		for _, diff := range change.Diffs {
			w.put(c, diff, nil)
		}
		for _, item := range change.Items {
			w.put(c, item, nil)
		}
		for _, call := range change.Calls {
			put := sessions.PutChanges{ItemID: call.ItemID, Changes: call.Changes, More: call.More, Open: call.Open}
			if put.Open {
				c.ops = append(c.ops, put)
				continue
			}
			w.seq++
			put.Seq = w.seq
			c.ops = append(c.ops, put)
			c.notes = append(c.notes, &Notification{Workspace: w.root, Kind: sessions.KindItem, ID: call.ItemID, Seq: w.seq, stored: true})
		}
		if change.Turn != nil {
			w.put(c, change.Turn, nil)
		}
		w.putViews(c, change)
		if change.Cut != nil {
			w.cutTurns(c, change.Cut)
		}
		change.Numbered()
		if change.Stored != nil {
			c.replies = append(c.replies, change.Stored)
		}
		w.submit(c)
	})
}

// putViews publishes to clients how they see the files that they hold unsaved; other clients get nothing. A diff that c
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

// viewed returns n as the subscription's client sees it.
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
		if err := l.w.d.store.Trouble(); err != nil { // its beginning was published before
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

// The methods below do nothing if the loop has ended.

func (l reviewLoop) ForgetClient(client api.ClientID) {
	_ = l.w.call(func() { delete(l.w.views, client) })
}

func (l reviewLoop) KeepRejections(decision uint64, rejections []decisionlog.Rejection) {
	_ = l.w.call(func() {
		var c commit
		for _, t := range rejections {
			if _, err := l.w.session(t.Session); err != nil && t.Session != "" {
				continue // it was deleted, and has no more prompts
			}
			l.w.remarks.Keep(&c.ops, decision, t)
		}
		l.w.submit(&c)
	})
}

func (l reviewLoop) KeepsRejections(decision uint64) (kept bool) {
	_ = l.w.call(func() { kept = l.w.remarks.KeepsOf(decision) })
	return kept
}

func (l reviewLoop) ForgetRejections(decision uint64) {
	_ = l.w.call(func() {
		var c commit
		l.w.remarks.DropOf(&c.ops, decision)
		if len(c.ops) > 0 {
			l.w.submit(&c)
		}
	})
}
