//go:build unix

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// Describe returns one string for each item of a turn.
func (e *Editor) Describe(turn string) (lines []string) {
	var items []*sessions.Item
	for _, n := range e.All() {
		if n.Method == "item/changed" && n.Item.TurnID == turn {
			for len(items) <= n.Item.Index {
				items = append(items, nil)
			}
			items[n.Item.Index] = n.Item
		}
	}
	for _, it := range items {
		if it == nil {
			lines = append(lines, "(missing)")
			continue
		}
		s := fmt.Sprintf("%s %s", it.Kind, it.Status)
		if tool := it.Tool; tool != nil {
			s += fmt.Sprintf(" %s/%s %q", tool.Name, tool.RawName, tool.CallID)
			if tool.ExitCode != nil {
				s += fmt.Sprintf(" exit=%d", *tool.ExitCode)
			}
			if tool.Output != "" {
				s += fmt.Sprintf(" out=%q", tool.Output)
			}
			if tool.Error != "" {
				s += fmt.Sprintf(" err=%q", tool.Error)
			}
			for _, todo := range tool.Todos {
				s += fmt.Sprintf(" todo=%s:%s:%s", todo.ID, todo.Content, todo.Status)
			}
		}
		if it.Text != "" {
			s += fmt.Sprintf(" %q", it.Text)
		}
		lines = append(lines, s)
	}
	return lines
}

// Exists waits until a command of the agent has made a file.
func (w *World) Exists(name string) {
	w.T.Helper()
	require.True(w.T, Comes(Patience, func() bool { _, err := os.Lstat(w.Path(name)); return err == nil }), "%s does not come", name)
}

// Calls waits until the daemon knows of a turn's first call.
func (e *Editor) Calls(turn string) {
	e.T.Helper()
	e.Until("a call", func(n Notification) bool {
		return n.Item != nil && n.Item.TurnID == turn && n.Item.Kind == sessions.ItemTool
	})
}

// OpenDocument opens a file of the workspace with the text on disk.
func (e *Editor) OpenDocument(path string) *Document {
	e.T.Helper()
	d := &Document{E: e, Path: path, Uri: "file://" + e.World.Path(path), Version: 1, Text: e.World.Get(path)}
	d.Note("document/didOpen", Obj{"text": d.Text})
	return d
}

// Isolates makes a session whose agent works in a copy.
func (e *Editor) Isolates() *sessions.Session {
	e.T.Helper()
	var out struct{ Session *sessions.Session }
	e.Must("session/create", Obj{"workspace": e.World.Root, "isolation": "copy"}, &out)
	require.Equal(e.T, "copy", out.Session.Isolation)
	return out.Session
}

