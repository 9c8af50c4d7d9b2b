//go:build unix

package lsp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// trusted trusts the world's folder and returns an editor that speaks the native protocol.
func trusted(w *world.World) *world.Editor {
	w.T.Helper()
	_, stderr, status := w.Cursord("trust", w.Root)
	require.Zero(w.T, status, stderr)
	return w.Joins()
}

// shown waits until the server asks to show a file whose name has that part, and returns its URI and line.
func (c *langClient) shown(mark int, name string) (uri string, line int) {
	c.t.Helper()
	m := c.hearsAfter(mark, "window/showDocument", name)
	var p struct {
		URI       string
		TakeFocus bool
		Selection api.Range
	}
	require.True(c.t, json.Unmarshal(m.Params, &p) == nil)
	require.True(c.t, p.TakeFocus)
	return p.URI, p.Selection.Start.Line
}

// TestLSPCompose writes prompts of several lines in a file that is sent when it is saved, whether the editor reports saves
// or not.
func TestLSPCompose(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.go", "one\ntwo\nthree\nfour\n")
	w.Put("b.go", "b\n")
	trusted(w)
	w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, world.Done)
	c := lsp(w, world.LSPCapabilities(), nil)
	a := c.opens("a.go")
	b := c.opens("b.go")
	// Each case is an action of the user in the file and the prompt that the agent gets.
	at := world.Obj{"start": world.Obj{"line": 1, "character": 0}, "end": world.Obj{"line": 3, "character": 0}}
	for i, one := range []struct {
		name   string
		opened bool // the editor serves that file
		write  func(template string) string
		want   string // "" nothing is sent
	}{
		{name: "selection", opened: true,
			write: func(s string) string { return "do it\n\n# a heading\nand more" + s },
			want: "<context>\n<selection path=\"a.go\" lines=\"2-3\">\ntwo\nthree\n</selection>\n<file path=\"b.go\" />\n</context>\n\n" +
				"do it\n\n# a heading\nand more"},
		{name: "not told of", write: func(s string) string { return "again" + strings.Replace(s, "# file: b.go\n", "", 1) },
			want: "<context>\n<selection path=\"a.go\" lines=\"2-3\">\ntwo\nthree\n</selection>\n</context>\n\nagain"},
		{name: "other lines", opened: true,
			write: func(s string) string {
				head, _, _ := strings.Cut(s, "# file:")
				return "x" + head + "# file: b.go:1\n# file: c d.txt\n"
			},
			want: "<context>\n<file path=\"b.go\" lines=\"1\" />\n<file path=\"c d.txt\" />\n</context>\n\nx"},
		{name: "all below is gone", opened: true, write: func(string) string { return "alone\r\n" }, want: "alone"},
		{name: "empty", opened: true, write: func(s string) string { return "\n  \n" + s }},
		{name: "empty, not told of", write: func(s string) string { return "\n" + s }},
	} {
		t.Run(one.name, func(t *testing.T) {
			mark, runs := c.mark(), len(w.Runs())
			c.does("cursord.compose", world.Obj{"uri": a.uri, "range": at})
			uri, line := c.shown(mark, "PROMPT.md")
			require.Zero(t, line)
			file := strings.TrimPrefix(uri, "file://")
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(raw), "# file: a.go:2-3\n#     two\n#     three\n")
			require.True(t, strings.HasPrefix(string(raw), "\n\n# ---"), "it begins empty: %s", raw)
			text := one.write(strings.TrimPrefix(string(raw), "\n"))
			if one.opened {
				d := c.opensFile(uri, string(raw))
				d.sets(text)
				d.saves()
				d.closes()
			} else {
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			}
			if one.want == "" {
				c.hearsAfter(mark, "window/showMessage", "nothing sent")
				require.Len(t, w.Runs(), runs)
				return
			}
			c.hearsAfter(mark, "window/showMessage", "done")
			require.Equal(t, one.want, w.Runs()[runs].Prompt)
			c.eventually("the file is empty again", func() bool { left, err := os.ReadFile(file); return err == nil && len(left) == 0 })
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode(), "prompts are nobody else's")
			if i > 0 {
				require.Contains(t, strings.Join(w.Runs()[runs].Args, " "), "--resume", "the same session goes on")
			}
		})
	}
	b.closes()
}

