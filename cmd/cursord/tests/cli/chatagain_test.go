//go:build unix

package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// chats starts a chat in a terminal. The function types a line there.
func chats(t *testing.T, w *world.World, env ...string) (*world.Tmux, func(line string)) {
	t.Helper()
	tm := w.Terminal(t, env...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen is\n%s", tm.Screen())
		}
	})
	tm.Types("cursord chat", "Enter")
	holds(tm, chatHint)
	return tm, func(line string) {
		tm.Types("-l", line)
		tm.Types("Enter")
	}
}

// TestChatAgain adds to a running turn, edits the last prompt, and takes it back, all in a chat.
func TestChatAgain(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Put("a.txt", "one\n")
	w.Put("../editor", "#!/bin/sh\nsed -i s/lime/line/ \"$1\"\n")
	require.NoError(t, os.Chmod(w.Path("../editor"), 0o755))
	w.Plays(world.Lines(world.Edits("1", "a.txt", "one\n", "one\nagent's\n"))...)
	w.Start()
	e := w.Opens()
	tm, types := chats(t, w, "VISUAL="+w.Path("../editor"))
	types("/edit")
	holds(tm, "\nthere is no session here yet\n")
	types("/steer now")
	holds(tm, "\nno turn runs here: send it as a prompt, without /steer\n")
	types("/steer")
	holds(tm, "\n/steer what? /steer TEXT\n")

	types("add a lime")
	holds(tm, "\n> add a lime\n✓ Edit a.txt\nok\n— completed in ")
	tm.Poll("the end of the turn", func() bool { return strings.Contains(tm.Screen(), "to review: /review") })
	types("/edit")
	holds(tm, "\ntook back 1 turn and 1 change of files\n")
	holds(tm, "\n> add a line\n✓ Edit a.txt\nok\n— completed in ")
	require.Equal(t, "one\nagent's\n", w.Get("a.txt"))
	types("/edit")
	holds(tm, "\nthe prompt is unchanged or empty; nothing was sent\n")

	// The preview first; only a yes takes anything back.
	types("/rewind")
	tm.Poll("the question", func() bool { return strings.Count(tm.Screen(), "Take this back? [y/N, then Enter]") == 1 })
	require.Contains(t, tm.Screen(), "\n-agent's\n")
	require.Contains(t, tm.Screen(), "\nwould take back 1 turn and 1 change of files:\n  > add a line\n")
	types("n")
	holds(tm, "\ncursord: nothing was taken back\n")
	require.Equal(t, "one\nagent's\n", w.Get("a.txt"))
	types("/rewind")
	tm.Poll("the question again", func() bool { return strings.Count(tm.Screen(), "Take this back? [y/N, then Enter]") == 2 })
	types("y")
	tm.Poll("the end of the rewind", func() bool {
		return strings.Contains(tm.Screen(), "Enter] y\ntook back 1 turn and 1 change of files\n")
	})
	require.Equal(t, "one\n", w.Get("a.txt"))
	types("/rewind")
	holds(tm, "\nthe session has no turn to take back\n")

	// What is added to a turn whose agent takes nothing more waits as the next turn, and the chat says so.
	w.Plays(world.Streams("I wait."), `{"fake":"wait","path":"`+w.Path("../go on")+`"}`, world.Done)
	types("wait for me")
	holds(tm, "\n> wait for me\nI wait.\n")
	types("/edit")
	holds(tm, "so that its last prompt cannot be edited\n")
	types("/steer don't stop")
	holds(tm, "This agent takes nothing more while it works.")
	holds(tm, "queued: don't stop\n")
	w.Put("../go on", "")
	holds(tm, "\n> don't stop\n")
	completed(tm, "I wait.")
	require.Empty(t, e.Diffs())

	types("/search stop don't")
	holds(tm, "don't stop\n")
}

