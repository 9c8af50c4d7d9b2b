//go:build unix

package lsp

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPCompletion completes files, sessions and modes in the file of a prompt, and nothing in other files. The files that
// a prompt names are sent along.
func TestLSPCompletion(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.go", "a @\n")
	w.Put("src/main.go", "m\n")
	w.Put("src/Größe.md", "g\n")
	trusted(w)
	w.Plays(world.Streams("ok"), world.Done)
	can := world.LSPCapabilities()
	can["textDocument"].(world.Obj)["completion"] = world.Obj{}
	c := lspProcess(w)
	require.Contains(t, c.initialize(can, world.Obj{"completion": true})["capabilities"], "completionProvider")
	a := c.opens("a.go")
	c.does("cursord.ask", "first")
	c.hears("window/showMessage", "done")
	c.does("cursord.compose", world.Obj{"uri": a.uri})
	uri, _ := c.shown(0, "PROMPT.md")
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	d := c.opensFile(uri, string(raw))

	type list struct {
		IsIncomplete bool
		Items        []struct {
			Label    string
			SortText string
			TextEdit struct {
				Range   struct{ Start, End struct{ Line, Character int } }
				NewText string
			}
		}
	}
	at := func(doc *langDoc, line, character int) (l *list) {
		c.must("textDocument/completion", world.Obj{"textDocument": world.Obj{"uri": doc.uri}, "position": world.Obj{"line": line, "character": character}}, &l)
		return l
	}
	for _, one := range []struct {
		line string // the cursor is at its end
		from int    // the column at which the completion begins
		want []string
		nil  bool
	}{
		{line: "@", from: 1, want: []string{"a.go", "src/Größe.md", "src/main.go"}},
		{line: "look at @MAI", from: 9, want: []string{"src/main.go"}},
		{line: "ä (@src/", from: 5, want: []string{"src/Größe.md", "src/main.go"}},
		{line: "@nothing", from: 1, want: nil},
		{line: "me@src", nil: true},
		{line: "plain", nil: true},
		{line: "", nil: true},
		{line: "# file: s", from: 8, want: []string{"src/Größe.md", "src/main.go"}},
		{line: "#file:", from: 6, want: []string{"a.go", "src/Größe.md", "src/main.go"}},
		{line: "# mode: a", from: 8, want: []string{"agent", "ask", "plan"}},
	} {
		d.sets("\n" + one.line)
		l := at(d, 1, len(one.line)) // the client counts bytes
		if one.nil {
			require.Nil(t, l, one.line)
			continue
		}
		require.NotNil(t, l, one.line)
		var labels []string
		for _, item := range l.Items {
			labels = append(labels, item.Label)
			require.Equal(t, item.Label, item.TextEdit.NewText)
			require.Equal(t, []int{1, one.from, 1, len(one.line)}, []int{
				item.TextEdit.Range.Start.Line, item.TextEdit.Range.Start.Character, item.TextEdit.Range.End.Line, item.TextEdit.Range.End.Character}, one.line)
		}
		require.Equal(t, one.want, labels, one.line)
	}
	d.sets("# session: ")
	l := at(d, 0, 11)
	require.Len(t, l.Items, 2)
	require.Equal(t, "new", l.Items[0].Label)
	require.Nil(t, at(a, 0, 3), "not in other files")

	// Named files are sent along, once. A name without a file is just text.
	d.sets("see @src/main.go, @src/main.go and @src/Größe.md:2-3; me@a.go, @nobody (@a.go)\n")
	mark := c.mark()
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "done")
	head, _, _ := strings.Cut(w.Runs()[1].Prompt, "</context>")
	require.Equal(t, "<context>\n<file path=\"src/main.go\" />\n<file path=\"src/Größe.md\" lines=\"2-3\" />\n<file path=\"a.go\" />\n", head)

	// An editor that takes registrations asks in that file only. Another one asks only if its settings say so.
	can["textDocument"].(world.Obj)["completion"] = world.Obj{"dynamicRegistration": true}
	other := lspProcess(w)
	require.NotContains(t, other.initialize(can, nil)["capabilities"], "completionProvider")
	other.hears("client/registerCapability", "textDocument/completion", "**/PROMPT.md")
	can["textDocument"].(world.Obj)["completion"] = world.Obj{}
	third := lspProcess(w)
	require.NotContains(t, third.initialize(can, nil)["capabilities"], "completionProvider")
}
