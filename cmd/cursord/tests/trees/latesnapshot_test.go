//go:build unix

package trees

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// slowGit starts a daemon whose git waits, before it answers some questions, while a file called hold exists beside the workspace: all
// questions, if what is "", else those with that argument. When it has listed files, it makes a file called listed there.
func slowGit(t *testing.T, w *world.World, what string) {
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	// A git that does not say its version is asked for it again before each question.
	w.Put("../bin/git", fmt.Sprintf(`#!/bin/sh
case "$*" in
*'%s'*) while [ -e %s ]; do sleep 0.01; done;;
esac
[ "$1" = --version ] && exit 1
%s "$@"
status=$?
case "$*" in
*ls-files*) >%s;;
esac
exit $status
`, what, w.Path("../hold"), git, w.Path("../listed")))
	require.NoError(t, os.Chmod(w.Path("../bin/git"), 0o755))
	w.Start("PATH=" + w.Path("../bin") + ":" + os.Getenv("PATH"))
}

// viaOf returns by which ways the hunks of a diff were made.
func viaOf(d *sessions.Diff) string {
	all := map[string]bool{}
	for _, h := range d.Hunks {
		for _, src := range h.Sources {
			all[string(src.Via)] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), " ")
}

// TestACommandBeginsBeforeTheSnapshot: a tree is so large that the first command begins before the daemon has looked at all files. What that
// command changes was lost for the review. It is listed as what may be a person's, unless its former content is known all the same. What
// changes later is listed like any other change.
func TestACommandBeginsBeforeTheSnapshot(t *testing.T) {
	t.Parallel()
	late := map[string]string{
		"in/changed": "modified known unknown", "in/deleted": "deleted known unknown", "in/run.sh": "modified known unknown",
		"in/unknown": "modified unknown unknown", "in/new": "modified unknown unknown",
	}
	looked := map[string]string{ // the files of git's index were looked at in time
		"in/changed": "modified known shell", "in/deleted": "deleted known shell", "in/run.sh": "modified known shell",
		"in/unknown": "modified unknown unknown", "in/new": "modified unknown unknown",
	}
	for name, c := range map[string]struct {
		waits string
		want  map[string]string
	}{"git does not answer": {"", late}, "git does not list": {"ls-files", looked}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.PutAll(world.Tree{"in/changed": world.Numbered(20, nil), "in/deleted": "deleted\n", "in/run.sh": "#!/bin/sh\n", "later": "later\n", "dirty": "dirty\n"})
			require.NoError(t, os.Chmod(w.Path("in/run.sh"), 0o755))
			w.Ages("in/changed", "in/deleted", "in/run.sh", "later", "dirty")
			w.Commits()
			w.PutAll(world.Tree{"dirty": "dirty\nmine\n", "in/unknown": "mine\n", "unknown later": "mine\n"})
			slowGit(t, w, c.waits)
			e := w.Opens()
			w.Put("../hold", "")
			w.Plays(world.Lines(
				world.Shells("1", "sed -i 's/line 3$/agent 3/' in/changed; rm in/deleted; echo agent >>in/run.sh; echo agent >>in/unknown; echo new >in/new; "+
					"rm -f ../listed ../hold; until [ -e ../listed ]; do sleep 0.01; done"),
				[]string{world.Waits("go")}, world.Shells("2", "for f in later dirty 'unknown later' 'new later'; do echo agent >>\"$f\"; done"))...)
			turn := e.Asks(world.Obj{"prompt": "x"})
			e.Until("the first command's change", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == "in/changed" })
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			require.Contains(t, e.Notices(turn.ID), "began before")

			want := maps.Clone(c.want)
			for _, path := range []string{"later", "dirty", "unknown later"} {
				want[path] = "modified known shell"
			}
			want["new later"] = "created known shell"
			found, maybe := map[string]string{}, 0
			for path, d := range e.Diffs() {
				if found[path] = fmt.Sprint(d.Kind, " ", d.Baseline, " ", viaOf(d)); strings.HasSuffix(found[path], "unknown") {
					maybe++
				}
			}
			require.Equal(t, want, found)
			require.Len(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped, maybe)
			require.Equal(t, "later\n", w.Get("later"))
			require.Equal(t, "dirty\nmine\n", w.Get("dirty"))
			require.Equal(t, "mine\n", w.Get("unknown later"))
			require.Equal(t, "(absent)", w.Get("new later"))
			require.Equal(t, "mine\nagent\n", w.Get("in/unknown"))
			for _, path := range []string{"in/changed", "in/deleted", "in/run.sh"} {
				if d := e.Diffs()[path]; d != nil {
					ids := make([]string, len(d.Hunks))
					for i, h := range d.Hunks {
						ids[i] = h.ID
					}
					require.Empty(t, e.Decides("diff/reject", world.Obj{"hunks": ids}).Skipped, path)
				}
			}
			require.Equal(t, world.Numbered(20, nil), w.Get("in/changed"))
			require.Equal(t, "deleted\n", w.Get("in/deleted"))
			require.Equal(t, "#!/bin/sh\n", w.Get("in/run.sh"))
			info, err := os.Stat(w.Path("in/run.sh"))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
		})
	}
}

