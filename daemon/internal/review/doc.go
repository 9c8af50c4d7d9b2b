// Package review keeps what is under review in a workspace: which changes of files are an agent's and not decided yet, and
// what decisions do to the files.
//
// A [Reviewer] has a goroutine that owns the reviews and the log of decisions, and is the only writer of the work tree. It
// works beside the workspace's loop, of which it knows what [Loop] says: the loop numbers, stores and publishes what the
// Reviewer commits, and never waits for it. A [Turn] sees a turn's events before the loop does, in the turn's own goroutine, and
// reads the files that tool calls name while that is worth something. Package documents has what editors hold unsaved.
//
// What a Reviewer promises:
//
//   - No decision takes away what a person wrote, and none writes over a content that it has not seen.
//   - A published diff is durable before, with the review that it belongs to.
//   - A decision is carried out in all of its files that could be decided, or, after a crash, finished or forgotten as a whole.
//   - Whose a change is, package attribution decides; a Reviewer finds the evidence: looks at files, reports of calls, saves,
//     editors' documents, and git's commits.
package review
