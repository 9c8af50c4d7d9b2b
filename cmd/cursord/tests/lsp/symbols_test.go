//go:build unix

package lsp

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

type langSymbol struct {
	Name          string
	ContainerName string
	Location      struct {
		URI   string
		Range struct{ Start struct{ Line int } }
	}
}

// line returns the line of a file that the symbol names.
func (s langSymbol) line(t testing.TB) string {
	t.Helper()
	raw, err := os.ReadFile(strings.TrimPrefix(s.Location.URI, "file://"))
	require.NoError(t, err)
	return strings.Split(string(raw), "\n")[s.Location.Range.Start.Line]
}

func (c *langClient) symbols(query string) (list []langSymbol) {
	c.t.Helper()
	c.must("workspace/symbol", world.Obj{"query": query}, &list)
	require.NotNil(c.t, list, "an empty list, not null")
	return list
}

func namesOf(list []langSymbol) (names []string) {
	for _, one := range list {
		names = append(names, one.Name)
	}
	return names
}

// TestLSPSymbols finds sessions and places in transcripts: by titles, by beginnings of words while a person types, by phrases.
// Each is a line of a file that is there when the answer comes, and that follows the session.
func TestLSPSymbols(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	trusted(w)
	w.Plays(world.InitLine, world.Says("Two words.\nThe peculiar case\nis done.\n", ""), world.Done)
	c := lsp(w, world.LSPCapabilities(), nil)
	require.Empty(t, c.symbols(""))
	require.Empty(t, c.symbols("peculiar"))
	c.turn()
	for _, query := range []string{"pecu", "PECULIAR", `"peculiar case is"`, "done words"} {
		list := c.symbols(query)
		require.Equal(t, []string{"agent: Two words. The peculiar case is done."}, namesOf(list), query)
		require.Equal(t, "do it", list[0].ContainerName)
		if query != "done words" {
			require.Equal(t, "The peculiar case", list[0].line(t), query)
		}
	}
	for _, query := range []string{"", "do i"} {
		list := c.symbols(query)
		require.Equal(t, "session: do it", list[0].Name, query)
		require.Equal(t, "# do it", list[0].line(t))
	}
	for _, query := range []string{"absent", `"case peculiar"`, "?!", strings.Repeat("x", 5000)} {
		require.Empty(t, c.symbols(query), "%.10s", query)
	}

	// The file of a session that goes on is written anew, and what it names can be followed.
	w.Plays(world.InitLine, world.Says("Another peculiar one: f:1\n", ""), world.Done)
	c.turn()
	list := c.symbols("peculiar")
	require.Equal(t, []string{"agent: Another peculiar one: f:1", "agent: Two words. The peculiar case is done."}, namesOf(list))
	require.Equal(t, "Another peculiar one: f:1", list[0].line(t))
	require.Equal(t, list[0].Location.URI, list[1].Location.URI)
	raw, err := os.ReadFile(strings.TrimPrefix(list[0].Location.URI, "file://"))
	require.NoError(t, err)
	d := c.opensFile(list[0].Location.URI, string(raw))
	var at struct{ URI string }
	c.must("textDocument/definition", world.Obj{
		"textDocument": world.Obj{"uri": d.uri}, "position": world.Obj{"line": list[0].Location.Range.Start.Line, "character": 22},
	}, &at)
	require.Equal(t, "file://"+w.Path("f"), at.URI)

	// While the editor has it open, the file and its lines stay.
	w.Plays(world.InitLine, world.Says("One more peculiar answer.\n", ""), world.Done)
	c.turn()
	require.Len(t, c.symbols("peculiar"), 3)
	now, err := os.ReadFile(strings.TrimPrefix(d.uri, "file://"))
	require.NoError(t, err)
	require.Equal(t, string(raw), string(now))
	d.closes()
	require.Equal(t, "One more peculiar answer.", c.symbols("more")[0].line(t))

	// The files go with the server.
	c.must("shutdown", nil, nil)
	c.notify("exit", nil)
	c.eventually("the file is gone", func() bool {
		_, err := os.Stat(strings.TrimPrefix(d.uri, "file://"))
		return os.IsNotExist(err)
	})
}

// TestLSPSymbolsOfAFolderWithSessions: a search starts a daemon where there are sessions to find, not in other folders.
func TestLSPSymbolsOfAFolderWithSessions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	c := lsp(w, world.LSPCapabilities(), nil)
	d := c.opens("f")
	require.NotEmpty(t, c.actions(d.uri, 0, nil), "it is known that there is nothing")
	require.Empty(t, c.symbols("peculiar"))
	_, err := os.Stat(w.Path("../state/cursord.db"))
	require.ErrorIs(t, err, os.ErrNotExist, "no daemon has been there")

	trusted(w)
	w.Plays(world.InitLine, world.Says("A peculiar answer.\n", ""), world.Done)
	w.CursordOK("run", "--quiet", "do it")
	w.CursordOK("stop")
	c = lsp(w, world.LSPCapabilities(), nil)
	c.opens("f")
	require.Equal(t, []string{"agent: A peculiar answer."}, namesOf(c.symbols("peculiar")))
}

// TestLSPSymbolsOff: with a setting, the editor's list of symbols is that of its other servers alone.
func TestLSPSymbolsOff(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	c := lspProcess(w)
	offered := c.initialize(world.LSPCapabilities(), world.Obj{"symbols": false})
	require.NotContains(t, offered["capabilities"], "workspaceSymbolProvider")
	require.Empty(t, c.symbols(""))
}