// TestASaveBeforeALateSnapshot: a command ends before the daemon has looked at all files. What a person saves after that and before the look may
// hide what the command did. It is listed, no reject of all touches it, and a person's file from before the command stays unlisted.
func TestASaveBeforeALateSnapshot(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"f": "f\n", "g": "g\n", "h": "h\n"})
	w.Ages("f", "g", "h")
	w.Commits()
	slowGit(t, w, "")
	e := w.Opens()
	w.Put("../hold", "")
	w.Plays(world.Lines([]string{world.Waits("begin")}, world.Shells("1", "echo agent >>f; rm g"), []string{world.Piece("looked"), world.Waits("end")})...)
	turn := e.Asks(world.Obj{"prompt": "x"})
	w.Rests()
	w.Put("h", "h\nmine\n")
	w.Rests()
	w.Put("../begin", "")
	e.Until("the text", func(n world.Notification) bool { return n.Method == "item/delta" || n.Item != nil && n.Item.Text != "" })
	w.Put("f", "f\nagent\nmine\n")
	w.Put("g", "mine\n")
	require.NoError(t, os.Remove(w.Path("../hold")))
	w.Put("../end", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	found := e.Diffs()
	require.Equal(t, []string{"f", "g"}, slices.Sorted(maps.Keys(found)))
	require.Equal(t, "unknown unknown", viaOf(found["f"])+" "+viaOf(found["g"]))
	require.Len(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped, 2)
	require.Equal(t, "f\nagent\nmine\n", w.Get("f"))
	require.Equal(t, "mine\n", w.Get("g"))
	require.Equal(t, "h\nmine\n", w.Get("h"))
}

// TestALateSnapshotOfAnIsolatedTree: all that is in such a tree is the agent's, also what changed before the daemon had looked at all files.
func TestALateSnapshotOfAnIsolatedTree(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Overlays = kind == "overlay"
			w.PutAll(world.Tree{"f": "f\n", "g": "g\n", "h": "h\n"})
			w.Ages("f", "g", "h")
			w.Commits()
			w.Put("f", "f\nmine\n")
			slowGit(t, w, "config --list -z")
			e := w.Opens()
			s := e.Isolates()
			w.Plays(world.Lines(world.Shells("1", "echo first >>h"))...)
			e.Ok(s)
			w.Plays(world.Lines(world.Shells("1", "echo agent >>f; rm g; echo new >n; echo agent >>h; rm "+w.Path("../hold")))...)
			w.Put("../hold", "")
			e.Ok(s)
			found := e.Diffs()
			require.Equal(t, []string{"f", "g", "h", "n"}, slices.Sorted(maps.Keys(found)))
			for path, d := range found {
				require.Equal(t, "known shell", d.Baseline+" "+viaOf(d), path)
			}
			require.Empty(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
			require.Equal(t, "f\nmine\n", w.Copied(s, "f"))
			require.Equal(t, "g\n", w.Copied(s, "g"))
			require.Equal(t, "h\n", w.Copied(s, "h"))
			require.Equal(t, "(absent)", w.Copied(s, "n"))
		})
	}
}
