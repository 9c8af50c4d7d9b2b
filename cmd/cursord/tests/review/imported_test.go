//go:build unix

package review

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// whyLines returns, by line of a file, the prompt that it comes from; "" for none.
func whyLines(e *world.Editor, path string) (prompts []string) {
	e.T.Helper()
	var out struct{ Lines []api.WhyLine }
	e.Must("file/why", world.Obj{"workspace": e.World.Root, "path": path}, &out)
	for _, l := range out.Lines {
		prompt := ""
		if l.Source != nil {
			require.EqualValues(e.T, "accepted", l.Source.State)
			require.NotEmpty(e.T, l.Source.ItemID)
			prompt = l.Source.Prompt
		}
		for range l.To - l.From {
			prompts = append(prompts, prompt)
		}
	}
	return prompts
}

// TestSourcesOfAnImport: an export says what its session has written in the files, and an import tells the same files elsewhere.
func TestSourcesOfAnImport(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{3: "the agent's line 3\n", 7: "the agent's line 7\nmore\n"})
	w.Put("dir/f", before)
	w.Put("g", "1\n2\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c1", "dir/f", before, after), world.Edits("c2", "g", "1\n2\n", "1\nthe agent's in g\n2\n"))...)
	turn := e.Turn(world.Obj{"prompt": "first"})
	w.Plays(world.Lines(world.Edits("c3", "dir/f", after, strings.Replace(after, "line 1\n", "the second line 1\n", 1)))...)
	e.Turn(world.Obj{"prompt": "second", "sessionId": turn.SessionID})
	e.Decides("diff/accept", world.Obj{"all": true})
	file := w.Path("../session.ndjson")
	w.CursordOK("export", turn.SessionID, "--format", "ndjson", "-o", file)
	want := whyLines(e, "dir/f")
	require.Equal(t, []string{"second", "", "first", "", "", "", "first", "first"}, want[:8])
	text := w.Get("dir/f")

	for name, one := range map[string]struct {
		newIDs bool
		text   string
		want   []string
	}{
		"the same file":   {false, text, want},
		"with new ids":    {true, text, want},
		"a person's line": {false, "mine\n" + text, append([]string{""}, want...)},
		"another file":    {false, before + "the agent's line 3\n", make([]string, 10)},
		"no file":         {false, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := world.New(t)
			if one.text != "" {
				there.Put("dir/f", one.text)
			}
			there.Put("g", "1\nthe agent's in g\n2\n")
			there.Start()
			e := there.Opens()
			var imported rpc.SessionResult
			e.Must("session/import", world.Obj{"path": file, "workspace": there.Root, "newIds": one.newIDs}, &imported)
			require.Equal(t, one.newIDs, imported.Session.ID != turn.SessionID)
			for range 2 {
				if one.want == nil {
					require.Equal(t, -32001, e.Fails("file/why", world.Obj{"workspace": there.Root, "path": "dir/f"}).Code)
				} else {
					require.Equal(t, one.want, whyLines(e, "dir/f"))
				}
				require.Equal(t, []string{"", "first", ""}, whyLines(e, "g"))
				require.Empty(t, e.Diffs(), "nothing is to review")
				there.Kill()
				there.Start()
				e = there.Opens()
			}
			var turns rpc.TurnList
			e.Must("turn/list", world.Obj{"sessionId": imported.Session.ID}, &turns)
			first := turns.Turns[len(turns.Turns)-1]
			require.Equal(t, "first", first.Prompt)
			tree := there.Get("g")
			e.Must("session/rewind", world.Obj{"sessionId": imported.Session.ID, "turnId": first.ID}, nil)
			require.Equal(t, tree, there.Get("g"), "a rewind takes nothing out whose past it does not know")
		})
	}
}

// TestShortLinesOfAnImport: of files that are as they were exported, why knew only lines that tell, and none that two turns had written between
// each other. A rewind said that these files were changed since.
func TestShortLinesOfAnImport(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("main.go", "package main\n\nfunc main() {\n}\n")
	w.Start()
	e := w.Opens()
	before, first, second := "a\n", "a\nb\nif x {\n}\n", "a\nb\nc\nif x {\ny\n}\n"
	w.Put("lib.go", before)
	w.Plays(world.Lines(
		world.Edits("c1", "main.go", w.Get("main.go"), "package main\n\nimport \"fmt\"\n\nfunc main() {\n}\n"), world.Edits("c2", "lib.go", before, first),
		world.Edits("c3", "notes.txt", "", "one\n"))...)
	turn := e.Turn(world.Obj{"prompt": "first"})
	w.Plays(world.Lines(world.Edits("c4", "lib.go", first, second), world.Edits("c5", "notes.txt", "one\n", "one\nfour\n"))...)
	e.Turn(world.Obj{"prompt": "second", "sessionId": turn.SessionID})
	e.Decides("diff/accept", world.Obj{"all": true})
	file := w.Path("../session.ndjson")
	w.CursordOK("export", turn.SessionID, "--format", "ndjson", "-o", file)

	there := world.New(t)
	paths := []string{"main.go", "lib.go", "notes.txt"}
	for _, path := range paths {
		there.Put(path, w.Get(path))
	}
	there.Start()
	other := there.Opens()
	there.CursordOK("import", "-w", there.Root, file)
	for _, path := range paths {
		require.Equal(t, whyLines(e, path), whyLines(other, path), path)
	}
	require.Equal(t, []string{"first", "second"}, whyLines(other, "notes.txt"))
	_, left, status := there.Cursord("rewind", "--dry-run", "--turn", turn.ID, turn.SessionID)
	require.Zero(t, status, left)
	for _, path := range paths {
		require.Contains(t, left, "left "+path+": the session was imported, and an export does not have what its lines replaced\n")
	}
	require.NotContains(t, left, "changed since")
}

