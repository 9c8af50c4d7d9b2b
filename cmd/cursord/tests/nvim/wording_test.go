//go:build unix

package nvim

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimNamesItsOwnCommands has a turn fail. The message and the chat name commands of Neovim, not of a shell.
func TestNvimNamesItsOwnCommands(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(`{"type":"result","subtype":"error","is_error":true,"result":"something odd"}`)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "")
		n.turn("do it")
		session := n.lua("return require('cursord.workspace').find():session().id").(string)
		want := `try again, or update the agent with ` + "`cursor-agent update`" + `; :Cursord log has what the daemon noted; ":!cursord show ` +
			session + `" has all that the agent said of it`
		require.Contains(t, n.messages(), want)
		n.until("it is in the chat", "local t = (function() "+transcript+" end)() return t and t:find(..., 1, true) ~= nil", "> "+want)
		n.lua(`require('cursord.rpc').say_error({ message = 'no', data = { hint = 'cancel it first: cursord cancel' } })`)
		require.Contains(t, n.messages(), "cursord: no\n  cancel it first: :Cursord cancel")
	})
}

// TestNvimNamesItsOwnPermissions has a command denied. The notice names what allows it in Neovim, and what only a shell can.
func TestNvimNamesItsOwnPermissions(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for sandbox, want := range map[string]string{
			"": "allow it with sandbox enabled (:Cursord sandbox enabled), auto-review (:Cursord autoreview on), " +
				"force, in a shell (cursord run --force), or permissions.allow",
			"Cursord sandbox enabled": "allow it with auto-review (:Cursord autoreview on), " +
				"force, in a shell (cursord run --force --sandbox disabled), or permissions.allow",
		} {
			w := world.New(t)
			w.Plays(`{"fake":"begin"}`, `{"fake":"shell","command":"npm test","ask":true}`, `{"fake":"finish"}`)
			w.Start()
			w.Trusts()
			n := neovim(w, t, bin, "")
			if sandbox != "" {
				n.ex(sandbox)
			}
			n.turn("do it")
			n.until("it is in the chat", "local t = (function() "+transcript+" end)() return t and t:find(..., 1, true) ~= nil", want)
		}
	})
}

// TestNvimNamesWhatTheDaemonSays holds the table of such texts to the program: it has no text that nobody says any more.
func TestNvimNamesWhatTheDaemonSays(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, folder := range []string{"agent", "daemon", "rpc"} {
		require.NoError(t, filepath.WalkDir(world.Top(folder), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				var text []byte
				text, err = os.ReadFile(path)
				source.Write(text)
			}
			return err
		}))
	}
	said := strings.ReplaceAll(source.String(), `\"`, `"`)
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		n := neovim(w, t, bin, "")
		for _, one := range n.lua("return require('cursord.wording').commands").([]any) {
			text := one.([]any)[0].(string)
			text = strings.NewReplacer("SESSION", "%s", "REVISION", "%d", "(cursord run --sandbox", "(--sandbox", "(cursord run --auto", "(--auto",
				"(cursord run --force", "(--force").Replace(text)
			if raw := one.([]any)[0].(string); !strings.Contains(said, raw) {
				require.Contains(t, said, text)
			}
		}
	})
}
