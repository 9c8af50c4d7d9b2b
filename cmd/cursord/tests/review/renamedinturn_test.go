//go:build unix

package review

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// renaming plays a turn in which the agent edits d/a, a person does something, and the agent goes on. With accepted, what the agent had done by
// then is accepted.
func renaming(t *testing.T, first []string, accepted bool, person string, more []string) (*world.World, *world.Editor, *sessions.Turn) {
	t.Helper()
	w := world.New(t)
	w.PutAll(world.Tree{"d/a": sixLines, "e/other": "other\n"})
	w.Rests()
	w.Start()
	e := w.Opens()
	pause := []string{`{"fake":"sleep","ms":50}`}
	w.Plays(world.Lines(first, pause, []string{world.Execs("touch ../here"), world.Waits("go")}, more)...)
	turn := e.Asks(nil)
	w.Exists("../here")
	if accepted {
		e.Decides("diff/accept", world.Obj{"all": true})
	}
	w.Makes(person)
	e.Diffs()
	w.Put("../go", "")
	return w, e, e.Ends(turn.ID)
}

const (
	sixLines  = "mine one of six\nmine two of six\nmine three of six\nmine four of six\nmine five of six\nmine six of six\n"
	agentOnce = "mine one of six\nthe agent's first\nmine two of six\nmine three of six\nmine four of six\nmine five of six\nmine six of six\n"
	agentMore = agentOnce + "the agent's second\n"
)

// TestAFileThatAPersonRenamesInATurn: a person renames a file between two changes that an agent makes in it. A rewind left the agent's lines in
// the new file, or removed the file with the person's lines.
func TestAFileThatAPersonRenamesInATurn(t *testing.T) {
	t.Parallel()
	edits, sed := world.Edits("c1", "d/a", sixLines, agentOnce), world.Shells("c1", "sed -i \"1a the agent's first\" d/a")
	for name, c := range map[string]struct {
		first, more []string
		person      string
		accepted    bool
		at          string // where the file is without the agent's lines
	}{
		"an edit":                   {first: edits, person: "mv d/a d/b", more: world.Edits("c2", "d/b", agentOnce, agentMore), at: "d/b"},
		"an edit in another folder": {first: edits, person: "mv d/a e/b", more: world.Edits("c2", "e/b", agentOnce, agentMore), at: "e/b"},
		"an edit of what was accepted": {
			first: edits, accepted: true, person: "mv d/a e/b", more: world.Edits("c2", "e/b", agentOnce, agentMore), at: "e/b",
		},
		"after a command":       {first: sed, person: "mkdir n; mv d/a n/b", more: world.Edits("c2", "n/b", agentOnce, agentMore), at: "n/b"},
		"its folder":            {first: edits, person: "mv d g", more: world.Edits("c2", "g/a", agentOnce, agentMore), at: "g/a"},
		"nothing":               {first: edits, person: "mv d/a e/b", at: "e/b"},
		"nothing, accepted":     {first: sed, accepted: true, person: "mv d/a e/b", at: "e/b"},
		"and changes it":        {first: sed, accepted: true, person: "mv d/a e/b; echo mine >>e/b", at: "e/b"},
		"a move":                {first: edits, person: "mv d/a e/b", more: world.Shells("c2", "mv e/b moved")},
		"a move, accepted":      {first: sed, accepted: true, person: "mv d/a e/b", more: world.Shells("c2", "mv e/b moved")},
		"a move and an edit":    {first: sed, person: "mv d/a e/b", more: world.Lines(world.Shells("c2", "mv e/b moved"), world.Edits("c3", "moved", agentOnce, agentMore))},
		"a command's change":    {first: edits, person: "mv d/a e/b", more: world.Shells("c2", "sed -i \"$ a the agent's second\" e/b")},
		"a command, and a copy": {first: sed, accepted: true, person: "cp d/a e/b; rm d/a", more: world.Shells("c2", "sed -i \"$ a the agent's second\" e/b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := len(c.more); n > 0 && c.more[n-1] == world.Done {
				c.more = c.more[:n-1]
			}
			w, e, turn := renaming(t, c.first, c.accepted, c.person, c.more)
			was := w.Listing()
			dry := rewinds(e, turn, world.Obj{"dryRun": true})
			require.Equal(t, was, w.Listing())
			out := rewinds(e, turn, nil)
			require.Equal(t, dry.Skipped, out.Skipped)
			mine := map[string]int{}
			for path := range w.Whole(w.Root) {
				if info, err := os.Stat(w.Path(path)); err != nil || info.IsDir() {
					continue
				}
				for line := range strings.Lines(w.Get(path)) {
					if strings.HasPrefix(line, "mine") {
						mine[line]++
					} else if strings.HasPrefix(line, "the agent's") {
						require.Empty(t, c.at, "%q is in %s", line, path)
						require.NotEmpty(t, out.Skipped, "%q stays in %s, and nobody says so", line, path)
					}
				}
			}
			for line := range strings.Lines(sixLines) {
				require.Equal(t, 1, mine[line], "%q", line)
			}
			if c.at != "" {
				require.Empty(t, out.Skipped)
				require.True(t, strings.HasPrefix(w.Get(c.at), sixLines))
			}
			if out.Applied > 0 {
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, was, w.Listing())
			}
		})
	}
}

