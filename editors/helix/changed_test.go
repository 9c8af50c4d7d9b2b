package helix

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cursord/editors/settingsfile"
)

// Each run draws the same cases; -rapid.seed draws others.
func init() { _ = flag.Set("rapid.seed", "1") }

// TestUninstallKeepsWhatWasChangedSince: users change installed lines and lines beside them.
func TestUninstallKeepsWhatWasChangedSince(t *testing.T) {
	for _, c := range []struct {
		name, file string
		before     string
		old, now   string // the user's change after the installation
		after      string
		notes      []string
	}{
		{
			name: "a setting below ours", file: languagesFile,
			old: `"gopls", "golangci-lint-lsp"]` + "\n", now: `"gopls", "golangci-lint-lsp"]` + "\nauto-format = true # mine\n",
			after: "\n[[language]]\nname = \"go\"\nauto-format = true # mine\n",
			notes: []string{"kept [language.go]: it has more than cursord wrote"},
		},
		{
			name: "another server", file: languagesFile,
			old: `"gopls", "golangci-lint-lsp"]`, now: `"mine", "gopls"]`,
			after: "\n[[language]]\nname = \"go\"\nlanguage-servers = [\"mine\", \"gopls\"]\n",
			notes: []string{"removed only cursord from the servers of go: they were changed since", "kept [language.go]: it has more than cursord wrote"},
		},
		{
			name: "cursord put last, in a list of the user's", file: languagesFile,
			before: "[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\"]\n",
			old:    "[" + entryOf("go", Version{25, 7, 1}) + `, "gopls"]`, now: `["gopls", "cursord"]`,
			after: "[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\"]\n",
		},
		{
			name: "cursord taken out by hand", file: languagesFile,
			before: "[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\"]\n",
			old:    entryOf("go", Version{25, 7, 1}) + ", ", now: "",
			after: "[[language]]\nname = \"go\"\nlanguage-servers = [\"gopls\"]\n",
		},
		{
			name: "the server has a setting", file: languagesFile,
			old: "args = [\"lsp\"]\n", now: "args = [\"lsp\"]\ntimeout = 60\n",
			after: comment + "[language-server.cursord]\ncommand = \"cursord\"\nargs = [\"lsp\"]\ntimeout = 60\nconfig = { isolation = \"copy\", completion = true }\n",
			notes: []string{"kept [language-server.cursord]: it has more than cursord wrote"},
		},
		{
			name: "a table behind ours", file: languagesFile, before: "# mine",
			old: "file-types = [\"txt\"]\nlanguage-servers = [" + entryOf("go", Version{25, 7, 1}) + "]\n", now: "file-types = [\"txt\"]\nlanguage-servers = [" + entryOf("go", Version{25, 7, 1}) + "]\n[[grammar]]\nname = \"x\"",
			after: "# mine\n[[grammar]]\nname = \"x\"",
		},
		{
			name: "the plain text has another kind of file", file: languagesFile, before: "# mine\n",
			old: `["txt"]`, now: `["txt", "text"]`,
			after: "# mine\n\n[[language]]\nname = \"plaintext\"\nscope = \"text.plain\"\nfile-types = [\"txt\", \"text\"]\n",
			notes: []string{"kept [language.plaintext]: it has more than cursord wrote"},
		},
		{
			name: "another value and a comment", file: configFile, before: "theme = \"x\"\n",
			old:   "end-of-line-diagnostics = \"hint\"\n\n[editor.lsp]\ndisplay-progress-messages = true\n",
			now:   "end-of-line-diagnostics = \"warning\"\n\n[editor.lsp]\ndisplay-progress-messages = true # I like it\n",
			after: "theme = \"x\"\n\n[editor]\nend-of-line-diagnostics = \"warning\"\n# I like it\n",
			notes: []string{"kept editor.end-of-line-diagnostics = \"warning\": it was changed since", "kept [editor]: it has more than cursord wrote"},
		},
		{
			name: "another key, and one is gone", file: configFile, before: "theme = \"x\"\n",
			old: "u = ':lsp-workspace-command cursord.undo'\n", now: "z = \":w\"\n",
			after: "theme = \"x\"\n\n[keys.normal.space.i]\nz = \":w\"\n",
			notes: []string{"kept [keys.normal.space.i]: it has more than cursord wrote"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t, "", "")
			if c.before != "" {
				require.NoError(t, os.WriteFile(filepath.Join(h.dir, c.file), []byte(c.before), 0o600))
			}
			h.install(request(t))
			h.put(c.file, c.old, c.now)
			p := h.uninstall()
			require.Equal(t, c.after, h.get(c.file))
			require.ElementsMatch(t, c.notes, p.Notes)
			p, err := Uninstall(h.dir)
			require.NoError(t, err)
			require.False(t, p.Installed(), "what was kept is the user's")
		})
	}
}

