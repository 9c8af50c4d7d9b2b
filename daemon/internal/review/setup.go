package review

import (
	"context"
	"log/slog"

	"cursord/agent/hooks"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/callchanges"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/killed"
	"cursord/daemon/internal/savewatch"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/survivors"
	"cursord/daemon/internal/views"
	"cursord/daemon/internal/watch"
	"cursord/diffs"
	"cursord/sessions"
)

// A Setup is the surroundings of a Reviewer. It does not change while the Reviewer lives.
type Setup struct {
	Root      string // the workspace's folder, without links
	StateDir  string
	Log       *slog.Logger
	Store     *sessions.Store
	Loop      Loop
	Git       *askgit.Guard // opens the repositories of the work tree
	Claims    Claims
	Documents *documents.Set
	Hooks     *hooks.Finder
	Saves     *savewatch.Watch
	Survivors *survivors.Turns
	Killed    *killed.Turns // what the last daemon's turns left, and where this one's snapshots are
	Watching  watch.Limits
	Large     diffs.Limits
	Copy      copytree.Options                                  // for sessions' copies; the Reviewer sets Git
	Overlays  func(context.Context) error                       // returns why copies cannot be on overlays; nil: they can
	Settings  func() *config.Config                             // returns the present configuration
	Running   func() int                                        // returns the number of turns that run in the workspace
	Fault     func(atomicfile.Step) error                       // for tests, else nil
	Polls     func(why string)                                  // is called when folders cannot be watched
	Post      func(topic string, level slog.Level, text string) // shows people a message of the daemon
	Damaged   func(what string, err error)                      // is called for a damaged record
}

// A Loop is the part of a workspace's loop that a Reviewer uses: it numbers, stores and publishes. The Reviewer may wait for
// the loop; the loop never waits for the Reviewer. An error means that the loop has ended.
type Loop interface {
	// Guard calls f in the caller's goroutine. It logs a panic of f and reports whether there was one.
	Guard(f func()) (panicked bool)
	// Number returns a number that is unique in the workspace.
	Number() uint64
	// Commit numbers, stores and publishes the parts of c, in one transaction.
	Commit(c *Commit) error
	// Persist stores operations and returns when they are durable. Its error is the reason why they are not.
	Persist(ops ...sessions.Op) error
	// WhenStored has the loop call then when all earlier submits are on disk, or cannot be stored.
	WhenStored(then func())
	// ForgetClient drops the client's views of files.
	ForgetClient(client api.ClientID)
	// KeepRejections keeps a decision's rejections for the next prompts of their sessions; for any session's if that is "".
	KeepRejections(decision uint64, rejections []decisionlog.Rejection)
	// KeepsRejections reports whether rejections of a decision are kept.
	KeepsRejections(decision uint64) bool
	// ForgetRejections drops the rejections of a decision.
	ForgetRejections(decision uint64)
}

// A Commit is a set of changes that a Reviewer stores and publishes together.
type Commit struct {
	Ops      []sessions.Op
	Calls    []callchanges.Call // what calls have changed; each gets a seq, unless it is open
	Items    []*sessions.Item   // each gets a seq
	Turn     *sessions.Turn     // gets a seq after all of it; or nil
	Cut      *stored.Cut        // turns that leave a session's transcript; or nil
	Diffs    []*sessions.Diff   // each gets a seq, and a revision if it has none
	Views    []*views.View      // each gets a revision
	Numbered func()             // called when all have their numbers, before anything is published
	Stored   func(error)        // called once all is durable and before it is published; may be nil
}

// Claims decide which claims of repositories count. A claim names a program or a place.
type Claims interface {
	Close()       // marks the beginning of a turn: later claims do not count
	Look()        // looks for new claims
	Take() string // says once, for people, what does not count; "" if there is nothing new
}