// Ok runs one turn of a session to its good end.
func (e *Editor) Ok(s *sessions.Session) *sessions.Turn {
	e.T.Helper()
	turn := e.Turn(Obj{"sessionId": s.ID})
	require.Equal(e.T, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	return turn
}

// Turns returns the newest form of each turn that the editor has received.
func (e *Editor) Turns() (turns []*sessions.Turn) {
	seen := map[string]int{}
	for _, n := range e.All() {
		if n.Method != "turn/changed" || n.Removed {
			continue
		}
		i, ok := seen[n.Turn.ID]
		if !ok {
			i = len(turns)
			seen[n.Turn.ID] = i
			turns = append(turns, nil)
		}
		turns[i] = n.Turn
	}
	return turns
}

// Folder makes a folder beside the workspace.
func (w *World) Folder(name string) string {
	w.T.Helper()
	dir := filepath.Join(w.Dir, name)
	require.NoError(w.T, os.MkdirAll(dir, 0o755))
	return dir
}

// Trusts has the user trust a folder.
func (e *Editor) Trusts(dir string) {
	e.T.Helper()
	e.Must("workspace/trust", Obj{"workspace": dir, "trusted": true}, nil)
}

// Status asks the daemon about itself.
func (e *Editor) Status() (s api.Status) {
	e.T.Helper()
	e.Must("daemon/status", nil, &s)
	return s
}

// Reconnected waits until the editor has reconnected n times.
func (e *Editor) Reconnected(n int) {
	e.T.Helper()
	e.Until("another daemon", func(t Notification) bool {
		if t.Method == "log/message" && strings.Contains(t.Message, "connected to the cursord daemon again") {
			n--
		}
		return n == 0
	})
}

// WithoutLostText returns the editor's notifications, with each item's text cut to the part that was on disk when the daemon
// was killed.
func (e *Editor) WithoutLostText() []Notification {
	kept := map[string]int{}
	for _, n := range e.All() {
		if n.Method == "item/changed" && n.Item.Status != sessions.ItemRunning {
			kept[n.Item.ID] = len(n.Item.Text)
		}
	}
	var list []Notification
	for _, n := range e.All() {
		if n.Method == "item/delta" {
			if kept[n.ItemID] <= n.Offset {
				continue
			}
			n.Text = n.Text[:min(len(n.Text), kept[n.ItemID]-n.Offset)]
		}
		list = append(list, n)
	}
	return list
}

// Notices returns the notices of a turn as one text.
func (e *Editor) Notices(turn string) string {
	return strings.Join(e.Said(turn, sessions.ItemNotice), "\n")
}

// OpensWithoutTrust connects an editor that subscribes to the workspace.
func (w *World) OpensWithoutTrust() *Editor {
	e := w.Joins()
	e.Must("workspace/subscribe", Obj{"workspace": w.Root}, nil)
	return e
}

// DiffOf waits for a diff/changed of path behind mark for which fits returns true.
func (e *Editor) DiffOf(path string, mark int, what string, fits func(*sessions.Diff) bool) *sessions.Diff {
	e.T.Helper()
	n := 0
	return e.Until(what, func(t Notification) bool {
		n++
		return n > mark && t.Method == "diff/changed" && t.Diff.Path == path && fits(t.Diff)
	}).Diff
}

// An Editor is a client that keeps all notifications, in order.
type Editor struct {
	T      testing.TB
	World  *World
	Client *rpc.Client

	Mu   sync.Mutex
	More chan struct{} // closed and replaced at each notification
	Told []Notification
}

// Obj is a JSON object of a request.
type Obj = map[string]any

// Call makes a request and decodes its result, if result is not nil. It waits for Patience at most.
func (e *Editor) Call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return e.Client.Call(ctx, method, params, result)
}

// Must is Call for a request that may not fail.
func (e *Editor) Must(method string, params, result any) {
	e.T.Helper()
	require.NoError(e.T, e.Call(method, params, result), method)
}

// Fails calls and returns the error's code and data.
func (e *Editor) Fails(method string, params any) *rpc.Error {
	e.T.Helper()
	err := e.Call(method, params, nil)
	var failed *rpc.Error
	require.ErrorAs(e.T, err, &failed, method)
	return failed
}

// All returns the notifications so far.
func (e *Editor) All() []Notification {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.Told[:len(e.Told):len(e.Told)]
}

// Until waits for a notification, past or future, for which fits returns true. It waits on as long as other notifications
// come: on a busy machine a turn may take long, but its first notifications come soon.
func (e *Editor) Until(what string, fits func(Notification) bool) Notification {
	e.T.Helper()
	last := time.Now().Add(10 * Patience)
	silence := time.NewTimer(Patience)
	defer silence.Stop()
	for seen := 0; ; {
		e.Mu.Lock()
		all, more := e.Told, e.More
		e.Mu.Unlock()
		for ; seen < len(all); seen++ {
			if fits(all[seen]) {
				return all[seen]
			}
		}
		select {
		case <-more:
			silence.Reset(min(Patience, time.Until(last)))
		case <-e.Client.Done():
			e.T.Fatalf("the connection ended while waiting for %s\n%s", what, e.transcript())
		case <-silence.C:
			e.T.Fatalf("waited in vain for %s\n%s", what, e.transcript())
		}
	}
}

