//go:build unix

package authorship

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestASaveThatOnlyItsTimeShows has a person write a file while the daemon is stopped, and then a command change the file's mode. When the
// daemon looks, only the time of the text is left of the save. Before, a person's lines were rejected with the mode, and a person's new
// file was deleted.
func TestASaveThatOnlyItsTimeShows(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n"})
	for name, c := range map[string]struct {
		had, agents string // the file before the turn, and after the agent's edit; empty: there is none
		mine        string
		command     string
		left        string // the file after a reject of all
	}{
		"beside an edit":         {before, after, "mine\n" + after, "chmod +x f", "mine\n" + before},
		"with no edit":           {before, "", "mine\n" + before, "chmod +x f", "mine\n" + before},
		"a new file":             {"", "", "mine\n", "chmod +x f", "mine\n"},
		"a copy, and its times":  {before, "", "mine\n" + before, "cp -p f g; mv g f", "mine\n" + before},
		"beside an edit, linked": {before, after, "mine\n" + after, "ln f g", "mine\n" + before},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("other", "")
			if c.had != "" {
				w.Put("f", c.had)
			}
			var edit []string
			if c.agents != "" {
				edit = world.Edits("1", "f", c.had, c.agents)
			}
			w.Plays(world.Lines(edit, []string{`{"fake":"write","path":"../edited","text":""}`, world.Waits("go")}, world.Shells("2", c.command), []string{`{"fake":"write","path":"../done","text":""}`, world.Waits("end")})...)
			w.Start()
			e := w.Opens()
			turn := e.Asks(world.Obj{"prompt": "x"})
			w.Exists("../edited")
			if c.agents != "" {
				e.Until("the edit", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == "f" })
			}
			w.Sleeps() // with all that the agent has said; else the command may have begun before
			require.NoError(t, w.Cmd.Process.Signal(syscall.SIGSTOP))
			w.Put("f", c.mine)
			require.Eventually(t, func() bool { // a later tick of the file system's clock
				w.Put("tick", "")
				was, err := os.Stat(w.Path("f"))
				require.NoError(t, err)
				is, err := os.Stat(w.Path("tick"))
				require.NoError(t, err)
				return is.ModTime().Sub(was.ModTime()) > 30*time.Millisecond
			}, world.Patience, time.Millisecond)
			w.Put("../go", "")
			w.Exists("../done")
			require.NoError(t, w.Cmd.Process.Signal(syscall.SIGCONT))
			w.Put("../end", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, c.left, w.Get("f"))
		})
	}
}

// TestASaveThatIsHeardLate has a person save a text within an agent's open command before the daemon hears that it was typed, as an
// editor does that formats a text and saves it. A client that loads the command's text and saves that sends the same messages, but
// it writes the file between them.
func TestASaveThatIsHeardLate(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n"})
	for name, c := range map[string]struct {
		edit    bool   // an edit of the agent is pending
		command string // the text that the command leaves before the person's; empty: none
		mine    string
		load    bool // the person's client loads the command's text, and saves it
		looks   bool // the daemon looks at the file before it hears of the save
		left    string
	}{
		"a file without changes":              {mine: "mine\n" + before, left: "mine\n" + before},
		"a file without changes, looked at":   {mine: "mine\n" + before, looks: true, left: "mine\n" + before},
		"a file under review":                 {edit: true, mine: "mine\n" + after, left: "mine\n" + before},
		"a file under review, looked at":      {edit: true, mine: "mine\n" + after, looks: true, left: "mine\n" + before},
		"a command's text, loaded":            {command: after, load: true, left: before},
		"a command's text, loaded, looked at": {command: after, load: true, looks: true, left: before},
		"a command's text beside an edit":     {edit: true, command: after + "more\n", load: true, left: before},
		"a person's lines over a command's":   {command: after, mine: "mine\n" + after, left: "mine\n" + before},
		"the same, beside an edit":            {edit: true, command: after + "more\n", mine: "mine\n" + after + "more\n", left: "mine\n" + before},
		"the same, beside an edit, looked at": {edit: true, command: after + "more\n", mine: "mine\n" + after + "more\n", looks: true, left: "mine\n" + before},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			var edit []string
			if c.edit {
				edit = world.Edits("1", "f", before, after)
			}
			w.Put("../command", c.command)
			w.Plays(world.Lines(edit, world.Shells("2", "[ ! -s ../command ] || cat ../command >f; >../begun; until [ -e ../go ]; do sleep 0.01; done"))...)
			w.Start()
			e := w.Opens()
			d := e.OpenDocument("f")
			turn := e.Asks(world.Obj{"prompt": "x"})
			w.Exists("../begun")
			if c.edit || c.command != "" {
				d.Set(w.Get("f")) // the client loads what is there
				e.Diffs()
			}
			if !c.load {
				w.Put("f", c.mine)
			}
			if c.looks {
				e.Diffs()
			}
			if c.load {
				d.Save()
			} else { // the daemon hears of both in one go, however busy the machine is
				require.NoError(t, w.Cmd.Process.Signal(syscall.SIGSTOP))
				d.Set(c.mine)
				d.Note("document/didSave", world.Obj{})
				require.NoError(t, w.Cmd.Process.Signal(syscall.SIGCONT))
			}
			e.Diffs()
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			d.Closes()
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, c.left, w.Get("f"))
			require.Empty(t, e.Diffs(), "nothing is in doubt")
		})
	}
}
