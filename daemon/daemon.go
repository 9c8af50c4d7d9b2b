package daemon

import (
	"context"

	"cursord/sessions"
)

// Every root argument below may be any path or file:// URI of a workspace. Methods block until they have the answer,
// which is quick, unless they take a reply function. A reply is called exactly once, from a loop, and must not block;
// what it enqueues is before any notification that the request causes.

// A Daemon owns every session, turn and pending review of a user. It knows no JSON-RPC and no editor.
type Daemon struct{}

// A Subscription feeds a Sink with one workspace's notifications.
type Subscription struct{}

// Subscribe makes sink a subscriber of a workspace. reply comes first; then what changed since o.After, then live
// notifications.
func (d *Daemon) Subscribe(root string, o SubscribeOptions, sink Sink, reply func(Subscribed, error)) *Subscription {
	panic("unwritten")
}

// Behind reports whether the subscription waits for Resume.
func (s *Subscription) Behind() bool { panic("unwritten") }

// Resume goes on with a subscription that is behind, from the newest state of each object; the sink's owner calls it
// when there is room again. On one that is not behind it does nothing.
func (s *Subscription) Resume() { panic("unwritten") }

// Close ends the subscription; the sink gets nothing after Close has returned.
func (s *Subscription) Close() { panic("unwritten") }

func (d *Daemon) Workspaces() ([]WorkspaceInfo, error)            { panic("unwritten") }
func (d *Daemon) Trust(root string, trusted bool) (string, error) { panic("unwritten") }
func (d *Daemon) CreateSession(root string, p SessionParams) (*sessions.Session, error) {
	panic("unwritten")
}
func (d *Daemon) ListSessions(root string, limit int, cursor string) ([]*sessions.Session, string, error) {
	panic("unwritten")
}
func (d *Daemon) ReadSession(id, before string, limit int) (Transcript, error) { panic("unwritten") }
func (d *Daemon) UpdateSession(id string, p SessionParams) (*sessions.Session, error) {
	panic("unwritten")
}
func (d *Daemon) DeleteSession(id string) error              { panic("unwritten") }
func (d *Daemon) ReadItem(id string) (*sessions.Item, error) { panic("unwritten") }

// StartTurn stores a turn and answers; the turn's notifications follow.
func (d *Daemon) StartTurn(p TurnParams, reply func(*sessions.Session, *sessions.Turn, error)) {
	panic("unwritten")
}

// WaitTurn replies once the turn has ended, after its last notification; cancelling ctx replies KindCancelled.
func (d *Daemon) WaitTurn(ctx context.Context, id string, reply func(*sessions.Turn, error)) {
	panic("unwritten")
}
func (d *Daemon) CancelTurn(id string) (*sessions.Turn, error)            { panic("unwritten") }
func (d *Daemon) Diffs(root, path, turn string) ([]*sessions.Diff, error) { panic("unwritten") }
func (d *Daemon) Unified(root, path, turn string) (string, error)         { panic("unwritten") }
func (d *Daemon) Decide(ctx context.Context, root string, dec Decision) (Decided, error) {
	panic("unwritten")
}
func (d *Daemon) Undo(ctx context.Context, root string) (Decided, error) { panic("unwritten") }
func (d *Daemon) Redo(ctx context.Context, root string) (Decided, error) { panic("unwritten") }
func (d *Daemon) Comment(root, hunk, text string) error                  { panic("unwritten") }
func (d *Daemon) AgentStatus(ctx context.Context) (AgentStatus, error)   { panic("unwritten") }

// AgentState is what initialize says of the agent: the last known state, without running anything.
func (d *Daemon) AgentState() AgentStatus                          { panic("unwritten") }
func (d *Daemon) AgentModels(ctx context.Context) ([]Model, error) { panic("unwritten") }
func (d *Daemon) Status() Status                                   { panic("unwritten") }

// ClientJoined counts a connection in Status and keeps the daemon from idling out; call left when it ends.
func (d *Daemon) ClientJoined() (left func()) { panic("unwritten") }

// Stop asks the daemon to end: KindBusy while turns run, unless forced. It returns at once; Done tells the end.
func (d *Daemon) Stop(force bool) error { panic("unwritten") }
func (d *Daemon) Done() <-chan struct{} { panic("unwritten") }