// transcript returns the editor's last notifications. Only the last, so that a failed test does not print a flood.
func (e *Editor) transcript() string {
	const most = 40
	var b strings.Builder
	all := e.All()
	if len(all) > most {
		fmt.Fprintf(&b, "(%d more before)\n", len(all)-most)
		all = all[len(all)-most:]
	}
	for _, n := range all {
		line, _ := json.Marshal(n)
		fmt.Fprintf(&b, "%.400s\n", line)
	}
	return b.String()
}

// Asks starts a turn.
func (e *Editor) Asks(params Obj) *sessions.Turn {
	e.T.Helper()
	var started struct {
		Session *sessions.Session
		Turn    *sessions.Turn
	}
	all := Obj{"workspace": e.World.Root, "prompt": "do it"}
	for k, v := range params {
		all[k] = v
	}
	e.Must("turn/start", all, &started)
	return started.Turn
}

// Ends waits for a turn's last notification.
func (e *Editor) Ends(id string) *sessions.Turn {
	e.T.Helper()
	return e.Until("the end of turn "+id, func(n Notification) bool {
		return n.Turn != nil && n.Turn.ID == id && n.Turn.Status.Final()
	}).Turn
}

// Turn runs one turn to its end.
func (e *Editor) Turn(params Obj) *sessions.Turn {
	e.T.Helper()
	return e.Ends(e.Asks(params).ID)
}

// Diffs returns the pending diffs, by path.
func (e *Editor) Diffs() map[string]*sessions.Diff {
	e.T.Helper()
	var list struct{ Diffs []*sessions.Diff }
	e.Must("diff/list", Obj{"workspace": e.World.Root}, &list)
	byPath := map[string]*sessions.Diff{}
	for _, d := range list.Diffs {
		byPath[d.Path] = d
	}
	return byPath
}

// Decides accepts or rejects.
func (e *Editor) Decides(method string, params Obj) api.Decided {
	e.T.Helper()
	params["workspace"] = e.World.Root
	var out api.Decided
	e.Must(method, params, &out)
	return out
}

// Items returns the newest form of a turn's items, in order. It checks that the deltas of each item add up to its text.
func (e *Editor) Items(turn string) []*sessions.Item {
	e.T.Helper()
	var items []*sessions.Item
	grown := map[string][]byte{}
	for _, n := range e.All() {
		switch {
		case n.Method == "item/delta" && n.TurnID == turn:
			require.Equal(e.T, len(grown[n.ItemID]), n.Offset, "offset of a delta of %s", n.ItemID)
			grown[n.ItemID] = append(grown[n.ItemID], n.Text...)
		case n.Method == "item/changed" && n.Item.TurnID == turn:
			for len(items) <= n.Item.Index {
				items = append(items, nil)
			}
			if old := items[n.Item.Index]; old == nil || n.Item.Text == "" {
				delete(grown, n.Item.ID)
			}
			if n.Item.Kind == sessions.ItemAssistant || n.Item.Kind == sessions.ItemThinking {
				require.Equal(e.T, n.Item.Text, string(grown[n.Item.ID]), "deltas and text of %s", n.Item.ID)
			}
			items[n.Item.Index] = n.Item
		}
	}
	return items
}

// Said returns the texts of a turn's items of one kind.
func (e *Editor) Said(turn string, kind sessions.ItemKind) (texts []string) {
	e.T.Helper()
	for _, item := range e.Items(turn) {
		if item.Kind == kind {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

// Message waits for a log/message.
func (e *Editor) Message(level, part string) {
	e.T.Helper()
	e.Until("the message "+part, func(n Notification) bool {
		return n.Method == "log/message" && n.Level == level && strings.Contains(n.Message, part)
	})
}

// Says waits for text of the agent, in one delta or several.
func (e *Editor) Says(text string) {
	e.T.Helper()
	said := map[string]string{}
	e.Until("the agent to say "+text, func(n Notification) bool {
		if n.Method != "item/delta" {
			return false
		}
		said[n.ItemID] += n.Text
		return n.Text == text || len(n.Text) < len(text) && strings.HasSuffix(said[n.ItemID], text)
	})
}
