//go:build unix

package lsp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPTranscript: an open transcript follows its session, in its file and, with the setting, in the editor's document,
// until the editor closes it.
func TestLSPTranscript(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		t.Run(fmt.Sprintf("live=%v", live), func(t *testing.T) {
			w := world.New(t)
			w.Put("f", "1\n")
			trusted(w)
			on := func(name string) string {
				return fmt.Sprintf(`{"fake":"wait","path":%q}`, w.Path("../"+name))
			}
			w.Plays(world.Streams("One. "), on("two"), world.Streams("Two."), on("three"), world.Streams("Three."), world.Done)
			c := lsp(w, world.LSPCapabilities(), world.Obj{"liveTranscript": live})
			c.does("cursord.ask", "count")
			c.hears("$/progress", "writing")
			mark := c.mark()
			c.does("cursord.transcript")
			uri, _ := c.shown(mark, "chat.md")
			file := strings.TrimPrefix(uri, "file://")
			text := func() string {
				raw, err := os.ReadFile(file)
				require.NoError(t, err)
				return string(raw)
			}
			until := func(part string) {
				t.Helper()
				c.eventually("the file has "+part, func() bool { return strings.Contains(text(), part) })
			}
			// The editor does not report that file, like editors that only serve projects.
			until("\nOne. \n")
			w.Put("../two", "")
			until("\nOne. Two.\n")
			// Then it reports the file, and shows the text that it has loaded or is sent.
			opened := text()
			d := c.opensFile(uri, opened)
			w.Put("../three", "")
			until("\nOne. Two.Three.\n")
			until("*completed in ")
			if live {
				c.eventually("the document has all", func() bool { return d.now() == text() })
			} else {
				require.Equal(t, opened, d.now())
			}
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())

			// The next turn belongs to it. After it is closed nothing is written any more.
			mark = c.mark()
			c.does("cursord.ask", "again")
			c.hearsAfter(mark, "window/showMessage", "done")
			until("\n> again\n")
			c.eventually("it has ended there", func() bool { return strings.Count(text(), "*completed in ") == 2 })
			d.closes()
			mark = c.mark()
			c.does("cursord.ask", "and again")
			c.hearsAfter(mark, "window/showMessage", "done")
			require.NotContains(t, text(), "and again")
		})
	}
}

// TestLSPTranscriptOpenedLate: a live transcript whose end came while the editor was loading the file is whole in the editor.
func TestLSPTranscriptOpenedLate(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	trusted(w)
	w.Plays(world.Streams("One. "), fmt.Sprintf(`{"fake":"wait","path":%q}`, w.Path("../two")), world.Streams("Two."), world.Done)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"liveTranscript": true})
	c.does("cursord.ask", "count")
	c.hears("$/progress", "writing")
	mark := c.mark()
	c.does("cursord.transcript")
	uri, _ := c.shown(mark, "chat.md")
	text := func() string {
		raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
		require.NoError(t, err)
		return string(raw)
	}
	loaded := text()
	w.Put("../two", "")
	c.eventually("the file has all", func() bool { return strings.Contains(text(), "*completed in ") })
	d := c.opensFile(uri, loaded)
	c.eventually("the document has all", func() bool { return d.now() == text() })
}
