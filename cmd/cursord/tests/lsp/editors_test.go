//go:build unix

package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestLSPEditors plays one story with each editor whose initialize is in testdata. Each one answers like the real editor,
// and gets the offers that its capabilities allow.
func TestLSPEditors(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		editor   string
		encoding string
		offers   string // beside the offers to all
		refuses  string // requests that it answers with "no such method"
		versions bool   // its edits name versions
	}{
		{editor: "helix-25.01.1", encoding: "utf-8", offers: "inlayHintProvider", refuses: "window/showMessageRequest", versions: true},
		{editor: "helix-25.07.1-git20260723", encoding: "utf-8", offers: "inlayHintProvider", versions: true},
		{editor: "nvim-0.10", encoding: "utf-16", offers: "inlayHintProvider"},
		{editor: "nvim-0.12", encoding: "utf-8", offers: "codeLensProvider inlayHintProvider"},
		{editor: "eglot-emacs-30.1", encoding: "utf-32", offers: "inlayHintProvider", versions: true},
		{editor: "kakoune-lsp", encoding: "utf-8", offers: "codeLensProvider inlayHintProvider", refuses: "window/showDocument", versions: true},
		{editor: "vscode", encoding: "utf-16", offers: "codeLensProvider inlayHintProvider", versions: true},
	} {
		t.Run(want.editor, func(t *testing.T) {
			w := world.New(t)
			before, after := "𝄞 ä one\ntwo\n", "𝄞 ä agent one\ntwo\nthree\n"
			w.Put("f.txt", before)
			w.Plays(world.Lines(world.Edits("c1", "f.txt", before, after))...)
			raw, err := os.ReadFile(filepath.Join("testdata", "lsp", "initialize", want.editor+".json"))
			require.NoError(t, err)
			var params world.Obj
			require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "{{root}}", w.Root)), &params))
			params["initializationOptions"] = world.Obj{"isolation": "copy"}

			c := lspProcess(w)
			c.answering(func(m rpc.Message) any {
				if m.Method == want.refuses {
					return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "no such method"}
				}
				if m.Method == "workspace/configuration" {
					return []any{nil}
				}
				return allows(m)
			})
			var result struct{ Capabilities map[string]any }
			c.must("initialize", params, &result)
			require.Equal(t, want.encoding, result.Capabilities["positionEncoding"])
			c.units = want.encoding
			c.notify("initialized", world.Obj{})
			var offers []string
			for _, name := range []string{"codeLensProvider", "inlayHintProvider", "diagnosticProvider"} {
				if result.Capabilities[name] != nil {
					offers = append(offers, name)
				}
			}
			require.Equal(t, want.offers, strings.Join(offers, " "))

			d := c.opens("f.txt")
			mark := c.mark()
			c.does("cursord.ask", "change it")
			if strings.Contains(want.refuses, "showMessageRequest") || strings.HasPrefix(want.editor, "eglot") {
				c.hears("window/showMessage", "trust ws? ", "cursord.allow", "cursord.deny")
				c.chooses(d.uri, 0, "Trust this folder")
			}
			c.hears("window/showMessage", "done")
			c.waitsForHunks("f.txt", 2)
			c.chooses(d.uri, 0, "Accept hunk 1/2")
			edit := c.hears("workspace/applyEdit")
			require.Equal(t, want.versions, strings.Contains(string(edit.Params), "documentChanges"))
			c.waitsForHunks("f.txt", 1)
			require.Equal(t, "𝄞 ä agent one\ntwo\n", d.now())
			c.does("cursord.acceptAll")
			c.waitsForHunks("f.txt", 0)
			require.Equal(t, after, d.now())
			require.Equal(t, before, w.Get("f.txt"), "nothing is written")

			c.does("cursord.transcript")
			if want.refuses == "window/showDocument" {
				c.hearsAfter(mark, "window/showMessage", "open ", "chat.md")
			} else {
				c.hearsAfter(mark, "window/showDocument", "chat.md")
			}
			c.must("shutdown", nil, nil)
			c.notify("exit", nil)
			c.until("its end", func() bool { return c.gone })
		})
	}
}
