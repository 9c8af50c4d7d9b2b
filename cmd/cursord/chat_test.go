//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestChat follows a workspace on a terminal, types prompts there, and cancels.
func TestChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(".git/HEAD", "")
	w.plays(
		streams("First "), streams("words"),
		`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"command":"make","exitCode":0,"stdout":"","stderr":""}}}}}`,
		streams("Last words"), done)
	w.start()
	e := w.joins()
	tm := w.terminal(t)
	defer func() {
		if t.Failed() {
			t.Logf("the screen is\n%s", tm.screen())
		}
	}()
	tm.types("cursord chat", "Enter")
	tm.until("\nno sessions yet in " + w.ws + "\n\n>")

	// A prompt that is typed there; the folder is not trusted at first.
	tm.types("-l", "say something")
	tm.types("Enter")
	tm.until("\n  trust it with: cursord trust " + w.ws + ", or run with --trust\n\n>")
	e.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	tm.types("-l", "say something")
	tm.types("Enter")
	tm.poll("the turn", func() bool { return strings.HasSuffix(elapsed(tm.screen()), "\n— completed\n\n>") })
	require.Contains(t, tm.screen(), "\n> say something\nFirst words\n✓ $ make\nLast words\n— completed in ")

	// One that is asked elsewhere, in another session, and one that waits for it; the chat goes on in the latter's.
	w.plays(streams("Here."), `{"fake":"wait","path":"`+w.path("../go on")+`"}`, streams("And gone."), done)
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	first := e.asks(obj{"prompt": "asked elsewhere\nin two lines"})
	tm.until("\n> asked elsewhere\n> in two lines\nHere.")
	second := e.asks(obj{"prompt": "and then this", "sessionId": first.SessionID})
	w.put("../go on", "")
	e.ends(second.ID)
	tm.poll("both turns", func() bool {
		return strings.HasSuffix(elapsed(tm.screen()), "\nHere.And gone.\n— completed\n\n> and then this\nHere.And gone.\n— completed\n\n>")
	})

	// Ctrl-C cancels what runs; the prompt went to the session that was shown last.
	w.plays(streams("I wait."), `{"fake":"hang"}`)
	tm.types("-l", "wait")
	tm.types("Enter")
	tm.until("\n> wait\nI wait.")
	tm.types("C-c")
	tm.poll("it is cancelled", func() bool { return strings.HasSuffix(elapsed(tm.screen()), "I wait.\n— cancelled\n\n>") })
	last := e.until("the end", func(n told) bool {
		return n.Method == "turn/changed" && n.Turn.Prompt == "wait" && n.Turn.Status.Final()
	}).Turn
	require.Equal(t, sessions.TurnCancelled, last.Status)
	require.Equal(t, first.SessionID, last.SessionID)

	empty := func() bool { return strings.HasSuffix(elapsed(tm.screen()), "— completed\n\n>") }
	// What is typed is there again when a turn that others began has ended; keys change it as in any line.
	w.plays(streams("Others."), `{"fake":"wait","path":"`+w.path("../on again")+`"}`, done)
	tm.types("-l", "half a thx")
	tm.types("BSpace")
	tm.until("\n> half a th")
	third := e.asks(obj{"prompt": "by others"})
	tm.until("\n> by others\nOthers.")
	require.NotContains(t, tm.screen(), "half a th")
	tm.types("-l", "ou")
	w.put("../on again", "")
	e.ends(third.ID)
	tm.poll("what was typed", func() bool { return strings.HasSuffix(elapsed(tm.screen()), "— completed\n\n> half a thou") })
	tm.types("-l", "ght äöü 漢字 ")
	tm.types("C-w")
	tm.until("\n> half a thought äöü")
	tm.types("C-c")
	tm.poll("an empty line", empty)
	tm.types("-l", "begun "+strings.Repeat("a long line ", 12)+"end")
	tm.until("a long line a long line end")
	require.NotContains(t, tm.screen(), "begun", "it has room in a row")
	tm.types("C-u")
	tm.poll("an empty line", empty)
	tm.types("-l", "back")
	tm.until("\n> back") // a terminal drops what was typed and not yet read before Ctrl-Z
	tm.types("C-z")
	tm.until("\n$")
	tm.types("stty -a | grep -c -e -icanon", "Enter")
	tm.until("\n0\n$")
	tm.types("fg", "Enter")
	tm.until("\n> back")
	tm.types("C-u")

	// The daemon goes and comes.
	w.stop()
	w.start()
	w.plays(streams("Still here."), done)
	w.joins().asks(obj{"prompt": "after a restart"})
	tm.poll("what the next daemon tells", func() bool {
		return strings.HasSuffix(elapsed(tm.screen()), "\n> after a restart\nStill here.\n— completed\n\n>")
	})
	tm.types("C-d")
	tm.until("$")

	// Again: it begins with what was last; Ctrl-C leaves where nothing runs.
	tm.types("clear; cursord chat --sandbox enabled --auto-review", "Enter")
	tm.poll("the last turn", func() bool {
		return strings.HasSuffix(elapsed(tm.screen()), "\n> after a restart\nStill here.\n— completed\n\n>")
	})
	tm.types("-l", "in the sandbox")
	tm.types("Enter")
	tm.poll("its end", func() bool {
		return strings.HasSuffix(elapsed(tm.screen()), "\n> in the sandbox\nStill here.\n— completed\n\n>")
	})
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review"}, w.permitArgs())
	tm.types("C-c")
	tm.until("$")
}