// TestLSPComposeKeepsDrafts: a prompt that was written and not sent is there again.
func TestLSPComposeKeepsDrafts(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.go", "one\n")
	c := lsp(w, world.LSPCapabilities(), nil)
	c.answering(func(m rpc.Message) any {
		if m.Method == "window/showMessageRequest" {
			return map[string]any{"title": "Deny"}
		}
		return nil
	})
	// The folder is not trusted: the prompt is denied, and kept.
	c.does("cursord.ask", "a long", "thought")
	c.hears("window/showMessage", "denied")
	require.Empty(t, w.Runs())
	c.does("cursord.compose")
	uri, _ := c.shown(0, "PROMPT.md")
	file := strings.TrimPrefix(uri, "file://")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(raw), "a long thought\n"))
	// The prompt is saved, denied again, and opened again while its file is open.
	d := c.opensFile(uri, string(raw))
	d.sets("a longer thought\n" + strings.TrimPrefix(string(raw), "a long thought\n"))
	mark := c.mark()
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "denied")
	mark = c.mark()
	c.does("cursord.compose")
	c.shown(mark, "PROMPT.md")
	require.True(t, strings.HasPrefix(d.now(), "a longer thought\n"))
	require.Equal(t, 1, strings.Count(d.now(), ">8"))
	// Once the folder is trusted, the prompt is sent.
	c.does("cursord.trust")
	c.hears("window/showMessage", "cursord: trusted ")
	d.saves()
	c.hears("window/showMessage", "done")
	require.Equal(t, "a longer thought", w.Runs()[0].Prompt)
	// A second save does not send it again.
	mark = c.mark()
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "sent already")
	// The next prompt begins empty, though the file is still open.
	mark = c.mark()
	c.does("cursord.compose")
	c.shown(mark, "PROMPT.md")
	require.True(t, strings.HasPrefix(d.now(), "\n\n# ---"), d.now())
}

