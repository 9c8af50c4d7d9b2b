package review

import (
	"log/slog"

	"cursord/agent/hooks"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/savewatch"
	"cursord/daemon/internal/survivors"
	"cursord/daemon/internal/watch"
	"cursord/diffs"
	"cursord/sessions"
)

// A Setup is what a Reviewer works with. Nothing in it changes while the Reviewer lives.
type Setup struct {
	Root      string // of the workspace, without links
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
	Watching  watch.Limits
	Large     diffs.Limits
	Copy      copytree.Options                                  // of a session's copy; Git is set by the Reviewer
	Settings  func() *config.Config                             // as they are now
	Running   func() int                                        // turns of the workspace that run
	Fault     func(atomicfile.Step) error                       // for tests; or nil
	Polls     func(why string)                                  // hears that folders cannot be watched
	Post      func(topic string, level slog.Level, text string) // tells people something of the daemon
	Damaged   func(what string, err error)                      // hears of a record that is damaged
}

// A Loop is what a Reviewer needs of its workspace's loop, which numbers, stores and publishes. The Reviewer may wait for the
// loop, and the loop never for the Reviewer. An error says that the loop has ended.
type Loop interface {
	// Guard runs f in the caller's goroutine. It contains a panic, which it logs, and reports whether there was one.
	Guard(f func()) (panicked bool)
	// Number gives out a number that nothing else in the workspace has.
	Number() uint64
	// Commit numbers, stores and publishes what c says, in one transaction.
	Commit(c *Commit) error
	// Persist stores operations and returns when they are durable, or why they are not yet.
	Persist(ops ...sessions.Op) error
	// WhenStored has then called, by the loop, once all that was submitted before is on disk or cannot be.
	WhenStored(then func())
	// ForgetClient drops how a client saw files.
	ForgetClient(client api.ClientID)
	// Remark keeps a person's words for the next prompt of a session, or of any if session is "".
	Remark(session, text string)
	// KeepRejections keeps what a decision rejected for the next prompts of the sessions that it is about.
	KeepRejections(decision uint64, rejections []decisionlog.Rejection)
	// KeepsRejections reports whether something is kept of a decision.
	KeepsRejections(decision uint64) bool
	// ForgetRejections drops what is kept of a decision.
	ForgetRejections(decision uint64)
}

// A Commit is what a Reviewer has stored and published.
type Commit struct {
	Ops      []sessions.Op
	Diffs    []*sessions.Diff // get a seq, and a revision if they have none
	Views    []*View          // get a revision each
	Numbered func()           // called when they have, before anything is published
	Stored   func(error)      // called once all is durable and before it is published; may be nil
}

// Claims decide which programs and places that repositories name count.
type Claims interface {
	Close()       // a turn begins: what is claimed from now on does not count
	Look()        // has what is claimed by now noticed
	Take() string // says once, for people, what does not count; "" if there is nothing new
}
