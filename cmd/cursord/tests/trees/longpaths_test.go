//go:build unix

package trees

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// longPaths returns paths that are too long for a file, as a whole or in one name.
func longPaths() map[string]string {
	return map[string]string{
		"64 KiB": strings.Repeat("a/", 32<<10) + "f", "256 KiB": "/" + strings.Repeat("b/", 128<<10) + "f", "a name": "src/" + strings.Repeat("n", 300),
		"4097": strings.Repeat("c/", 2048) + "f", "dots": strings.Repeat("../", 32<<10) + "f", "one name": strings.Repeat("x", 64<<10),
	}
}

// TestPathsOfAgentsThatAreTooLong: an agent names such paths in calls of every kind.
func TestPathsOfAgentsThatAreTooLong(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", "one\n")
	w.Start()
	e := w.Opens()
	for name, path := range longPaths() {
		for _, isolation := range []string{"none", "copy"} {
			t.Run(name+" "+isolation, func(t *testing.T) {
				defer w.In(t, e)()
				call := func(id, state, tool, args, result string) string {
					return fmt.Sprintf(`{"type":"tool_call","subtype":%q,"call_id":%q,"tool_call":{%q:{"args":{%s},"result":{"success":{%s}}}}}`, state, id, tool, args, result)
				}
				both := func(tool, args, result string) []string {
					id := tool + args[:1]
					return []string{call(id, "started", tool, args, ""), call(id, "completed", tool, args, result)}
				}
				at := fmt.Sprintf(`"path":%q`, path)
				step := fmt.Sprintf(`{"toolCall":{"editToolCall":{"args":{%s},"result":{"success":{%s,"afterFullFileContent":"x"}}}}}`, at, at)
				lines := []string{strings.Replace(world.InitLine, `"cwd":"`, `"cwd":"`+strings.ReplaceAll(path, `"`, ""), 1)}
				for _, c := range [][]string{
					both("readToolCall", at, at), both("editToolCall", at, at+`,"afterFullFileContent":"x"`), both("writeToolCall", at+`,"fileText":"x"`, at),
					both("deleteToolCall", at, at), both("lsToolCall", at, ""), both("grepToolCall", at+`,"pattern":"x"`, ""),
					both("shellToolCall", fmt.Sprintf(`"command":"mv a.txt %s","workingDirectory":%q`, path, path), `"exitCode":0`),
					both("taskToolCall", `"description":"x"`, `"conversationSteps":[`+step+`]`),
					both("applyAgentDiffToolCall", `"x":1`, fmt.Sprintf(`"appliedChanges":[{%s,"changeType":"edit","afterContent":"x"}]`, at)),
					both("mcpToolCall", at, ""), both("readLintsToolCall", fmt.Sprintf(`"paths":[%q,%q]`, path, path+"2"), ""),
				} {
					lines = append(lines, c...)
				}
				w.Plays(append(lines, `{"fake":"write","path":"a.txt","text":"two `+name+isolation+`\n"}`, world.Succeeds("done"))...)
				var made struct{ Session *sessions.Session }
				e.Must("session/create", world.Obj{"workspace": w.Root, "isolation": isolation}, &made)
				turn := e.Turn(world.Obj{"sessionId": made.Session.ID})
				require.Equal(t, sessions.TurnCompleted, turn.Status)
				first := -1
				for _, it := range e.Items(turn.ID) {
					if it.Kind != sessions.ItemTool {
						continue
					}
					if first < 0 {
						first = it.Index
					}
					require.Equal(t, sessions.ItemCompleted, it.Status, "%+v", it.Tool.Title)
					for _, p := range it.Tool.Paths {
						require.Less(t, len(p), 300)
						require.Contains(t, p, " bytes)")
					}
				}
				require.Contains(t, strings.Join(e.Said(turn.ID, sessions.ItemNotice), "\n"), "is not listed for review")
				var whole struct{ Item *sessions.Item }
				e.Must("item/read", world.Obj{"itemId": sessions.ItemID(turn.ID, first)}, &whole)
				var args struct{ Path string }
				require.NoError(t, json.Unmarshal(whole.Item.Tool.Args, &args))
				require.True(t, args.Path == path)
			})
		}
	}
}

