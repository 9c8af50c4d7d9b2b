package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlugin installs a plugin, again, over somebody's file, and takes it away.
func TestPlugin(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plugin")
	install := func(version string, force bool) (string, error) {
		var out strings.Builder
		err := Plugin(t.Context(), &out, "nvim", dir, version, force, false)
		return out.String(), err
	}
	remove := func() string {
		t.Helper()
		var out strings.Builder
		require.NoError(t, RemovePlugin(&out, "nvim", dir, false))
		return out.String()
	}
	require.Equal(t, "nothing to do: cursord has installed no plugin in "+dir+"\n", remove())
	out, err := install("v1", false)
	require.NoError(t, err)
	require.Contains(t, out, "installed in "+dir+": cursord v1\nwrote ")
	require.Contains(t, out, `":help cursord"`)
	out, err = install("v1", false)
	require.NoError(t, err)
	require.Equal(t, "nothing to do: "+dir+" is up to date (cursord v1)\n", out)
	out, err = install("v2", false)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, "changed in "+dir+": cursord v2, which was v1\n"), out)

	changed := filepath.Join(dir, "plugin", "cursord.lua")
	require.NoError(t, os.WriteFile(changed, []byte("-- mine"), 0o600))
	_, err = install("v3", false)
	require.ErrorContains(t, err, "plugin/cursord.lua\n  nothing was done; move them away, or overwrite them with --force")
	out = remove()
	require.Contains(t, out, "kept plugin/cursord.lua: it was changed since it was installed\nthe folder stays")
	require.FileExists(t, changed)
	_, err = install("v3", true)
	require.NoError(t, err)
	require.Regexp(t, `^removed \d+ files from `+dir+"\n$", remove())
	require.NoDirExists(t, dir)

	require.ErrorContains(t, Plugin(t.Context(), &strings.Builder{}, "vim", dir, "v1", false, false), "vim")
}

// TestHelixIsAsked changes a configuration only where somebody has agreed.
func TestHelixIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "languages.toml")
	const mine = "[language-server.gopls]\ncommand = \"gopls\"\n"
	const ours = "[language-server.cursord]\ncommand = \"cursord\"\nargs = [\"lsp\"]\n"
	require.NoError(t, os.WriteFile(file, []byte(mine+ours), 0o600))
	holds := func(want string) {
		t.Helper()
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	var out strings.Builder
	h := Helix{Dir: dir, In: strings.NewReader("yes\n"), Out: &out}
	require.ErrorIs(t, h.Remove(), ErrUnchanged)
	require.Contains(t, out.String(), "\n-[language-server.cursord]\n")
	require.True(t, strings.HasSuffix(out.String(), "nothing was changed: run it with --yes to do so\n"), out.String())
	holds(mine + ours)

	out.Reset()
	h.Yes = true
	require.NoError(t, h.Remove())
	require.True(t, strings.HasSuffix(out.String(), "removed from "+dir+"\n"), out.String())
	holds(mine)
	out.Reset()
	require.NoError(t, h.Remove())
	require.Equal(t, "nothing to do: "+dir+" has nothing of cursord\n", out.String())
}
