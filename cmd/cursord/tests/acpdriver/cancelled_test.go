//go:build linux

package acpdriver

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEditsOfATurnThatIsCutOff: an agent that never reports the end of its edits writes two files, and the turn ends while it goes on. What
// it has written is listed.
func TestEditsOfATurnThatIsCutOff(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(w *world.World, e *world.Editor, turn string) *world.Editor{
		"cancelled": func(w *world.World, e *world.Editor, turn string) *world.Editor {
			e.Must("turn/cancel", world.Obj{"turnId": turn}, nil)
			e.Ends(turn)
			return e
		},
		"the daemon stops": func(w *world.World, e *world.Editor, turn string) *world.Editor {
			w.CursordOK("stop", "--force")
			w.Start(newest)
			return w.Opens()
		},
		"the agent is killed": func(w *world.World, e *world.Editor, turn string) *world.Editor {
			for _, pid := range world.Processes(w.T, "CURSORD_SOCKET="+w.Socket(), "CURSORD_SESSION_ID=") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			e.Ends(turn)
			return e
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Put("old", "l1\nl2\nl3\n")
			w.Plays(`{"fake":"begin"}`, `{"fake":"say","text":"I begin. "}`, `{"fake":"sleep","ms":300}`, `{"fake":"edit","path":"f","text":"new\n"}`,
				`{"fake":"edit","path":"old","text":"l1\nAGENT\nl3\n"}`, `{"fake":"wait","path":"../never"}`, `{"fake":"finish"}`)
			turn := e.Asks(world.Obj{"driver": "acp"})
			w.Exists("f")
			require.True(t, world.Comes(world.Patience, func() bool { return w.Get("old") != "l1\nl2\nl3\n" }))
			e = ends(w, e, turn.ID)
			require.True(t, world.Comes(5*time.Second, func() bool { d := e.Diffs(); return d["f"] != nil && d["old"] != nil }), "listed: %v", e.Diffs())
			require.Equal(t, []string{"edit"}, world.Vias(e.Diffs()["old"]))
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"old": "l1\nl2\nl3\n"})
		})
	}
}