// TestSourcesOfAnImportedFork: the lines of the turns that had come with a fork were nobody's after an import.
func TestSourcesOfAnImportedFork(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(world.Edits("c1", "f", "", "a\nb\n")...)
	turn := e.Turn(world.Obj{"prompt": "first"})
	var made rpc.SessionResult
	e.Must("session/fork", world.Obj{"sessionId": turn.SessionID}, &made)
	w.Plays(world.Edits("c2", "f", "a\nb\n", "a\nb\nlater\n")...)
	e.Turn(world.Obj{"prompt": "not the fork's", "sessionId": turn.SessionID})
	w.Plays(world.Edits("c3", "f", "a\nb\nlater\n", "a\nb\nlater\nc\n")...)
	e.Turn(world.Obj{"prompt": "in the fork", "sessionId": made.Session.ID})
	e.Decides("diff/accept", world.Obj{"all": true})
	file := w.Path("../session.ndjson")
	w.CursordOK("export", made.Session.ID, "--format", "ndjson", "-o", file)
	there := world.New(t)
	there.Put("f", w.Get("f"))
	there.Start()
	there.CursordOK("import", "--new-ids", "-w", there.Root, file)
	require.Equal(t, []string{"first", "first", "", "in the fork"}, whyLines(there.Opens(), "f"))
}

// TestAnImportIsToldOfRejections: an export had nothing of what was rejected, so the agent that goes on elsewhere did not hear of it.
func TestAnImportIsToldOfRejections(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	w.Put("g", "1\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c1", "f", "1\n", "rejected\n"), world.Edits("c2", "g", "1\n", "taken back\n"))...)
	turn := e.Turn(nil)
	e.Decides("diff/reject", world.Obj{"path": "f", "comment": "not </remarks> so"})
	e.Decides("diff/reject", world.Obj{"path": "g"})
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	file := w.Path("../session.ndjson")
	w.CursordOK("export", turn.SessionID, "--format", "ndjson", "-o", file)

	there := world.New(t)
	there.Start()
	there.CursordOK("import", "-w", there.Root, file)
	there.Kill()
	there.Start()
	other := there.Opens()
	there.Plays(world.Lines()...)
	for _, told := range []bool{true, false} {
		other.Turn(world.Obj{"sessionId": turn.SessionID, "recap": told})
		runs := there.Runs()
		text := runs[len(runs)-1].Prompt
		require.Equal(t, told, strings.Contains(text, "the user rejected your change of f, line 1\n"), text)
		require.Equal(t, told, strings.Contains(text, "not < /remarks> so"), text)
		require.NotContains(t, text, "your change of g")
	}
	require.Equal(t, -32001, other.Fails("diff/undo", world.Obj{"workspace": there.Root}).Code, "there is no decision to take back")
}

// TestSourcesThatAFileMakesUp: what a file of somebody else's says is only taken for files of the workspace and turns of the session.
func TestSourcesThatAFileMakesUp(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\nb\n")
	w.Put("../outside", "a\nb\n")
	require.NoError(t, os.Symlink(w.Path("../outside"), w.Path("link")))
	w.Start()
	e := w.Opens()
	at := sessions.Now()
	lines := func(path, turn string) api.ExportLine {
		return api.ExportLine{ExportPart: api.ExportPart{Written: &api.WrittenFile{Path: path, Lines: []api.WrittenLines{{TurnID: turn, ItemID: turn + ":0", Via: "edit", Text: []string{"a", "b"}}}}}}
	}
	all := []api.ExportLine{
		{Session: &sessions.Session{ID: "s", Workspace: w.Root, Mode: sessions.ModeAgent, Turns: 1, CreatedAt: at, UpdatedAt: at}},
		{ExportPart: api.ExportPart{Turn: &sessions.Turn{ID: "t", SessionID: "s", Prompt: "p", Mode: sessions.ModeAgent, Status: sessions.TurnCompleted, CreatedAt: at, StartedAt: &at}}},
		lines("f", "other"),
	}
	for _, path := range []string{"../outside", w.Path("../outside"), "link", "", ".", "a\x00b", "http://x/f", strings.Repeat("x/", 5000), "missing"} {
		all = append(all, lines(path, "t"))
	}
	all = append(all, api.ExportLine{End: &api.ExportEnd{Turns: 1}})
	w.WritesExport(w.Path("../made-up"), all...)
	e.Must("session/import", world.Obj{"path": w.Path("../made-up"), "workspace": w.Root}, nil)
	require.Equal(t, []string{"", ""}, whyLines(e, "f"))
	require.Empty(t, e.Diffs())
	require.Equal(t, "a\nb\n", w.Get("../outside"))
	require.NotContains(t, fmt.Sprint(w.CursordOK("status", "--json")), "outside")
}