func TestInstallAgainKeepsWhatWasChangedSince(t *testing.T) {
	h := newHome(t, "", "")
	h.install(request(t))
	h.put(languagesFile, `"gopls", "golangci-lint-lsp"]`, `"mine"]`)
	h.put(configFile, "x = ':lsp-workspace-command cursord.cancel'", "x = ':w'")
	languages, config := h.get(languagesFile), h.get(configFile)
	p := h.install(request(t))
	require.Equal(t, []string{"cursord", "mine"}, h.servers("go"))
	require.Contains(t, p.Notes[0], "config.toml: keys.normal.space.i.x is set otherwise, and stays so; cursord would have it ")
	require.Equal(t, languages, h.get(languagesFile))
	require.Equal(t, config, h.get(configFile))
	r := request(t)
	r.Languages = []string{"awk"}
	p = h.install(r)
	require.Equal(t, []string{"go", "awk", "markdown", "plaintext"}, sorted(p.Languages, "go", "awk", "markdown", "plaintext"), "those that had it keep it")
	require.Equal(t, []string{"cursord"}, h.servers("awk"))
	r = request(t)
	r.Languages = nil
	require.NotContains(t, h.install(r).Languages, "python", "which languages were chosen stays chosen")
	require.Equal(t, []string{"cursord", "mine"}, h.servers("go"))
}

func sorted(have []string, order ...string) (out []string) {
	for _, name := range order {
		for _, h := range have {
			if h == name {
				out = append(out, h)
			}
		}
	}
	if len(out) != len(have) {
		return have
	}
	return out
}

func TestWithoutAManifestUninstallTakesWhatNamesCursord(t *testing.T) {
	h := newHome(t, ownLanguages["one line"], ownConfigs["tables"])
	h.install(request(t))
	require.NoError(t, os.Remove(filepath.Join(h.dir, manifestName)))
	p := h.uninstall()
	require.False(t, p.Installed())
	require.NotContains(t, h.get(languagesFile), "name = \"cursord\"")
	require.NotContains(t, h.get(languagesFile), "[language-server.cursord]")
	require.NotContains(t, h.get(configFile), "cursord.")
	require.Equal(t, []string{"gopls", "x"}, h.servers("go"))
}

func TestWhatCannotBeChangedSafelyStays(t *testing.T) {
	for name, c := range map[string]struct{ languages, config, says string }{
		"malformed":      {"[[language]\nname = 1\n", "", "languages.toml is not valid TOML: line 1: "},
		"malformed keys": {"", "theme = \"x\"\n\n[editor\n", "config.toml is not valid TOML: line 3: "},
		"not a list":     {"language = 3\n", "", "languages.toml cannot be changed safely: "},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, c.languages, c.config)
			_, err := Install(h.dir, request(t))
			require.ErrorContains(t, err, c.says)
			require.Equal(t, c.languages, h.get(languagesFile))
			require.Equal(t, c.config, h.get(configFile))
			entries, err := os.ReadDir(h.dir)
			require.NoError(t, err)
			require.Len(t, entries, 1)
		})
	}
	h := newHome(t, "# mine\n", "")
	p, err := Install(h.dir, request(t))
	require.NoError(t, err)
	h.put(languagesFile, "# mine", "# mine, just now")
	require.ErrorContains(t, p.Apply(), "has just been changed by somebody else")
	require.Equal(t, "# mine, just now\n", h.get(languagesFile))
	require.Empty(t, h.get(configFile))
	r := request(t)
	r.Languages = []string{"golang"}
	_, err = Install(h.dir, r)
	require.EqualError(t, err, `there is no language "golang" in Helix 25.07.1; "hx --health languages" lists them`)
}

