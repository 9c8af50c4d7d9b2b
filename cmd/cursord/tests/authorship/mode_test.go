//go:build unix

package authorship

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestAModeBesideAPersonsText has an agent change the mode of a file whose text an editor has loaded, typed or saved. The mode is the agent's,
// and the text stays the person's.
func TestAModeBesideAPersonsText(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent\n"})
	mine := "mine\n" + after
	for name, edits := range map[string]func(d *world.Document){
		"loaded":           func(d *world.Document) { d.Set(after) },
		"loaded and saved": func(d *world.Document) { d.Set(after); d.Save() },
		"typed":            func(d *world.Document) { d.Set(mine) },
		"typed and saved":  func(d *world.Document) { d.Set(mine); d.Save() },
		"saved, then told": func(d *world.Document) {
			d.E.World.Put("f", mine)
			d.Set(mine)
			d.Note("document/didSave", world.Obj{})
		},
		"saved, not yet told": func(d *world.Document) { d.Set(mine); d.E.World.Put("f", mine) },
		"saved, never told":   func(d *world.Document) { d.E.World.Put("f", mine) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			edit := world.Edits("1", "f", before, after)
			w.Plays(world.Lines(edit, []string{world.Waits("go")}, world.Shells("2", "chmod +x f"))...)
			w.Start()
			e := w.Opens()
			d := e.OpenDocument("f")
			turn := e.Asks(world.Obj{"prompt": "x"})
			e.Until("the edit", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == "f" })
			edits(d)
			saved := w.Get("f")
			e.Diffs() // the daemon has looked
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			require.Equal(t, "100755", e.Diffs()["f"].NewMode)
			d.Closes()
			e.Decides("diff/reject", world.Obj{"all": true})
			want := before
			if saved == mine {
				want = "mine\n" + before
			}
			require.Equal(t, want, w.Get("f"))
		})
	}
}

// TestACommandRightAfterAnEdit has the daemon hear of an edit, and of the command after it, when both are over.
func TestACommandRightAfterAnEdit(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n"})
	for name, command := range map[string]string{
		"a mode":                       "chmod +x f",
		"a text of the same size":      "sed -i s/20/02/ f",
		"a text of another size":       "sed -i s/20/twenty/ f",
		"a mode and a text":            "chmod +x f; sed -i s/20/02/ f",
		"a text that is then put back": "sed -i s/20/02/ f; sed -i s/02/20/ f; chmod +x f",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			edit := world.Edits("1", "f", before, after)
			w.Plays(world.Lines([]string{`{"fake":"write","path":"../begun","text":""}`, world.Waits("go")}, edit, world.Shells("2", command), []string{`{"fake":"write","path":"../done","text":""}`, world.Waits("end")})...)
			w.Start()
			e := w.Opens()
			turn := e.Asks(world.Obj{"prompt": "x"})
			w.Exists("../begun")
			require.NoError(t, w.Cmd.Process.Signal(syscall.SIGSTOP))
			w.Put("../go", "")
			w.Exists("../done")
			require.NoError(t, w.Cmd.Process.Signal(syscall.SIGCONT))
			w.Put("../end", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			e.Decides("diff/reject", world.Obj{"all": true})
			if diff := e.Diffs()["f"]; diff != nil { // what is left may be a person's
				var ids []string
				for _, h := range diff.Hunks {
					ids = append(ids, h.ID)
				}
				e.Decides("diff/reject", world.Obj{"hunks": ids})
			}
			require.Equal(t, before, w.Get("f"))
			info, err := os.Stat(w.Path("f"))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
		})
	}
}