// TestAPersonsFileThatACommandChangesAtItsNewPlace: a person renames a file that no agent has touched, and a command changes it there. It counted
// as made by the agent, and a reject removed it.
func TestAPersonsFileThatACommandChangesAtItsNewPlace(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"in place": "echo the agent's >>e/b", "replaced": "sed -i \"1a the agent's\" e/b", "moved": "mv e/b moved"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e, turn := renaming(t, world.Shells("c1", "true"), false, "mv d/a e/b", world.Shells("c2", command))
			e.Decides("diff/reject", world.Obj{"all": true})
			text := w.Get("e/b") + w.Get("moved") + w.Get("d/a")
			for line := range strings.Lines(sixLines) {
				require.Contains(t, text, line)
			}
			rewinds(e, turn, nil)
			text = w.Get("e/b") + w.Get("moved") + w.Get("d/a")
			for line := range strings.Lines(sixLines) {
				require.Contains(t, text, line)
			}
		})
	}
}

// TestAMoveThatAPersonMovesOn: an agent has moved a file, and a person moves it on. The move left review, and nobody said so.
func TestAMoveThatAPersonMovesOn(t *testing.T) {
	t.Parallel()
	for name, person := range map[string]string{"in its folder": "mv d/b d/c", "elsewhere": "mv d/b e/c", "and changes it": "mv d/b d/c; echo mine >>d/c"} {
		for _, looks := range []bool{true, false} {
			t.Run(name+map[bool]string{true: "", false: ", at once"}[looks], func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.PutAll(world.Tree{"d/a": sixLines, "e/other": "other\n"})
				w.Rests()
				w.Start()
				e := w.Opens()
				w.Plays(commands("mv d/a d/b; echo \"the agent's\" >>d/b")...)
				turn := e.Turn(nil)
				w.Makes(person)
				to := strings.Fields(strings.TrimSuffix(strings.ReplaceAll(person, ";", " "), ";"))[2]
				was := w.Listing()
				if looks {
					d := e.Diffs()[to]
					require.NotNil(t, d)
					require.Equal(t, "d/a", d.OldPath)
				}
				for _, undoes := range []func() (string, []api.Skipped){
					func() (string, []api.Skipped) {
						return "reject", e.Decides("diff/reject", world.Obj{"all": true}).Skipped
					},
					func() (string, []api.Skipped) { return "rewind", rewinds(e, turn, nil).Skipped },
				} {
					what, skipped := undoes()
					require.Empty(t, skipped, what)
					require.True(t, strings.HasPrefix(w.Get("d/a"), sixLines), what)
					require.NotContains(t, w.Get("d/a"), "agent", what)
					require.Equal(t, "(absent)", w.Get(to), what)
					e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					require.Equal(t, was, w.Listing(), what)
					require.Equal(t, "d/a", e.Diffs()[to].OldPath, what)
				}
				e.Decides("diff/accept", world.Obj{"all": true})
				require.Equal(t, was, w.Listing())
				require.Empty(t, e.Diffs())
			})
		}
	}
}
