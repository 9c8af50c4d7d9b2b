//go:build unix

package isolation

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A killing is a world whose daemon was killed while a call of an isolated session's agent was open.
type killing struct {
	*world.World
	e    *world.Editor
	s    *sessions.Session
	turn *sessions.Turn
}

// killedIn plays a test in which a daemon is killed after an agent has played lines. They end in an open call, the only one that is not settled.
func killedIn(t *testing.T, settled, open []string, test func(k *killing)) {
	bothKinds(t, func(t *testing.T) {
		k := &killing{World: newWorld(t)}
		k.PutAll(world.Tree{"f": "1\n", "g": "1\n", "gone": "gone\n", "mine": "mine\n"})
		k.Commits()
		waits := func(name string) []string { return []string{`{"fake":"wait","path":"` + k.Path("../"+name) + `"}`} }
		at := []string{`{"fake":"write","path":"` + k.Path("../at") + `","text":""}`}
		k.Plays(slices.Concat(settled, waits("settled"), open[:1], waits("begun"), []string{world.Started("read", world.ReadArgs), world.Completed("read", world.ReadDone)}, waits("looked"), open[1:], at, waits("never"))...)
		k.Start()
		k.e = k.Opens()
		k.s = k.e.Isolates()
		k.turn = k.e.Asks(world.Obj{"sessionId": k.s.ID})
		if settled != nil {
			changed(k.e, k.turn.ID, "1", 1)
		}
		k.Put("../settled", "")
		k.e.Until("the open call", func(n world.Notification) bool {
			return n.Item != nil && n.Item.Tool != nil && n.Item.Status == sessions.ItemRunning && (settled == nil || n.Item.Tool.CallID == "2")
		})
		k.Put("../begun", "")
		k.e.Until("a later call", func(n world.Notification) bool {
			return n.Item != nil && n.Item.Tool != nil && n.Item.Tool.CallID == "read" && n.Item.Status == sessions.ItemCompleted
		})
		k.Put("../looked", "") // by now the daemon has looked at the files before the call
		k.Exists("../at")
		k.Kill()
		<-k.e.Client.Done()
		k.Put("mine", "mine\nmore\n")
		k.Start()
		k.e = k.Joins()
		k.e.Must("workspace/subscribe", world.Obj{"workspace": k.Root, "after": 0}, nil)
		require.Equal(t, sessions.TurnInterrupted, k.e.Ends(k.turn.ID).Status)
		world.Audit(t, k.e.All())                                           // nothing of the turn comes after its end
		require.NotContains(t, k.e.Notices(k.turn.ID), "may not be listed") // that making a copy takes a while may be said
		test(k)
	})
}

// lists requires these files to be under review, as written by the killed turn.
func (k *killing) lists(via string, paths ...string) {
	k.T.Helper()
	found := k.e.Diffs()
	require.Equal(k.T, paths, world.Sorted(world.Keys(found)))
	for path, d := range found {
		require.Equal(k.T, []string{k.turn.ID}, d.Turns, path)
		for _, h := range d.Hunks {
			require.True(k.T, h.Isolated, path)
			require.Equal(k.T, via, string(h.Sources[len(h.Sources)-1].Via), path)
		}
	}
}

// TestKilledInACommandOfACopy: what a command had changed in a copy when the daemon was killed is under review at the next start. It is all the
// agent's, and at the command's call.
func TestKilledInACommandOfACopy(t *testing.T) {
	first, second := world.Edits("1", "f", "1\n", "1\n2\n"), world.Shells("2", "echo 3 >>f; echo 2 >>g; rm gone; mkdir d; echo new >d/new")
	killedIn(t, first, second[:2], func(k *killing) {
		k.lists("shell", "d/new", "f", "g", "gone")
		require.ElementsMatch(k.T, []string{"created d/new +1 -0", "modified f +1 -0", "modified g +1 -0", "deleted gone +0 -1"}, changed(k.e, k.turn.ID, "2", 4))
		k.RequireTree(world.Tree{"f": "1\n", "g": "1\n", "gone": "gone\n", "mine": "mine\nmore\n"})
		k.e.Decides("diff/reject", world.Obj{"path": "gone"})
		require.Equal(k.T, "gone\n", k.Copied(k.s, "gone"))
		k.e.Decides("diff/accept", world.Obj{"all": true})
		k.RequireTree(world.Tree{"f": "1\n2\n3\n", "g": "1\n2\n", "gone": "gone\n", "d/new": "new\n", "mine": "mine\nmore\n"})
		require.Empty(k.T, k.e.Diffs())

		// The session goes on.
		k.Plays(world.Lines(world.Shells("3", "echo 4 >>f"))...)
		k.e.Ok(k.s)
		require.Len(k.T, k.e.Diffs(), 1)
		require.Equal(k.T, "1\n2\n3\n4\n", k.Copied(k.s, "f"))
		require.Equal(k.T, "mine\nmore\n", k.Copied(k.s, "mine"))
	})
}

// TestKilledInAnEditOfACopy: what an open edit had written is under review.
func TestKilledInAnEditOfACopy(t *testing.T) {
	killedIn(t, nil, world.Edits("1", "f", "1\n", "1\n2\n")[:2], func(k *killing) {
		k.lists("edit", "f")
		require.Equal(k.T, []string{"modified f +1 -0"}, changed(k.e, k.turn.ID, "1", 1))
		k.e.Decides("diff/accept", world.Obj{"all": true})
		k.RequireTree(world.Tree{"f": "1\n2\n", "mine": "mine\nmore\n"})
	})
}