// TestLSPAsk sends one-line prompts with their context.
func TestLSPAsk(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.go", "one\n𝄞 two\nthree\n")
	w.Put("sub/b.go", "b\n")
	trusted(w)
	w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, world.Done)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"model": "m1"})
	a := c.opens("a.go")
	at := func(from, to [2]int) world.Obj {
		return world.Obj{"start": world.Obj{"line": from[0], "character": from[1]}, "end": world.Obj{"line": to[0], "character": to[1]}}
	}
	c.must("textDocument/codeAction", world.Obj{"textDocument": world.Obj{"uri": a.uri}, "range": at([2]int{1, 5}, [2]int{1, 8}), "context": world.Obj{"diagnostics": []world.Obj{}}}, nil)
	selection := "<context>\n<selection path=\"a.go\" lines=\"2\">\ntwo\n</selection>\n</context>\n\n"
	diagnostic := world.Obj{"range": at([2]int{2, 0}, [2]int{2, 5}), "severity": 1, "source": "vet", "message": "odd\nindeed", "code": 7}
	for _, one := range []struct {
		name    string
		does    func()
		prompt  string
		args    string // of the agent
		isFresh bool   // a new session
	}{
		{name: "a word", does: func() { c.does("cursord.ask", "fix it") }, prompt: selection + "fix it", args: "--model m1", isFresh: true},
		{name: "words", does: func() { c.does("cursord.ask", "fix", "it", "now") }, prompt: selection + "fix it now"},
		{name: "an object", does: func() {
			c.does("cursord.ask", world.Obj{"prompt": "q", "mode": "ask", "model": "m2", "path": "a.go", "line": 3})
		},
			prompt: "<context>\n<file path=\"a.go\" lines=\"3\" />\n</context>\n\nq", args: "--mode ask"},
		{name: "a new session", does: func() { c.does("cursord.new"); c.does("cursord.ask", "begin") }, prompt: selection + "begin", isFresh: true},
		{name: "fix", does: func() {
			c.choosesWith(a.uri, 2, "Ask agent to fix: odd…", world.Obj{"diagnostics": []world.Obj{diagnostic}})
		}, prompt: "<context>\n<diagnostics path=\"a.go\">\n3:1 error: odd\nindeed (vet)\n</diagnostics>\n</context>\n\nFix this diagnostic."},
		{name: "explain", does: func() {
			c.choosesWith(a.uri, 2, "Ask agent to explain: odd…", world.Obj{"diagnostics": []world.Obj{diagnostic}})
		}, prompt: "<context>\n<diagnostics path=\"a.go\">\n3:1 error: odd\nindeed (vet)\n</diagnostics>\n</context>\n\nExplain this diagnostic, and how it can be fixed. Change nothing.", args: "--mode ask"},
	} {
		t.Run(one.name, func(t *testing.T) {
			mark, runs := c.mark(), len(w.Runs())
			one.does()
			c.hearsAfter(mark, "window/showMessage", "done")
			run := w.Runs()[runs]
			require.Equal(t, one.prompt, run.Prompt)
			require.Contains(t, strings.Join(run.Args, " "), one.args)
			require.Equal(t, one.isFresh, !strings.Contains(strings.Join(run.Args, " "), "--resume"))
		})
	}
	// A prompt that cannot be sent is answered with an error at once.
	for _, one := range []struct {
		arguments []any
		want      string
	}{
		{nil, "prompt: is missing"},
		{[]any{"  "}, "prompt: is missing"},
		{[]any{3}, "arguments[0]: must be a string or an object"},
		{[]any{world.Obj{"prompt": 3}}, "arguments[0].prompt: must be a string"},
		{[]any{"x", world.Obj{"workspace": "/nowhere"}}, "workspace: /nowhere is not open here"},
		{[]any{"x", world.Obj{"mode": "sing"}}, ""},
	} {
		mark := c.mark()
		err := c.call("workspace/executeCommand", world.Obj{"command": "cursord.ask", "arguments": one.arguments}, nil)
		if one.want == "" {
			require.NoError(t, err)
			c.hearsAfter(mark, "window/showMessage", "mode: must be agent, ask or plan")
			continue
		}
		require.ErrorContains(t, err, one.want)
	}
	require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": "cursord.sing"}, nil), `there is no "cursord.sing"; there are cursord.accept`)
}

// TestLSPTrustWithoutQuestions: an editor that cannot show questions gets a message with the command instead.
func TestLSPTrustWithoutQuestions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.go", "one\n")
	can := world.LSPCapabilities()
	delete(can["window"].(world.Obj), "showMessage")
	c := lsp(w, can, world.Obj{"isolation": "copy"})
	a := c.opens("a.go")
	c.does("cursord.deny")
	c.hears("window/showMessage", "no prompt waits")
	c.does("cursord.ask", "one")
	c.hears("window/showMessage", "cursord.allow or")
	require.Equal(t, "Deny: do not let the agent work here", c.actions(a.uri, 0, nil)[0].Title)
	c.does("cursord.deny")
	c.hears("window/showMessage", "denied")
	require.Equal(t, "Ask agent about this line…", c.actions(a.uri, 0, nil)[0].Title)
	mark := c.mark()
	c.does("cursord.ask", "two")
	c.hearsAfter(mark, "window/showMessage", "cursord.allow or")
	c.does("cursord.ask", "three")
	c.does("cursord.allow")
	c.hears("window/showMessage", "cursord: trusted ")
	c.eventually("both were sent", func() bool { return len(w.Runs()) == 2 })
	require.True(t, strings.HasSuffix(w.Runs()[0].Prompt, "two"))
	require.True(t, strings.HasSuffix(w.Runs()[1].Prompt, "three"))
	var list struct{ Sessions []struct{ Turns int } }
	e := w.Joins()
	e.Must("session/list", world.Obj{"workspace": w.Root}, &list)
	require.Len(t, list.Sessions, 1, "what was denied has left nothing, and what comes together goes together")
	require.Equal(t, 2, list.Sessions[0].Turns)
}
