// Package review keeps what is under review in a workspace: which changes of files are an agent's and not decided yet, and
// what decisions do to the files.
//
// A [Reviewer] has a goroutine that owns the reviews and the log of decisions, and is the only writer of the work tree. It
// works beside the workspace's loop, of which it knows what [Loop] says: the loop numbers, stores and publishes what the
// Reviewer commits, and never waits for it. A [Turn] sees a turn's events before the loop does, in the turn's own goroutine:
// its Observer (package toolcalls) reads the files that tool calls name while that is worth something. Package documents has what editors
// hold unsaved.
//
// What a Reviewer promises:
//
//   - No decision takes away what a person wrote, and none writes over a content that it has not seen.
//   - A diff is durable, with the review that it belongs to, before it is published.
//   - A decision is carried out in all of its files that could be decided, or, after a crash, finished or forgotten as a whole.
//   - Package attribution decides whose a change is. A Reviewer finds the evidence: looks at files, reports of calls, saves,
//     editors' documents, and git's commits.
//
// A worktree is where the present side of files under review is: the work tree itself, or the copy of an isolated session
// (package worktree; worktree.go, copies.go). For a file in a copy, both sides are on the disk: the copy has the present text, the work tree the
// baseline. A difference in the copy is its agent's. A difference in the work tree is a person's (Review.ObserveBaseline) and
// is written to the copy. The review depends on what the work tree holds, and not on the way there: it keeps what it was before
// (diffs.Former). An accept writes the work tree, a reject the copy, both by the same change. Clients see one merged
// diff per path (mergediff.go). A diff's rev comes from the workspace's seq, one for each state, also for a client with an
// unsaved text (view.go): no two states share one. A turn makes or refreshes its copy before the agent starts. Paths are
// translated between the agent and the loop (internal/translate). copies.Collector removes copies.
//
// Before the first write of a request, its intent is durable: each file's content before and after, its review, and the
// decision (intent.go). The transaction that drops the intent stores the result. A start that finds an intent (resume.go)
// finishes the files that were written or half written in place, drops those that were not begun, and takes anything else for a
// person's. An undo or redo of several files is finished in all of them. This happens at the start, beside serving. If somebody
// has changed a half-written file since, it counts as decided, with the difference a person's: people are told, and undo brings
// back what it held. If the intent or its result cannot be stored, nothing is written. Each write is a named step
// (atomicfile.Step), and the crash tests kill the daemon, and fail the write, at each.
package review
