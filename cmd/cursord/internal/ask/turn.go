// Package ask starts a turn and follows it to its end. It asks for trust if asked to, says what a queued turn waits for,
// cancels the turn at a signal, and gives up on a daemon that cannot write its database. A view.Follower shows the turn.
package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// A Turn is one turn of "cursord run".
type Turn struct {
	Params rpc.TurnStartParams // they have a TurnID
	Trust  bool                // trust the folders that the turn needs, but for those that are naming.Wide
	Home   string              // the home folder
	In     io.Reader           // with Out, tells where the person is who may answer what the agent asks: approve.Streams
	Out    io.Writer           // nothing is written to it
	ErrOut io.Writer           // gets what the agent asks, the reason of a wait, and the way back to a turn that Run leaves to the daemon

	TookBack func(api.Rewound) // told what the turn's start has taken back; nil without Params.Rewind

	Begun bool // set by Run: the daemon has not refused the turn
}

// A CancelledError says that the turn was cancelled. Cause is the reason why Run did not wait for its end, or nil.
type CancelledError struct{ Cause error }

func (e CancelledError) Error() string { return "the turn was cancelled" }

func (e CancelledError) Unwrap() error { return e.Cause }

// together is the time after the first signal in which others count as the same one: timeout(1) signals its child, and then the
// group that the child is in.
const together = time.Second

// Run starts the turn, shows it by f, whose Notify must be the client's, and returns it when it has ended. The first signal cancels
// the turn. A second one, not together with the first, leaves the turn to the daemon, and so does a first one that says that nobody watches any
// more (term.IsHangup); the error is then a term.SignalError. If the daemon cannot write its database, Run gives up after a while (stall).
func (r *Turn) Run(ctx context.Context, client *rpc.Client, f *view.Follower, signals <-chan os.Signal) (*sessions.Turn, error) {
	defer f.End()
	asker := approve.NewAsker(client, approve.Streams{In: r.In, Out: r.Out, ErrOut: r.ErrOut}, f.Say)
	asker.Shown = func(a *sessions.Approval) bool { return f.Shows(r.ErrOut, a) }
	if r.ErrOut != nil {
		f.Asked = asker.Changed
	}
	if err := r.prepare(ctx, client, f); err != nil {
		return nil, err
	}
	if r.ErrOut != nil {
		asking, stop := context.WithCancel(ctx)
		defer stop()
		go asker.Run(asking)
	}
	started := make(chan error, 1)
	r.Begun = true
	go func() {
		_, err := r.start(ctx, client)
		started <- err
	}()
	cancelled := make(chan error, 1)
	isStarted, interrupted, queued := false, false, false
	var first time.Time // when it was interrupted
	cancel := func() { cancelled <- client.Call(ctx, "turn/cancel", rpc.TurnParams{TurnID: r.Params.TurnID}, nil) }
	stall, ticks := newStall(client, f), time.NewTicker(stallTick)
	defer ticks.Stop()
	looks := time.NewTicker(view.TickTime)
	defer looks.Stop()
	for {
		select {
		case turn := <-f.Ended:
			if r.TookBack != nil && !isStarted { // a short turn may end before its start is answered
				select {
				case <-started:
				case <-ctx.Done():
				}
			}
			return turn, nil
		case now := <-looks.C:
			f.Tick(now)
		case <-ticks.C:
			stall.tick(ctx)
			if isStarted && !queued && f.Queued() {
				queued = true
				go r.tellQueued(ctx, client, f)
			}
		case trouble := <-stall.asked:
			switch err := stall.answered(trouble); {
			case err == nil:
			case !interrupted:
				return nil, err
			default:
				return nil, CancelledError{err}
			}
		case err := <-started:
			if err != nil {
				r.Begun = !errors.As(err, new(*rpc.Error))
				return nil, r.Explain(err)
			}
			isStarted = true
			if interrupted {
				go cancel()
			}
		case err := <-cancelled:
			if err != nil {
				return nil, err
			}
			stall.grace = true
		case sig := <-signals:
			switch {
			case term.IsHangup(sig), interrupted && time.Since(first) > together:
				f.End()
				r.leave(f.Session())
				return nil, term.SignalError{Signal: sig}
			case interrupted:
				continue
			}
			f.Cancel()
			interrupted, first = true, time.Now()
			if isStarted {
				go cancel()
			}
		case <-client.Done():
			select {
			case turn := <-f.Ended: // its end has come meanwhile
				return turn, nil
			default:
				return nil, daemonGone(f.Session())
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// daemonGone returns the error for a turn whose daemon has ended. session is "" if it is unknown.
func daemonGone(session string) error {
	hint := `"cursord sessions" shows what is kept of it`
	if session != "" {
		hint = fmt.Sprintf("\"cursord show %[1]s\" shows what is kept of it; go on with: cursord run --session %[1]s …", session)
	}
	return &rpc.Error{Message: "the daemon has ended, and the turn with it", Data: rpc.ErrorData{Hint: hint}}
}

// leave says how to get back to a turn that goes on without the command. session is "" if it is unknown.
func (r *Turn) leave(session string) {
	see := "cursord sessions"
	if session != "" {
		see = "cursord show " + session
	}
	term.PrintFolded(r.ErrOut, fmt.Sprintf("cursord: the turn is left to the daemon, and may go on: \"%s\" shows it, and this ends it:\n"+
		"  cursord cancel %s\n", see, term.ShellWord(r.Params.TurnID)))
}

// Begin starts the turn, leaves it to the daemon, and returns its present state.
func (r *Turn) Begin(ctx context.Context, client *rpc.Client) (*sessions.Turn, error) {
	r.Begun = true
	started, err := r.start(ctx, client)
	if err != nil {
		r.Begun = !errors.As(err, new(*rpc.Error))
		return nil, r.Explain(err)
	}
	return started.Turn, nil
}

// prepare subscribes to the workspace.
func (r *Turn) prepare(ctx context.Context, client *rpc.Client, f *view.Follower) error {
	known, err := client.WorkspaceList(ctx)
	if err != nil {
		return err
	}
	var now uint64 // of a workspace that is not known, "everything" is nothing
	for _, w := range known.Workspaces {
		if w.Workspace == r.Params.Workspace {
			now = w.Seq
		}
	}
	subscribe := rpc.SubscribeParams{Workspace: r.Params.Workspace, After: &now}
	if f.Lines == nil {
		subscribe.Diffs = "summary"
	}
	return client.Call(ctx, "workspace/subscribe", subscribe, nil)
}

// Result returns the error with which a command ends after a turn: nil, a CancelledError, or the turn's failure.
func Result(t *sessions.Turn) error {
	switch t.Status {
	case sessions.TurnCompleted:
		return nil
	case sessions.TurnCancelled:
		return CancelledError{}
	case sessions.TurnInterrupted:
		message, hint := view.Interruption(t)
		return &rpc.Error{Message: message, Data: rpc.ErrorData{Hint: hint}}
	}
	if t.Error == nil {
		return errors.New("the turn failed")
	}
	return &rpc.Error{Message: term.Clean(t.Error.Message), Data: rpc.ErrorData{Hint: term.Clean(t.Error.Hint)}}
}