func TestLinksStayLinks(t *testing.T) {
	h := newHome(t, "", "")
	dotfiles := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dotfiles, "config"), []byte("theme = \"x\"\n"), 0o640))
	require.NoError(t, os.Symlink(filepath.Join(dotfiles, "config"), filepath.Join(h.dir, configFile)))
	h.install(request(t))
	info, err := os.Lstat(filepath.Join(h.dir, configFile))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(filepath.Join(dotfiles, "config"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	require.Contains(t, h.get(configFile), "cursord")
	h.uninstall()
	require.Equal(t, "theme = \"x\"\n", h.get(configFile))
	entries, err := os.ReadDir(dotfiles)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	require.NoError(t, os.Remove(filepath.Join(dotfiles, "config")))
	p, err := Install(h.dir, request(t))
	require.NoError(t, err)
	require.ErrorContains(t, p.Apply(), "which is not there")
}

// TestEditsAreExact draws configurations, installs into them, and uninstalls.
func TestEditsAreExact(t *testing.T) {
	d := defaults(t)
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(rt, "line end")
		pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(rt, "part") }
		var b strings.Builder
		for _, header := range []string{"", "[editor]", "[editor.lsp]", "[editor.inline-diagnostics]", "[keys.normal]", "[keys.normal.space]", "[keys.normal.space.i]", "[keys.insert]"} {
			if header != "" && pick("y", "n") == "n" {
				continue
			}
			if header != "" {
				b.WriteString(pick("", "  ") + header + pick("", " # c") + "\n")
			}
			n := rapid.IntRange(0, 3).Draw(rt, "pairs")
			for i := range n {
				key := pick("a", "editor.b", "lsp.c", "space.d", "'i'.e", "\"end-of-line-diagnostics\"", "minus", "keys.normal.f")
				value := pick("1", "\"x\"", "'#'", "[1, 2]", "[\n1, # ]\n]", "{}", "{ a = 1 }", "{a={b=']'}}", "\"\"\"\n]\n\"\"\"")
				if pick("same", "other") == "other" {
					key = strings.TrimSuffix(key, "'") + string(rune('0'+i))
					key = strings.ReplaceAll(strings.ReplaceAll(key, "'", ""), "\"", "")
				}
				b.WriteString(pick("", "\t") + key + pick(" = ", "=") + value + pick("", " ", " # c") + "\n" + pick("", "\n", "# c\n"))
			}
		}
		text := strings.ReplaceAll(b.String(), "\n", eol)
		if pick("y", "n") == "n" {
			text = strings.TrimRight(text, "\r\n")
		}
		var before map[string]any
		if _, err := toml.Decode(text, &before); err != nil {
			rt.Skip("not TOML")
		}
		name := filepath.Join(dir, configFile)
		require.NoError(rt, os.WriteFile(name, []byte(text), 0o600))
		p, err := Install(dir, Request{Helix: Version{Year: 25, Month: 7}, Defaults: d, Program: "cursord", Languages: []string{"go"}})
		require.NoError(rt, err, text)
		require.NoError(rt, p.Apply())
		now, _, err := settingsfile.Read(name)
		require.NoError(rt, err)
		var after map[string]any
		_, err = toml.Decode(now, &after)
		require.NoError(rt, err)
		within(rt, before, after)
		p, err = Uninstall(dir)
		require.NoError(rt, err)
		require.NoError(rt, p.Apply())
		back, _, err := settingsfile.Read(name)
		require.NoError(rt, err)
		require.Equal(rt, text, back)
	})
}

// within requires that large contains all of small.
func within(t require.TestingT, small, large map[string]any) {
	for key, v := range small {
		if sub, ok := v.(map[string]any); ok {
			require.IsType(t, sub, large[key])
			within(t, sub, large[key].(map[string]any))
			continue
		}
		require.Equal(t, v, large[key], key)
	}
}