// elapsed takes out of a screen how long turns took.
func elapsed(screen string) string {
	var b strings.Builder
	for line := range strings.Lines(screen) {
		if end, _, ok := strings.Cut(line, " in "); ok && strings.HasPrefix(line, "— ") {
			line = end + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestChatSplit opens a chat beside the present pane, in a real tmux.
func TestChatSplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(".git/HEAD", "")
	w.plays(streams("Beside you."), done)
	w.start()
	e := w.opens()
	tm := w.terminal(t)
	panes := func() string {
		out, err := tm.command("list-panes", "-F", "#{pane_id} #{pane_active}").Output()
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, "%0 1\n", panes())
	tm.types("clear; cursord chat --split; echo status $?", "Enter")
	tm.until("status 0\n$")
	require.Equal(t, "%0 1\n%1 0\n", panes(), "the pane that was active stays so")
	other := func() string {
		out, _ := tm.command("capture-pane", "-p", "-t", "%1").Output()
		return string(out)
	}
	tm.poll("the other pane's prompt", func() bool { return strings.Contains(other(), "\n> \n") || strings.Contains(other(), "\n>\n") })
	e.turn(obj{"prompt": "where are you?"})
	tm.poll("the chat in the other pane", func() bool {
		return strings.Contains(other(), "> where are you?\nBeside you.\n— completed")
	})
}

// TestChatSplitElsewhere has stand-ins for the other multiplexers, which say how they were called.
func TestChatSplitElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(".git/HEAD", "")
	w.start()
	own, err := filepath.EvalSymlinks(filepath.Join(w.dir, "bin"))
	if err != nil {
		own = filepath.Join(w.dir, "bin")
	}
	for _, name := range []string{"zellij", "wezterm", "kitten"} {
		w.put("../bin/"+name, "#!/bin/sh\nprintf '%s' \""+name+"\" >>"+w.path("../called")+"\nfor a; do printf ' %s' \"$a\" >>"+w.path("../called")+
			"; done\necho >>"+w.path("../called")+"\n[ -z \"$REFUSES\" ] || { echo 'not allowed' >&2; exit 1; }\n")
		require.NoError(t, os.Chmod(w.path("../bin/"+name), 0o755))
	}
	split := func(env ...string) (string, error) {
		cmd := w.command("chat", "--split")
		cmd.Env = w.env(append(env, "PATH="+own+":"+os.Getenv("PATH"))...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct{ env, want string }{
		{"ZELLIJ=0", "zellij run --direction right --close-on-exit --cwd WS -- CHAT\nzellij action focus-previous-pane\n"},
		{"WEZTERM_PANE=3", "wezterm cli split-pane --right --pane-id 3 --cwd WS -- CHAT\nwezterm cli activate-pane --pane-id 3\n"},
		{"KITTY_WINDOW_ID=1", "kitten @ launch --location=vsplit --keep-focus --cwd WS CHAT\n"},
	} {
		w.put("../called", "")
		out, err := split(c.env)
		require.NoError(t, err, out)
		called := w.get("../called")
		require.Regexp(t, ` env CURSORD_SOCKET=\S+ .* \S+cursord chat --workspace `, called)
		chat := called[strings.Index(called, "env CURSORD_SOCKET="):strings.Index(called, " chat --workspace ")] + " chat --workspace " + w.ws
		require.Equal(t, c.want, strings.ReplaceAll(strings.Replace(called, chat, "CHAT", 1), w.ws, "WS"))
		out, err = split(c.env, "REFUSES=1")
		require.Error(t, err)
		require.Regexp(t, `cursord: \S+ opens no pane: exit status 1\nnot allowed\n`, out)
	}
	out, err := split()
	require.Error(t, err)
	require.Contains(t, out, `this is no pane of tmux, zellij, WezTerm or kitty: run "cursord chat" in a terminal beside this one`)
}
