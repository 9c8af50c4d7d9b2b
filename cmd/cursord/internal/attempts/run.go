// Package attempts is "cursord run --attempts" and "cursord attempts": the same prompt in several isolated sessions side by side, what
// came of each, and the end of those that are not wanted.
package attempts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/ask"
	"cursord/cmd/cursord/internal/run"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// Most is the largest number of attempts.
const Most = 16

// CheckNumber returns an error for a number of attempts that is none.
func CheckNumber(n int) error {
	if n < 1 || n > Most {
		return fmt.Errorf("--attempts is %d; it must be a number from 1 to %d", n, Most)
	}
	return nil
}

// A Run begins attempts at a prompt and follows them to their ends, and to those of their checks.
type Run struct {
	Turn       *ask.Turn // what each attempt is to be asked
	Of         int
	Format     run.Format
	Quiet      bool
	Background bool // print the ids of the turns, and do not wait
	Out        io.Writer
	ErrOut     io.Writer

	progress *progress
	news     chan note
	stopped  chan struct{} // closed when nobody reads news any more
}

// A note is what a Run needs of a notification.
type note struct {
	Session  *sessions.Session  `json:"session"`
	Turn     *sessions.Turn     `json:"turn"`
	Item     *sessions.Item     `json:"item"`
	Approval *sessions.Approval `json:"approval"`

	method string
	params json.RawMessage
}

// Notify takes the notifications of the client that Do gets. A slow terminal slows only this client's connection.
func (r *Run) Notify(method string, params json.RawMessage) {
	n := note{method: method, params: slices.Clone(params)}
	if method == "item/delta" && r.Format != run.Stream || json.Unmarshal(params, &n) != nil {
		return
	}
	select {
	case r.news <- n:
	case <-r.stopped:
	}
}

// Prepare makes r ready for Notify.
func (r *Run) Prepare() { r.news, r.stopped = make(chan note, 64), make(chan struct{}) }

// Do begins the attempts and waits for their ends. The first signal cancels what runs; a second one, a moment later, leaves it to the daemon.
// Its error is nil if an attempt has completed.
func (r *Run) Do(ctx context.Context, client *rpc.Client, signals <-chan os.Signal) error {
	defer close(r.stopped)
	root := r.Turn.Params.Workspace
	if !r.Background {
		if err := r.subscribe(ctx, client, root); err != nil {
			return err
		}
	}
	group, begun, err := r.begin(ctx, client)
	if err != nil {
		return err
	}
	if r.Background {
		return r.printBegun(group, begun)
	}
	errOut := r.ErrOut
	if r.Quiet || r.Format != run.Text {
		errOut = io.Discard
	}
	r.progress = newProgress(errOut, begun)
	defer r.progress.end()
	asker := approve.NewAsker(client, approve.Streams{In: r.Turn.In, Out: r.Turn.Out, ErrOut: r.ErrOut}, r.progress.say)
	asker.Who = r.progress.asks
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go asker.Run(asking)
	cancelled, err := r.follow(ctx, client, asker, signals)
	if err != nil {
		return err
	}
	r.progress.end()
	list, err := client.AttemptList(ctx, rpc.AttemptListParams{Workspace: root, Group: group})
	if err != nil {
		return err
	}
	if len(list.Groups) == 0 {
		return &rpc.Error{Message: "the attempts were dropped meanwhile"}
	}
	switch r.Format {
	case run.Text:
		Print(r.Out, list.Groups[0], time.Now())
		if !r.Quiet {
			sayNext(r.ErrOut, list.Groups[0])
		}
	case run.JSON:
		if err := term.PrintJSON(r.Out, list.Groups[0]); err != nil {
			return err
		}
	}
	return r.result(begun, cancelled)
}

