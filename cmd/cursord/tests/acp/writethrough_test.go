//go:build unix

package acp

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAcceptsByTheEditorOfLinesThatItHasChanged: where the editor's unsaved text has another line, an accept once said that there was no such
// hunk, which the review listed.
func TestAcceptsByTheEditorOfLinesThatItHasChanged(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{"/accept ": "1\nmine 2\nagent 2\n3\n", "/accept replace ": "1\nagent 2\n3\n", "/reject ": "1\nmine 2\n3\n"} {
		w := trusted(t, world.Lines(world.Edits("c1", "g.txt", "1\n2\n3\n", "1\nagent 2\n3\n"))...)
		w.Put("g.txt", "1\n2\n3\n")
		c := opens(w, world.Obj{"fs": world.Obj{"readTextFile": true, "writeTextFile": true}})
		files := &editorFiles{texts: map[string]string{w.Path("g.txt"): "1\nmine 2\n3\n"}}
		c.answering(files.answer)
		s := c.session()
		for _, option := range []world.Obj{{"configId": "isolation", "value": "copy"}, {"configId": "write_through", "value": "on"}} {
			option["sessionId"] = s
			c.must("session/set_config_option", option, nil)
		}
		c.prompts(s, "Do it")
		says := func(words string) string { return said(c.goesThrough(s, words), "agent_message_chunk") }
		require.Contains(t, says("/accept g.txt"), "the editor has changed lines of g.txt which the agent has changed too, and they are not saved, so it was not accepted: "+
			"save the file and accept again to have both, or /reject")

		// Which works.
		w.Put("g.txt", "1\nmine 2\n3\n")
		id := regexp.MustCompile("Hunk `([0-9.]+)` — you have changed these lines, too").FindStringSubmatch(says("/review"))
		require.Len(t, id, 2)
		require.Contains(t, says(words+id[1]), "ed 1 hunk.")
		require.Equal(t, want, w.Get("g.txt"))
	}
}
