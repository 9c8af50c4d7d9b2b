//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

const chatHint = "Enter sends, Alt-Enter begins another line, /help lists what else there is."

// ends waits until the screen ends in a text. It ignores durations on the screen.
func ends(tm *world.Tmux, text string) {
	tm.T.Helper()
	tm.Poll("the screen to end in "+text, func() bool { return strings.HasSuffix(world.Elapsed(tm.Screen()), text) })
}

// completed waits until a turn whose last lines are these has ended and the chat accepts the next prompt.
func completed(tm *world.Tmux, lines string) {
	tm.T.Helper()
	ends(tm, lines+"\n— completed\n\n>")
}

// TestChat follows a workspace on a terminal, types prompts there, and cancels turns.
func TestChat(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Plays(
		world.Streams("First "), world.Streams("words"),
		`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"command":"make","exitCode":0,"stdout":"","stderr":""}}}}}`,
		world.Streams("Last words"), world.Done)
	w.Start()
	e := w.Joins()
	tm := w.Terminal(t)
	defer func() {
		if t.Failed() {
			t.Logf("the screen is\n%s", tm.Screen())
		}
	}()
	tm.Types("cursord chat", "Enter")
	tm.Until("\nno sessions yet in " + w.Root + "\n" + chatHint + "\n\n>")

	// The person types a prompt in a folder that is not trusted yet.
	tm.Types("-l", "say something")
	tm.Types("Enter")
	tm.Until("\n  trust it with: /trust\n\n> say something")
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	tm.Types("Enter")
	completed(tm, "")
	require.Contains(t, tm.Screen(), "\n> say something\nFirst words\n✓ $ make\nLast words\n— completed in ")

	// Another client starts a turn in a new session, and queues a second turn there. Later prompts of the chat go to that
	// session.
	w.Plays(world.Streams("Here."), `{"fake":"wait","path":"`+w.Path("../go on")+`"}`, world.Streams("And gone."), world.Done)
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	first := e.Asks(world.Obj{"prompt": "asked elsewhere\nin two lines"})
	tm.Until("\n> asked elsewhere\n> in two lines\nHere.\n\n>")
	second := e.Asks(world.Obj{"prompt": "and then this", "sessionId": first.SessionID})
	w.Put("../go on", "")
	e.Ends(second.ID)
	completed(tm, "\nHere.And gone.\n— completed\n\n> and then this\nHere.And gone.")

	// Ctrl-C cancels the running turn. The prompt went to the session that was shown last.
	w.Plays(world.Streams("I wait."), `{"fake":"hang"}`)
	tm.Types("-l", "wait")
	tm.Types("Enter")
	tm.Until("\n> wait\nI wait.\n\n>")
	tm.Types("C-c")
	ends(tm, "I wait.\n— cancelled\n\n>")
	last := e.Until("the end", func(n world.Notification) bool {
		return n.Method == "turn/changed" && n.Turn.Prompt == "wait" && n.Turn.Status.Final()
	}).Turn
	require.Equal(t, sessions.TurnCancelled, last.Status)
	require.Equal(t, first.SessionID, last.SessionID)

	empty := func() bool { return strings.HasSuffix(world.Elapsed(tm.Screen()), "— completed\n\n>") }
	// Typed text stays while turns begin and end, and the usual keys edit it.
	w.Plays(world.Streams("Others."), `{"fake":"wait","path":"`+w.Path("../on again")+`"}`, world.Done)
	tm.Types("-l", "half a thx")
	tm.Types("BSpace")
	tm.Until("\n> half a th")
	third := e.Asks(world.Obj{"prompt": "by others"})
	tm.Until("\n> by others\nOthers.\n\n> half a th")
	tm.Types("-l", "ou")
	tm.Until("\n> by others\nOthers.\n\n> half a thou")
	w.Put("../on again", "")
	e.Ends(third.ID)
	ends(tm, "— completed\n\n> half a thou")
	tm.Types("-l", "ght äöü 漢字 ")
	tm.Types("C-w")
	tm.Until("\n> half a thought äöü")
	tm.Types("C-c")
	tm.Poll("an empty line", empty)
	tm.Types("-l", "begun "+strings.Repeat("a long line ", 12)+"end")
	tm.Poll("all of a long line", func() bool {
		_, line, _ := strings.Cut(tm.Screen(), "\n\n> begun ")
		return strings.Join(strings.Fields(line), " ") == strings.Repeat("a long line ", 12)+"end"
	})
	tm.Types("C-u")
	tm.Poll("an empty line", empty)
	tm.Types("-l", "back")
	tm.Until("\n> back")
	tm.Types("C-z")
	tm.Until("\n$")
	tm.Types("stty -a | grep -c -e -icanon", "Enter")
	tm.Until("\n0\n$")
	tm.Types("fg", "Enter")
	tm.Until("\n> back")
	tm.Types("C-u")

	// The daemon stops and starts again.
	w.Stop()
	w.ComesBack()
	w.Plays(world.Streams("Still here."), world.Done)
	w.Joins().Asks(world.Obj{"prompt": "after a restart"})
	completed(tm, "\n> after a restart\nStill here.")
	tm.Types("C-d")
	tm.Until("$")

	// A new chat begins with the last turn. Ctrl-C leaves it, as no turn runs.
	tm.Types("clear; cursord chat --sandbox enabled --auto-review", "Enter")
	tm.Poll("the last turn", func() bool {
		return strings.HasSuffix(world.Elapsed(tm.Screen()), "\n> after a restart\nStill here.\n— completed\n"+chatHint+"\n\n>")
	})
	tm.Types("-l", "in the sandbox")
	tm.Types("Enter")
	completed(tm, "\n> in the sandbox\nStill here.")
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review"}, w.PermitArgs())
	tm.Types("C-c")
	tm.Until("$")
}