// begin starts the attempts. If one is refused, the error is that, and those before it are ended and deleted.
func (r *Run) begin(ctx context.Context, client *rpc.Client) (group string, begun []*sessions.Turn, err error) {
	group = ulid.Make().String()
	for n := 1; n <= r.Of; n++ {
		t := *r.Turn
		t.Params.TurnID, t.Params.Attempt = ulid.Make().String(), &sessions.Attempt{Group: group, Number: n, Of: r.Of}
		turn, err := t.Begin(ctx, client)
		if err != nil {
			if len(begun) > 0 {
				_, _ = client.AttemptDrop(ctx, rpc.AttemptDropParams{Workspace: r.Turn.Params.Workspace, Group: group})
			}
			return "", nil, err
		}
		r.Turn.Begun = true
		begun = append(begun, turn)
	}
	return group, begun, nil
}

func (r *Run) subscribe(ctx context.Context, client *rpc.Client, root string) error {
	known, err := client.WorkspaceList(ctx)
	if err != nil {
		return err
	}
	var now uint64
	for _, w := range known.Workspaces {
		if w.Workspace == root {
			now = w.Seq
		}
	}
	return client.Call(ctx, "workspace/subscribe", rpc.SubscribeParams{Workspace: root, After: &now, Diffs: "summary"}, nil)
}

func (r *Run) printBegun(group string, begun []*sessions.Turn) error {
	if r.Format == run.Text {
		for _, t := range begun {
			fmt.Fprintln(r.Out, term.Clean(t.ID))
		}
		return nil
	}
	type one struct {
		Session string `json:"session"`
		Turn    string `json:"turn"`
	}
	list := make([]one, len(begun))
	for i, t := range begun {
		list[i] = one{t.SessionID, t.ID}
	}
	return term.PrintJSON(r.Out, struct {
		Group    string `json:"group"`
		Attempts []one  `json:"attempts"`
	}{group, list})
}

// together is as in package ask: signals within this time of the first count as the same one.
const together = time.Second

// follow shows the attempts until they and their checks have ended. It reports whether a signal has cancelled them.
func (r *Run) follow(ctx context.Context, client *rpc.Client, asker *approve.Asker, signals <-chan os.Signal) (cancelled bool, err error) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	var first time.Time
	for !r.progress.over() {
		select {
		case n := <-r.news:
			if !r.progress.update(n) {
				continue
			}
			if n.Approval != nil {
				asker.Changed(n.Approval)
			}
			if r.Format == run.Stream {
				fmt.Fprintf(term.PlainWriter{W: r.Out}, "{\"method\":%q,\"params\":%s}\n", n.method, n.params)
			}
		case <-ticks.C:
			r.progress.draw()
		case sig := <-signals:
			switch {
			case term.IsHangup(sig), cancelled && time.Since(first) > together:
				r.progress.end()
				term.PrintFolded(r.ErrOut, "cursord: the attempts are left to the daemon, and may go on: \"cursord attempts\" shows them, and \"cursord attempts --drop\" ends them\n")
				return true, term.SignalError{Signal: sig}
			case !cancelled:
				cancelled, first = true, time.Now()
			}
			for _, id := range r.progress.active() {
				go func() { _ = client.Call(ctx, "turn/cancel", rpc.TurnParams{TurnID: id}, nil) }()
			}
		case <-client.Done():
			return cancelled, &rpc.Error{
				Message: "the daemon has ended, and the attempts with it",
				Data:    rpc.ErrorData{Hint: `"cursord attempts" shows what is kept of them`},
			}
		case <-ctx.Done():
			return cancelled, ctx.Err()
		}
	}
	return cancelled, nil
}

// result returns the error with which the command ends.
func (r *Run) result(begun []*sessions.Turn, cancelled bool) error {
	if cancelled {
		return ask.CancelledError{}
	}
	var failed error
	for _, t := range begun {
		err := ask.Result(r.progress.turn(t.ID))
		if err == nil {
			return nil
		}
		failed = err
	}
	if len(begun) > 1 {
		e := (*rpc.Error)(nil)
		if errors.As(failed, &e) {
			return &rpc.Error{Message: "no attempt has completed; the last one: " + e.Message, Data: rpc.ErrorData{Kind: e.Data.Kind, Hint: e.Data.Hint}}
		}
	}
	return failed
}
