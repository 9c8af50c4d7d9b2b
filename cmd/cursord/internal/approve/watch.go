package approve

import (
	"context"
	"encoding/json"
	"io"
	"sync/atomic"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

// A Watch asks a person what the agent of a turn asks, while a command waits for the turn's end.
type Watch struct {
	turn  atomic.Pointer[string]
	asker *Asker
}

// NewWatch returns a Watch on the streams of a command. Notify must be given to the client with which Begin is called.
func NewWatch(streams Streams) *Watch {
	w := &Watch{asker: NewAsker(nil, streams, func(w io.Writer, lines ...string) {
		for _, line := range lines {
			term.PrintFolded(w, line+"\n")
		}
	})}
	w.asker.CtrlC = "Ctrl-C ends the wait, not the turn."
	return w
}

// Notify takes the client's notifications.
func (w *Watch) Notify(method string, params json.RawMessage) {
	turn := w.turn.Load()
	if turn == nil || method != "approval/changed" {
		return
	}
	var n rpc.ApprovalChanged
	if json.Unmarshal(params, &n) == nil && n.Approval != nil && n.Approval.TurnID == *turn {
		w.asker.Changed(n.Approval)
	}
}

// Begin begins to ask, until ctx ends. A turn that has ended asks nothing.
func (w *Watch) Begin(ctx context.Context, client *rpc.Client, turn string) error {
	const rarely = 60_000 // ms between pieces of text, which nobody reads here
	active, err := client.TurnList(ctx, rpc.TurnListParams{Active: true, Limit: 1000})
	if err != nil {
		return err
	}
	for _, t := range active.Turns {
		if t.ID == turn {
			w.asker.Client = client
			w.turn.Store(&turn)
			go w.asker.Run(ctx)
			return client.Call(ctx, "workspace/subscribe", rpc.SubscribeParams{Workspace: t.Workspace, DeltaInterval: rarely, Diffs: "summary"}, nil)
		}
	}
	return nil
}
