//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// talk opens a chat on a terminal, in a trusted workspace with an agent that says one word.
func talk(t *testing.T, env ...string) (*world.World, *world.Editor, *world.Tmux) {
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Put("some/file.go", "package some\n")
	w.Put("some/other.go", "package some\n")
	w.Put("main.go", "one\ntwo\nthree\n")
	w.Plays(world.Streams("Yes."), world.Done)
	w.Start()
	e := w.Opens()
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	tm := w.Terminal(t, env...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen is\n%s", tm.Screen())
		}
	})
	tm.Types("clear; cursord chat", "Enter")
	tm.Until(chatHint + "\n\n>")
	return w, e, tm
}

// prompted waits for the end of the turn with this prompt and returns the turn.
func prompted(e *world.Editor, prompt string) *sessions.Turn {
	e.T.Helper()
	return e.Until("the prompt "+prompt, func(n world.Notification) bool {
		return n.Method == "turn/changed" && n.Turn.Status.Final() && n.Turn.Asked() == prompt
	}).Turn
}

// TestChatPaste pastes several lines. They are a single prompt, which only Enter sends.
func TestChatPaste(t *testing.T) {
	t.Parallel()
	w, e, tm := talk(t)
	w.Put("../paste", "first line\n\tsecond: 漢字\r\nthird")
	for _, args := range [][]string{{"load-buffer", w.Path("../paste")}, {"paste-buffer", "-p", "-r"}} {
		out, err := tm.Command(args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	tm.Until("\n\n> first line\n  ␉second: 漢字\n  third")
	tm.Types("M-Enter")
	tm.Types("-l", "fourth")
	tm.Until("\n  third\n  fourth")
	tm.Types("Enter")
	prompted(e, "first line\n\tsecond: 漢字\nthird\nfourth")
	completed(tm, "\n> fourth\nYes.")
}

// TestChatKeys edits a line and brings back earlier prompts, also those of another chat in the folder.
func TestChatKeys(t *testing.T) {
	t.Parallel()
	_, e, tm := talk(t)
	tm.Types("-l", "one two three")
	tm.Types("Left", "Left", "M-b", "M-b", "C-k")
	tm.Until("\n> one")
	tm.Types("-l", "2 and 3")
	tm.Types("C-a")
	tm.Types("-l", "not ")
	tm.Types("C-e", "Home", "Right", "DC")
	tm.Until("\n> nt one 2 and 3")
	tm.Types("Enter")
	prompted(e, "nt one 2 and 3")
	completed(tm, "")
	tm.Types("-l", "another")
	tm.Types("Enter")
	prompted(e, "another")
	completed(tm, "> another\nYes.")
	tm.Types("C-d")
	tm.Until("\n$")

	tm.Types("clear; cursord chat", "Enter")
	tm.Until(chatHint + "\n\n>")
	tm.Types("-l", "a draft")
	tm.Types("Up")
	tm.Until("\n> another")
	tm.Types("Up")
	tm.Until("\n> nt one 2 and 3")
	tm.Types("Up")
	tm.Types("Down", "Down")
	tm.Until("\n> a draft")
	tm.Types("C-r")
	tm.Types("-l", "one 2")
	tm.Until("\nsearch: one 2\n> nt one 2 and 3")
	tm.Types("-l", "!")
	tm.Until("\nnothing found: one 2!\n> nt one 2 and 3")
	tm.Types("C-g")
	tm.Until("\n\n> a draft")
	tm.Types("C-r")
	tm.Types("-l", "noth")
	tm.Until("\nsearch: noth\n> another")
	tm.Types("C-e")
	tm.Types("-l", " time")
	tm.Until("\n\n> another time")
}

// TestChatCommands checks that the chat itself carries out lines that begin with a slash. Only a saved prompt goes to the
// agent.
func TestChatCommands(t *testing.T) {
	t.Parallel()
	w, e, tm := talk(t)
	w.Put(".cursor/commands/tidy.md", "Tidy up, all of it.\n")
	answer := func(typed, end string) {
		t.Helper()
		tm.Types("-l", typed)
		tm.Types("Enter")
		tm.Until(end + "\n\n>")
	}
	answer("/hlep", "\n> /hlep\nunknown command \"/hlep\"; did you mean /help? (/help lists them; a prompt that begins with\n  / is sent with a space before it)")
	answer("/accept", "\n> /accept\n/accept what? /accept HUNK|FILE|--all (/diff shows what there is)")
	answer("/undo x", "\n> /undo x\n/undo takes nothing behind it, and was given \"x\"")
	answer("/help", "\nCtrl-C cancels the turn that is shown; where none runs it empties the line, or leaves;\n  turns go on then.")
	require.Contains(t, tm.Screen(), "  /tidy ")
	answer("/mode nonsense", "\nthe mode is \"nonsense\"; it must be agent, ask or plan")
	answer("/mode ask", "\nThe next prompts are sent in the mode ask.")
	answer("/model no-such", "\nthere is no model \"no-such\" (/model lists them)")
	answer("/cancel", "\nno turn runs here")
	answer("/new", "\nThe next prompt begins a new session.")
	answer("/diff", "\nnothing to review in "+w.Root)
	answer("/file no.go", "\n/file: "+w.Path("no.go")+" is not there")
	tm.Types("-l", "/file main.go:2-3")
	tm.Types("Enter")
	tm.Until("\nwith the next prompt: main.go:2-3\n\n>")
	require.Empty(t, e.Turns(), "nothing went to the agent")

	tm.Types("-l", "go on")
	tm.Types("Enter")
	first := prompted(e, "go on")
	require.Equal(t, sessions.ModeAsk, first.Mode)
	require.Contains(t, w.Prompted(), "main.go")
	completed(tm, "\n> go on\nYes.")

	// A saved prompt is sent with its text. Paths, and lines that begin with a blank, are ordinary prompts.
	for typed, want := range map[string]string{"/tidy now": "/tidy now", "/etc/hosts is wrong": "/etc/hosts is wrong", " /help me": "/help me"} {
		tm.Types("-l", typed)
		tm.Types("Enter")
		next := prompted(e, want)
		require.Equal(t, first.SessionID, next.SessionID)
		require.Equal(t, typed == "/tidy now", strings.Contains(w.Prompted(), "Tidy up, all of it."))
		require.NotContains(t, w.Prompted(), "main.go")
		completed(tm, "> "+want+"\nYes.")
	}
	answer("/new", "\nThe next prompt begins a new session.")
	tm.Types("-l", "afresh")
	tm.Types("Enter")
	require.NotEqual(t, first.SessionID, prompted(e, "afresh").SessionID)
	completed(tm, "> afresh\nYes.")
	answer("/sessions @2", "\nThe next prompts go on in: go on")
	tm.Types("-l", "back again")
	tm.Types("Enter")
	require.Equal(t, first.SessionID, prompted(e, "back again").SessionID)
	tm.Types("-l", "/quit")
	tm.Types("Enter")
	tm.Until("\n$")
}

// TestChatReviews decides hunks from the chat, by commands that borrow the terminal.
func TestChatReviews(t *testing.T) {
	t.Parallel()
	w, e, tm := talk(t)
	w.Plays(world.Lines(world.Edits("1", "a.txt", "(absent)", "a\n"), world.Edits("2", "b.txt", "(absent)", "b\n"))...)
	tm.Types("-l", "write")
	tm.Types("Enter")
	prompted(e, "write")
	ends(tm, "— completed\n2 files to review: /review\n\n>")
	tm.Types("-l", "/accept a.")
	tm.Types("Tab")
	tm.Until("\n> /accept a.txt")
	tm.Types("Enter")
	tm.Until("\n> /accept a.txt\naccepted 1 hunk; 1 hunk left in 1 file\n\n>")
	tm.Types("-l", "/undo")
	tm.Types("Enter")
	tm.Until("\n> /undo\nundone: the accept of 1 hunk in a.txt; 2 hunks left in 2 files\n\n>")
	// Ctrl-C leaves the review, and not the chat.
	tm.Types("-l", "/review a.txt")
	tm.Types("Enter")
	holds(tm, "+a\n")
	tm.Types("C-c")
	tm.Poll("the prompt again", func() bool { return strings.HasSuffix(tm.Screen(), "\n\n>") })
	tm.Types("-l", "/review b.txt")
	tm.Types("Enter")
	holds(tm, "+b\n")
	tm.Types("y")
	tm.Until("\naccepted 1; nothing left to review\n\n>")
	tm.Types("-l", "still here")
	tm.Until("\n\n> still here")
}

// TestChatCompletes completes commands, files behind @, and arguments of commands.
func TestChatCompletes(t *testing.T) {
	t.Parallel()
	_, _, tm := talk(t)
	tm.Types("-l", "/mo")
	tm.Types("Tab")
	tm.Until("\n> /mode\n  /mode" + strings.Repeat(" ", 3) + "the next prompts' mode: agent, ask (reads only), plan\n  /model  the model of the next prompts; alone: which exist")
	tm.Types("Tab", "Tab")
	tm.Poll("the second", func() bool { return strings.Contains(tm.Screen(), "\n> /model\n") })
	tm.Types("S-Tab")
	tm.Poll("the first", func() bool { return strings.Contains(tm.Screen(), "\n> /mode\n") })
	tm.Types("-l", " p")
	tm.Types("Tab")
	tm.Until("\n\n> /mode plan")
	tm.Types("C-u")
	tm.Types("-l", "compare @some/ and")
	tm.Types("M-b", "Left", "Tab")
	tm.Until("\n\n> compare @some/ and\n  @some/file.go\n  @some/other.go")
	tm.Types("-l", "o")
	tm.Types("Tab")
	tm.Until("\n\n> compare @some/other.go  and")
}

// queues has a turn wait for the file "go on", and another prompt for that turn.
func queues(w *world.World, tm *world.Tmux) {
	tm.T.Helper()
	w.Plays(world.Streams("Here."), `{"fake":"wait","path":"`+w.Path("../go on")+`"}`, world.Done)
	for _, text := range []string{"the first", "the second"} {
		tm.Types("-l", text)
		tm.Types("Enter")
	}
	tm.Until("\n> the first\nHere.\nqueued: the second\n\n>")
}

// TestChatWaits checks that prompts sent during a turn are shown as queued until their turns begin.
func TestChatWaits(t *testing.T) {
	t.Parallel()
	w, e, tm := talk(t)
	queues(w, tm)
	tm.Types("-l", "half a third")
	tm.Until("\nqueued: the second\n\n> half a third")
	w.Put("../go on", "")
	first, second := prompted(e, "the first"), prompted(e, "the second")
	require.Equal(t, first.SessionID, second.SessionID)
	ends(tm, "\n> the first\nHere.\n— completed\n\n> the second\nHere.\n— completed\n\n> half a third")
}

// TestChatNarrow resizes a terminal from 40 columns to 30 and then to 60.
func TestChatNarrow(t *testing.T) {
	t.Parallel()
	w, e, tm := talk(t)
	resize := func(columns, rows string) {
		out, err := tm.Command("resize-window", "-x", columns, "-y", rows).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	resize("40", "12")
	w.Plays(world.Streams("漢字"+strings.Repeat(" and words", 8)+"\n"), world.Done)
	tm.Types("-l", "wide 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字")
	tm.Until("\n> wide\n  漢字漢字漢字漢字漢字漢字漢字漢字漢字漢\n  字")
	resize("30", "12")
	tm.Poll("the prompt in 30 columns", func() bool { return strings.HasSuffix(tm.Screen(), "漢字漢字漢字") })
	tm.Types("Enter")
	prompted(e, "wide "+strings.Repeat("漢字", 10))
	completed(tm, " and words")
	resize("60", "20")
	tm.Types("-l", "/cancel")
	tm.Types("Enter")
	tm.Until("\n> /cancel\nno turn runs here\n\n>")
}

// TestChatLeavesNoPieces: a prompt that a narrower window breaks into more rows is drawn over all of them.
func TestChatLeavesNoPieces(t *testing.T) {
	t.Parallel()
	w, _, tm := talk(t)
	queues(w, tm)
	tm.Types("-l", strings.Repeat("many words ", 7)+"more")
	tm.Until("\nqueued: the second\n\n> " + strings.Repeat("many words ", 7) + "more")
	for _, test := range []struct{ columns, rows string }{
		{"60", "> many words many words many words many words many words\n  many words many words more"},
		{"28", "> many words many words\n  many words many words\n  many words many words\n  many words more"},
		{"90", "> " + strings.Repeat("many words ", 7) + "more"},
	} {
		out, err := tm.Command("resize-window", "-x", test.columns).CombinedOutput()
		require.NoError(t, err, "%s", out)
		tm.Until("queued: the second\n\n" + test.rows)
		screen := tm.Screen()
		for _, once := range []string{"Here.", "queued: the second"} {
			require.Equal(t, 1, strings.Count(screen, once), screen)
		}
	}
	w.Put("../go on", "")
}

// TestChatOnADumbTerminal checks that the chat only prints and reads lines there.
func TestChatOnADumbTerminal(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Plays(world.Streams("Yes."), world.Done)
	w.Start()
	e := w.Opens()
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	tm := w.Terminal(t)
	tm.Types("clear; TERM=dumb cursord chat", "Enter")
	tm.Until("\nA line is a prompt; /help lists what else there is.\n\n>")
	tm.Types("/mode plan", "Enter")
	tm.Until("\n> /mode plan\nThe next prompts are sent in the mode plan.\n\n>")
	tm.Types("hello", "Enter")
	completed(tm, "\n> hello\nYes.")
	tm.Types("/diff", "Enter")
	tm.Until("\n> /diff\nnothing to review in " + w.Root + "\n\n>")
	tm.Types("C-d")
	tm.Until("\n$")
	require.Equal(t, sessions.ModePlan, prompted(e, "hello").Mode)
}
