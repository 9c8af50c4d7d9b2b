//go:build unix

package acp

import (
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// story returns what is told of prompts, answers and calls, a piece of text joined with the one before it.
func story(all []update) (told []string) {
	last := ""
	for _, u := range all {
		switch kind := u.Update.SessionUpdate; kind {
		case "tool_call":
			told, last = append(told, "call: "+u.Update.Title), ""
		case "user_message_chunk", "agent_message_chunk":
			if kind != last {
				told = append(told, kind+": ")
			}
			told[len(told)-1] += u.text()
			last = kind
		}
	}
	return told
}

// TestAway: an editor that is stopped while its daemon is killed and the next one runs a turn gets that turn as a load has it: the prompt, then the
// answer, then the end. Once the prompt came last, and of a turn without an answer nothing.
func TestAway(t *testing.T) {
	t.Parallel()
	run := func(w *world.World, s string) { w.Cursord("run", "--session", s, "Once more") }
	for name, one := range map[string]struct {
		plays []string
		does  func(w *world.World, session string)
		last  string // of what is told
		kinds int
	}{
		"an answer": {
			world.Playing([]string{world.Piece("one"), world.Flush("one")}, world.Edits("c1", "f.txt", "1\n", "2\n"), []string{world.Piece("two"), world.Succeeds("onetwo")}),
			run, "agent_message_chunk: two", 4,
		},
		"failed": {[]string{`{"fake":"exit","code":3}`}, run, "cursord:", 2},
		"cancelled": {world.Playing([]string{world.Waits("never")}), func(w *world.World, s string) {
			w.CursordOK("run", "--background", "--session", s, "Once more")
			w.CursordOK("cancel")
		}, "Once more", 1},
		"interrupted": {world.Playing([]string{world.Waits("never")}), func(w *world.World, s string) {
			w.CursordOK("run", "--background", "--session", s, "Once more")
			w.Kill()
			w.Start()
		}, "interrupted", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := trusted(t, world.Playing([]string{world.Piece("zero"), world.Succeeds("zero")})...)
			w.Put("f.txt", "1\n")
			w.CursordOK("stop")
			w.Start()
			c := opens(w, nil)
			s := c.session()
			c.prompts(s, "First")
			mark := c.mark()
			require.NoError(t, c.cmd.Process.Signal(syscall.SIGSTOP))
			t.Cleanup(func() { _ = c.cmd.Process.Signal(syscall.SIGCONT) })
			w.Kill()
			w.Plays(one.plays...)
			w.Start()
			one.does(w, s)
			require.True(t, world.Comes(world.Patience, func() bool { return turnsOf(w, s)[0].Status.Final() }))
			require.NoError(t, c.cmd.Process.Signal(syscall.SIGCONT))

			other := opens(w, nil)
			other.loads(s)
			loaded := story(other.updates(s, 0, ""))[2:] // behind the first turn
			require.Len(t, loaded, one.kinds, "%q", loaded)
			require.Contains(t, loaded[len(loaded)-1], one.last)
			require.Contains(t, loaded[0], "Once more")
			told := func() []string { return story(c.updates(s, mark, "")) }
			world.Comes(world.Patience, func() bool { return slices.Equal(loaded, told()) })
			require.Equal(t, loaded, told())
		})
	}
}
