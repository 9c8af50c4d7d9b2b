package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/paths"
	"cursord/editors/lsp/client"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// A desk is a server with one folder that nothing answers, for tests of questions.
type desk struct {
	*Server
	t       *testing.T
	sent    bytes.Buffer
	w       *workspace
	uri     string
	version int
	pause   func() // the person does nothing for a while
}

func newDesk(t *testing.T, editor string) *desk {
	dir := t.TempDir()
	d := &desk{t: t, uri: paths.URI(filepath.Join(dir, "f")), pause: func() {}}
	d.Server = newServer(t.Context(), &d.sent, Options{Version: "test", StateDir: filepath.Join(dir, "state"), Dial: newSilent, Log: slog.New(slog.DiscardHandler)})
	d.client = client.New(&client.Capabilities{})
	d.client.Name, d.client.Questions = editor, true
	d.phase, d.roots = serving, []string{paths.URI(dir)}
	d.typing.After = func(_ time.Duration, f func()) *time.Timer { d.pause = f; return nil }
	d.begin()
	t.Cleanup(func() { d.daemon.client.Close() })
	d.w = d.folders[0]
	var open protocol.DidOpenParams
	open.TextDocument.URI, open.TextDocument.Text = d.uri, "one\ntwo\n"
	d.didOpen(&open)
	return d
}

// types changes the text.
func (d *desk) types() {
	d.version++
	var change protocol.DidChangeParams
	require.NoError(d.t, json.Unmarshal(fmt.Appendf(nil, `{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"text":"one\ntwo%s\n"}]}`, d.uri, d.version, "!!!!!!!!"[:d.version]), &change))
	d.didChange(&change)
}

// hears brings a state of what the agent asks: a permission for make, or for another command.
func (d *desk) hears(id, status, more string) {
	d.heard("approval/changed", fmt.Appendf(nil, `{"workspace":%q,"seq":1,"approval":{"id":%q,"turnId":"t","sessionId":"s","workspace":%[1]q,"kind":"permission","title":"Run",
		"command":"make","text":false,"status":%[3]q,"options":[{"id":"y","label":"Yes","kind":"allowOnce"},{"id":"n","label":"No","kind":"rejectOnce"}]%[4]s}}`, d.w.path, id, status, more))
}

// onScreen returns the request that shows a question; "" if none does.
func (d *desk) onScreen(id string) string { return d.w.asks.Get(id).Request }

// replies answers a request of the server.
func (d *desk) replies(request, result string) {
	d.take(rpc.Message{ID: json.RawMessage(request), Result: json.RawMessage(result)})
}

// does runs a command as the editor's user.
func (d *desk) does(command string) {
	d.take(rpc.Message{ID: json.RawMessage("7"), Method: "workspace/executeCommand", Params: fmt.Appendf(nil, `{"command":%q}`, command)})
}

// TestQuestionsWaitForAPauseInTyping: a question comes up when nobody types. One that was closed comes once more after the next pause,
// and a diagnostic tells of it until it is answered.
func TestQuestionsWaitForAPauseInTyping(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.types()
	d.hears("a-t", "pending", "")
	require.Empty(t, d.onScreen("a-t"))
	late := d.pause
	d.types()
	late() // the timer of a change before the last one
	require.Empty(t, d.onScreen("a-t"))
	d.pause()
	require.NotEmpty(t, d.onScreen("a-t"))
	require.Empty(t, d.diagnosticsAt(d.w, d.uri))

	d.replies(d.onScreen("a-t"), "null")
	list := d.diagnosticsAt(d.w, d.uri)
	require.Len(t, list, 1)
	require.Equal(t, "the agent waits for your answer (cursord.approvals): $ make", list[0].Message)
	require.Equal(t, 1, list[0].Range.Start.Line)
	d.pause()
	require.Empty(t, d.onScreen("a-t"), "somebody who has typed nothing since has not typed it away")
	d.types()
	require.Empty(t, d.onScreen("a-t"))
	d.pause()
	require.NotEmpty(t, d.onScreen("a-t"), "it comes once more")
	d.replies(d.onScreen("a-t"), `{"title":"Look again later"}`)
	d.types()
	d.pause()
	require.Empty(t, d.onScreen("a-t"))
	require.Len(t, d.diagnosticsAt(d.w, d.uri), 1)

	d.does("cursord.allow")
	require.NotEmpty(t, d.onScreen("a-t"), "cursord.allow is no answer to it, and puts it again")
	d.hears("a-t", "answered", "")
	require.Nil(t, d.w.asks.Get("a-t"))
	require.Empty(t, d.diagnosticsAt(d.w, d.uri))
}

// TestNoQuestionComesAboveAnother: keys that are meant for a popup would answer one that opens above it. So the next one comes when the
// editor has answered, also if the question had ended, and after a pause.
func TestNoQuestionComesAboveAnother(t *testing.T) {
	t.Parallel()
	for editor, piles := range map[string]bool{"helix": false, "": false, "Visual Studio Code": true} {
		d := newDesk(t, editor)
		d.does("cursord.allow")
		d.hears("a-t", "pending", "")
		require.Empty(t, d.onScreen("a-t"), "a command is a sign of the person, too")
		d.pause()
		first := d.onScreen("a-t")
		require.NotEmpty(t, first)
		d.hears("a-t", "answered", "")
		d.hears("b-t", "pending", "")
		require.Equal(t, piles, d.onScreen("b-t") != "", editor)
		d.pause()
		require.Equal(t, piles, d.onScreen("b-t") != "", editor)
		if piles {
			continue // its messages take no keys
		}
		d.replies(first, "null")
		require.Empty(t, d.onScreen("b-t"))
		d.pause()
		require.NotEmpty(t, d.onScreen("b-t"))
		d.hears("c-t", "pending", "")
		d.replies(d.onScreen("b-t"), `{"title":"Only remind me"}`)
		for _, id := range []string{"c-t", "b-t"} { // the command puts what was put longest ago, one at a time
			d.does("cursord.allow")
			require.NotEmpty(t, d.onScreen(id))
			d.replies(d.onScreen(id), "null")
		}
	}
}

// TestAnswersThatComeTooLate: an answer to a question that has ended says so, and how it ended; closing it says nothing.
func TestAnswersThatComeTooLate(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"title":"Yes"}`: `cursord: too late for \"Yes\": it was already answered with No`, `null`: "", `{"title":"Look again later"}`: "", `{"title":"Only remind me"}`: "",
	} {
		d := newDesk(t, "")
		d.hears("a-t", "pending", "")
		d.pause()
		request := d.onScreen("a-t")
		d.hears("a-t", "answered", `,"answer":{"optionId":"n"}`)
		d.sent.Reset()
		d.replies(request, answer)
		if want == "" {
			require.Empty(t, d.sent.String())
			continue
		}
		require.Contains(t, d.sent.String(), want)
	}
}