// TestChatSplit opens a chat beside the present pane, in a real tmux.
func TestChatSplit(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Plays(world.Streams("Beside you."), world.Done)
	w.Start()
	e := w.Opens()
	tm := w.Terminal(t)
	panes := func() string {
		out, err := tm.Command("list-panes", "-F", "#{pane_id} #{pane_active}").Output()
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, "%0 1\n", panes())
	tm.Types("clear; cursord chat --split; echo status $?", "Enter")
	tm.Until("status 0\n$")
	require.Equal(t, "%0 1\n%1 0\n", panes(), "the pane that was active stays so")
	other := func() string {
		out, _ := tm.Command("capture-pane", "-p", "-t", "%1").Output()
		return string(out)
	}
	tm.Poll("the other pane's prompt", func() bool { return strings.Contains(other(), "\n> \n") || strings.Contains(other(), "\n>\n") })
	e.Turn(world.Obj{"prompt": "where are you?"})
	tm.Poll("the chat in the other pane", func() bool {
		return strings.Contains(other(), "> where are you?\nBeside you.\n— completed")
	})
}

// TestChatSplitElsewhere replaces the other multiplexers by stand-ins that record their arguments.
func TestChatSplitElsewhere(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Start()
	own, err := filepath.EvalSymlinks(filepath.Join(w.Dir, "bin"))
	if err != nil {
		own = filepath.Join(w.Dir, "bin")
	}
	for _, name := range []string{"zellij", "wezterm", "kitten"} {
		w.Put("../bin/"+name, "#!/bin/sh\nprintf '%s' \""+name+"\" >>"+w.Path("../called")+"\nfor a; do printf ' %s' \"$a\" >>"+w.Path("../called")+
			"; done\necho >>"+w.Path("../called")+"\n[ -z \"$REFUSES\" ] || { echo 'not allowed' >&2; exit 1; }\n")
		require.NoError(t, os.Chmod(w.Path("../bin/"+name), 0o755))
	}
	split := func(env ...string) (string, error) {
		cmd := w.Command("chat", "--split")
		cmd.Env = w.Env(append(env, "PATH="+own+":"+os.Getenv("PATH"))...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct{ env, want string }{
		{"ZELLIJ=0", "zellij run --direction right --close-on-exit --cwd WS -- CHAT\nzellij action focus-previous-pane\n"},
		{"WEZTERM_PANE=3", "wezterm cli split-pane --right --pane-id 3 --cwd WS -- CHAT\nwezterm cli activate-pane --pane-id 3\n"},
		{"KITTY_WINDOW_ID=1", "kitten @ launch --location=vsplit --keep-focus --cwd WS CHAT\n"},
	} {
		w.Put("../called", "")
		out, err := split(c.env)
		require.NoError(t, err, out)
		called := w.Get("../called")
		require.Regexp(t, ` env CURSORD_SOCKET=\S+ .* \S+cursord chat --workspace `, called)
		chat := called[strings.Index(called, "env CURSORD_SOCKET="):strings.Index(called, " chat --workspace ")] + " chat --workspace " + w.Root
		require.Equal(t, c.want, strings.ReplaceAll(strings.Replace(called, chat, "CHAT", 1), w.Root, "WS"))
		out, err = split(c.env, "REFUSES=1")
		require.Error(t, err)
		require.Regexp(t, `cursord: \S+ opens no pane: exit status 1\nnot allowed\n`, out)
	}
	out, err := split()
	require.Error(t, err)
	require.Contains(t, out, `this is no pane of tmux, zellij, WezTerm or kitty: run "cursord chat" in a terminal beside this one`)
}