// TestChatRecap: where the agent has lost the chat, the notice offers /recap, which asks the prompt again with the transcript and with what
// went with it. Elsewhere it once asked the same again without a word.
func TestChatRecap(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"words": "1\n2\n3\n4\n5\n", "later": "b\n"})
	w.Plays(`{"fake":"begin"}`, `{"fake":"say","text":"The word is plum."}`, `{"fake":"finish"}`)
	w.Start()
	w.Trusts()
	tm, types := chats(t, w)
	types("/recap")
	holds(tm, "\nthere is no session here yet\n")
	types("remember the word")
	holds(tm, "The word is plum.\n— completed in ")
	says := func(what string) {
		tm.Poll(what, func() bool { return strings.Contains(strings.Join(strings.Fields(tm.Screen()), " "), what) })
	}
	types("/recap")
	says("> /recap the agent has lost no chat in the last turn: /edit changes its prompt, and")
	w.Plays(`{"type":"system","subtype":"init","session_id":"another","model":"m"}`, world.Done)
	types("/file words:3-5")
	types("which word")
	says("type /recap: that asks your prompt again")
	tm.Poll("the end of the second turn", func() bool { return strings.Count(tm.Screen(), "— completed in ") == 2 })
	require.NotContains(t, tm.Screen(), "turn/start")
	types("/file later")
	types("/recap")
	says("> /recap > which word note: a fresh chat has begun, with the transcript of 2 earlier turns as context ok — completed in ")
	runs := w.Runs()
	require.Len(t, runs, 3)
	require.True(t, strings.HasSuffix(strings.TrimSpace(runs[2].Prompt), "which word"), runs[2].Prompt)
	require.Contains(t, runs[2].Prompt, "The word is plum.")
	require.Contains(t, runs[2].Prompt, "</transcript>\n<file path=\""+w.Path("words")+"\" lines=\"3-5\" />\n</context>")
	types("/recap")
	says("PROMPT with the next prompt: later >")
	types("and then")
	tm.Poll("the fourth turn", func() bool { return len(w.Runs()) == 4 })
	require.Equal(t, "<context>\n<file path=\""+w.Path("later")+"\" />\n</context>\n\nand then", strings.TrimSpace(w.Runs()[3].Prompt), "what is attached waits for the next prompt")
}

// TestChatForks: /fork goes on in another session, with all turns or up to a turn, and in a copy; the session stays as it is.
func TestChatForks(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(`{"fake":"say","text":"Yes: {{prompt}}."}`, `{"fake":"finish"}`)
	w.Start()
	w.Trusts()
	e := w.Opens()
	tm, types := chats(t, w)
	types("/fork")
	holds(tm, "\nthere is no session here yet\n")
	for _, prompt := range []string{"one", "two", "three"} {
		types(prompt)
		holds(tm, "\nYes: "+prompt+".\n— completed in ")
	}
	first := e.Turns()[0].SessionID
	for _, wrong := range []string{"/fork copy none", "/fork @1 @2"} {
		types(wrong)
		holds(tm, "\n> "+wrong+"\n/fork takes copy or none, and one TURN; /help lists the commands\n")
	}
	types("/fork @4")
	holds(tm, "\n@4: there are only 3 turns in session "+first+"\n")

	forked := func(line, want, isolation string, turns int) *sessions.Session {
		t.Helper()
		types(line)
		holds(tm, "\nThe next prompts go on in: "+want+"\n")
		var list struct{ Sessions []*sessions.Session }
		e.Must("session/list", world.Obj{}, &list)
		made := list.Sessions[0]
		require.Equal(t, isolation, made.Isolation)
		require.Equal(t, turns, made.Turns)
		return made
	}
	second := forked("/fork", "one (fork) (3 turns)", "none", 3)
	require.Equal(t, first, second.ForkedFrom.SessionID)
	third := forked("/fork copy @2", "one (fork 2) (2 turns, its agent works in a copy)", "copy", 2)
	require.Equal(t, second.ID, third.ForkedFrom.SessionID)
	types("four")
	require.Equal(t, third.ID, prompted(e, "four").SessionID)
	holds(tm, "note: a fresh chat has begun, with the transcript of 2 earlier turns as context")
	completed(tm, "\nfour.")
	forked("/fork none", "one (fork 3) (3 turns)", "none", 3)
	var read struct{ Session *sessions.Session }
	e.Must("session/read", world.Obj{"sessionId": first}, &read)
	require.Equal(t, 3, read.Session.Turns)
}