// TestPathsOfClientsThatAreTooLong sends such paths in every parameter that takes one.
func TestPathsOfClientsThatAreTooLong(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	for name, path := range longPaths() {
		if name == "1 MiB" {
			path = path[:64<<10]
		}
		for form, long := range map[string]string{"path": path, "uri": "file://" + w.Root + "/" + strings.ReplaceAll(path, "n", "%6e")} {
			for _, c := range []struct {
				method, field string
				params        world.Obj
			}{
				{"workspace/subscribe", "workspace", world.Obj{"workspace": long}},
				{"workspace/unsubscribe", "workspace", world.Obj{"workspace": long}},
				{"workspace/trust", "workspace", world.Obj{"workspace": long, "trusted": true}},
				{"session/create", "workspace", world.Obj{"workspace": long}},
				{"session/list", "workspace", world.Obj{"workspace": long}},
				{"session/import", "path", world.Obj{"path": long}},
				{"session/import", "workspace", world.Obj{"path": "/x", "workspace": long}},
				{"turn/start", "workspace", world.Obj{"workspace": long, "prompt": "x"}},
				{"turn/start", "context[0].path", world.Obj{"workspace": w.Root, "prompt": "x", "context": []world.Obj{{"kind": "file", "path": long}}}},
				{"diff/list", "workspace", world.Obj{"workspace": long}},
				{"diff/list", "path", world.Obj{"workspace": w.Root, "path": long}},
				{"diff/unified", "path", world.Obj{"workspace": w.Root, "path": long}},
				{"diff/accept", "path", world.Obj{"workspace": w.Root, "path": long}},
				{"diff/reject", "workspace", world.Obj{"workspace": long, "all": true}},
				{"diff/undo", "workspace", world.Obj{"workspace": long}},
				{"diff/redo", "workspace", world.Obj{"workspace": long}},
				{"diff/comment", "workspace", world.Obj{"workspace": long, "hunk": "x", "text": "x"}},
				{"agent/chats", "workspace", world.Obj{"workspace": long}},
				{"daemon/backup", "path", world.Obj{"path": long}},
				{"daemon/join", "program", world.Obj{"version": "1", "written": 1, "program": long}},
			} {
				failed := e.Fails(c.method, c.params)
				require.Equal(t, -32602, failed.Code, "%s %s %s: %s", c.method, name, form, failed.Message)
				require.Equal(t, c.field, failed.Data.Field, c.method)
				require.Less(t, len(failed.Message), 300)
			}
			for _, method := range []string{"document/didOpen", "document/didChange", "document/didSave", "document/didClose"} {
				require.NoError(t, e.Client.Notify(method, world.Obj{"uri": long, "version": 1, "text": "x"}))
			}
		}
	}
	e.Message("warning", "document/didOpen did nothing: uri: ")
}

// TestDeepPath: an agent writes a file below 500 folders. All work on a path must be about linear in its length.
func TestDeepPath(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", "one\n")
	w.Start()
	e := w.Opens()
	path := strings.Repeat("d/", 500) + "f"
	begun := fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"editToolCall":{"args":{"path":%q}}}}`, path)
	ended := fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"editToolCall":{"args":{"path":%q},"result":{"success":{"path":%q,"afterFullFileContent":"x\n"}}}}}`, path, path)
	w.Plays(world.InitLine, begun, fmt.Sprintf(`{"fake":"write","path":%q,"text":"x\n"}`, path), ended, world.Succeeds("done"))
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	require.Contains(t, e.Diffs(), path)
	require.Equal(t, 1, e.Decides("diff/reject", world.Obj{"path": path}).Applied)
	require.NoDirExists(t, w.Path("d"))
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "x\n", w.Get(path))
	e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, "x\n", w.Get(path))
}
