// Package unsaved keeps the texts that clients hold unsaved of files under review: what is decided in them, and how they meet
// what agents write to the files beneath them.
//
// A [File] has the review that follows the disk, and a [Buffer] for each client that holds the file unsaved. A place that a person
// has changed in a buffer and an agent on disk is a [Conflict]. Package threeway merges the texts, and package decisionlog knows
// what was decided. This package writes nothing and stores nothing: its [Owner] does.
//
// # How a conflict lives
//
// It begins when the agent writes lines on disk that the person has changed in the buffer, or the other way round. The text keeps the
// person's lines, and the disk has the agent's, which are pending there. Nobody has lost anything, and each look finds the conflict anew
// from three texts: the buffer's, the disk's, and the one that both had in common. That one is stored (Apart), so that the conflict is
// still there when the next daemon starts, or when the editor's undo brings the text back.
//
// The person decides it in one of three ways. Mine: the text stays, and the agent's lines are rejected in the buffer. The agent's:
// these replace the person's in the text by edits, and are accepted on disk. Both: they follow the person's. While the text is unsaved,
// an undo of the decision, or the editor's own undo, opens the conflict again.
//
// A save ends it. A save over an open conflict is the choice of the person's lines: a reject, which is in the log like any other. From
// the save on, the decision is about a hunk with two sides. Its old side are the person's lines, not those from before both, and its
// new side are the agent's (finishAccepts, finishSteps, diffs.Review.PutBeneath). The lines of both sides have ids. So the undo and
// redo of the decision are the ordinary ones: an undo puts the agent's lines, pending, into the place of the person's, and a reject or
// a redo brings these back. After "both", where the person's lines stay, the hunk has only the agent's.
//
// A reject lasts as long as unsaved texts lack its lines. A text that has one of them again in its place has taken it back (regain): the
// editor has read the file, or its undo has gone further than one decision.
package unsaved

import (
	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/diffs"
	"cursord/sessions"
)

// A File is a file under review, with the texts that clients hold unsaved of it.
type File struct {
	Review   *diffs.Review // follows the disk; nil until it is needed
	Isolated bool          // it is in the copy of a session, and its baseline in the work tree
	Owner    Owner
	Buffers  map[api.ClientID]*Buffer // of clients that hold it unsaved
	Apart    *Apart                   // nil: no unsaved text has had conflicts since a save, or since something became pending
	Unstored bool                     // Apart, or the path, has changed since the file was last stored
}

// An Owner has a file under review, and the log of decisions.
type Owner interface {
	// Diff returns the diff of a review of the file, in the form for clients.
	Diff(review *diffs.Review) *sessions.Diff
	// HunkID returns the name that a hunk has for clients.
	HunkID(id uint64) string
	// Viewed notes that clients with a buffer may see the file differently now.
	Viewed()
	// Refused returns the answer for clients to an error of the file's review.
	Refused(err error) error
	// Conflict returns an error about the file for a client; message follows the path.
	Conflict(client api.ClientID, message, hint string) error
	// RealPath returns the path of the file in the work tree.
	RealPath() string
	// Steps is Path of decisionlog.Log, for the file.
	Steps(sum string, undo bool) []decisionlog.Step
	// Rejects is Rejects of decisionlog.Log, for the file.
	Rejects() []decisionlog.Step
	// SetUndone marks a decision in the log, for the file, as undone or as made again.
	SetUndone(n uint64, undone bool)
	// FinishConflicts is FinishConflicts of decisionlog.Log, for the file; it stores the changes.
	FinishConflicts(finish func(n uint64, part *decisionlog.File) bool)
	// Forget removes the file from a decision that was made only in a buffer.
	Forget(n uint64)
}

// Real returns the content that a file has in the work tree, according to its review.
func (f *File) Real() diffs.Content { return f.RealOf(f.Review) }

// RealOf is Real for another review of the file.
func (f *File) RealOf(review *diffs.Review) diffs.Content {
	if f.Isolated {
		return review.Baseline()
	}
	return review.Current()
}

// observe takes a person's present content of the file, from the work tree or an editor, into a review.
func (f *File) observe(review *diffs.Review, now diffs.Content) {
	if f.Isolated {
		review.ObserveBaseline(now)
	} else {
		review.Observe(now, nil)
	}
}

// WritesReal reports whether a decision writes the work tree: an accept of a file in a copy, or a reject of another file.
func (f *File) WritesReal(accept bool) bool { return accept == f.Isolated }

// HunksFor lists the hunks of text that a client sees of a file.
func (f *File) HunksFor(b *Buffer) (ids []uint64) {
	review := f.Review
	if b != nil && b.Review != nil {
		review = f.Seen(b.Doc.Client)
		for _, c := range b.Conflicts {
			ids = append(ids, c.IDs[0])
		}
	}
	for _, h := range review.Hunks() {
		if h.Kind == diffs.TextHunk && b.Conflict(h.ID) == nil {
			ids = append(ids, h.ID)
		}
	}
	return ids
}
