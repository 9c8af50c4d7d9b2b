package helix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"

	"cursord/editors/settingsfile"
)

// bundledList imitates the strings in a Helix program around its languages.toml, which has no end mark.
const bundledList = "Unable to find the config directory!" + `# Language support configuration.

use-grammars = { except = [ "wren" ] }

[language-server]
gopls = { command = "gopls" }
golangci-lint-lsp = { command = "golangci-lint-langserver" }
marksman = { command = "marksman", args = ["server"] }
pyright = { command = "pyright-langserver", args = ["--stdio"] }

[language-server.gopls.config.hints]
parameterNames = true

[[language]]
name = "go"
file-types = ["go"]
language-servers = [ "gopls", "golangci-lint-lsp" ]
'` + `''Not TOML`

func defaults(t *testing.T) *Defaults {
	t.Helper()
	d, err := ReadDefaults([]byte("\x7fELF [language-server] \x00" + strings.Replace(bundledList, "'''Not TOML", `
[[language]]
name = "markdown"
language-servers = [ "marksman" ]

[[language]]
name = "python"
language-servers = [
  "pyright",
  { except-features = [ # comment
    "format" ], name = "ruff" },
]

[[language]]
name = "awk"
[[grammar]]
name = "go"
source = { git = "https://example.org", rev = "12" }
Could not parse built-in languages.toml to valid toml`+"\x01\x02", 1)))
	require.NoError(t, err)
	return d
}

func TestDefaultsAreReadFromTheProgram(t *testing.T) {
	d := defaults(t)
	require.Len(t, d.Languages, 4)
	require.Equal(t, []string{`"gopls"`, `"golangci-lint-lsp"`}, d.find("go").Servers)
	require.Equal(t, []string{`"pyright"`, `{ name = "ruff", except-features = ["format"] }`}, d.find("python").Servers)
	require.Empty(t, d.find("awk").Servers)
	_, err := ReadDefaults([]byte("#!/bin/sh\nexec /usr/lib/helix/hx\n"))
	require.ErrorIs(t, err, ErrNoDefaults)
}

func request(t *testing.T) Request {
	return Request{
		Version: "v1", Helix: Version{Year: 25, Month: 7, Patch: 1}, Defaults: defaults(t), Program: "cursord",
		Languages: []string{"go", "text"},
	}
}

// A home is a user's Helix configuration.
type home struct {
	t   *testing.T
	dir string
}

func newHome(t *testing.T, languages, config string) home {
	t.Helper()
	h := home{t, t.TempDir()}
	for name, text := range map[string]string{languagesFile: languages, configFile: config} {
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600))
		}
	}
	return h
}

func (h home) get(name string) string {
	h.t.Helper()
	text, _, err := settingsfile.Read(filepath.Join(h.dir, name))
	require.NoError(h.t, err)
	return text
}

func (h home) put(name, old, now string) {
	h.t.Helper()
	text := h.get(name)
	require.Contains(h.t, text, old)
	require.NoError(h.t, os.WriteFile(filepath.Join(h.dir, name), []byte(strings.Replace(text, old, now, 1)), 0o600))
}

func (h home) install(r Request) *Plan {
	h.t.Helper()
	p, err := Install(h.dir, r)
	require.NoError(h.t, err)
	require.NoError(h.t, p.Apply())
	return p
}

func (h home) uninstall() *Plan {
	h.t.Helper()
	p, err := Uninstall(h.dir)
	require.NoError(h.t, err)
	require.NoError(h.t, p.Apply())
	return p
}

func (h home) decoded(name string) (m map[string]any) {
	h.t.Helper()
	_, err := toml.Decode(h.get(name), &m)
	require.NoError(h.t, err, h.get(name))
	return m
}

// servers returns the names of a language's servers, as Helix merges them: the last table counts.
func (h home) servers(language string) (names []string) {
	h.t.Helper()
	list, _ := h.decoded(languagesFile)["language"].([]map[string]any)
	inline, _ := h.decoded(languagesFile)["language"].([]any)
	for _, one := range inline {
		list = append(list, one.(map[string]any))
	}
	for _, l := range list {
		if servers, ok := l["language-servers"].([]any); ok && l["name"] == language {
			names = nil
			for _, s := range servers {
				name, _ := server(s)
				names = append(names, name)
			}
		}
	}
	return names
}

func TestInstallFromNothing(t *testing.T) {
	h := newHome(t, "", "")
	p := h.install(request(t))
	require.Equal(t, []string{"go", "markdown", "plaintext"}, p.Languages)
	require.Empty(t, p.Notes)
	require.Equal(t, comment+`[language-server.cursord]
command = "cursord"
args = ["lsp"]
config = { isolation = "copy", completion = true }

[[language]]
name = "go"
language-servers = [`+entryOf("go", Version{25, 7, 1})+`, "gopls", "golangci-lint-lsp"]

[[language]]
name = "markdown"
language-servers = [`+entryOf("markdown", Version{25, 7, 1})+`, "marksman"]

[[language]]
name = "plaintext"
scope = "text.plain"
file-types = ["txt"]
language-servers = [`+entryOf(PlainText, Version{25, 7, 1})+`]
`, h.get(languagesFile))
	require.True(t, strings.HasPrefix(h.get(configFile), `[editor]
end-of-line-diagnostics = "hint"

[editor.lsp]
display-progress-messages = true

[editor.inline-diagnostics]
cursor-line = "hint"

[keys.normal.space.i]
i = '@:lsp-workspace-command cursord.ask ""<left>'
`), h.get(configFile))

	again, err := Install(h.dir, request(t))
	require.NoError(t, err)
	require.True(t, again.Empty())

	p = h.uninstall()
	require.Empty(t, p.Notes)
	_, err = os.Stat(h.dir)
	require.ErrorIs(t, err, os.ErrNotExist, "nothing was there before")
	p, err = Uninstall(h.dir)
	require.NoError(t, err)
	require.True(t, p.Empty())
	require.False(t, p.Installed())
}

// TestAllLanguagesAreTheDefault: without named languages cursord serves every file, and with some it still serves the files
// that cursord itself shows.
func TestAllLanguagesAreTheDefault(t *testing.T) {
	r := request(t)
	r.Defaults.Languages = append(r.Defaults.Languages, Language{Name: "diff"})
	r.Languages = nil
	h := newHome(t, "", "")
	require.Equal(t, []string{"go", "markdown", "python", "awk", "diff", "plaintext"}, h.install(r).Languages)
	require.Equal(t, []string{"cursord", "pyright", "ruff"}, h.servers("python"))
	require.Equal(t, []string{"cursord"}, h.servers("diff"))
	h.uninstall()
	r.Languages = []string{"awk"}
	require.Equal(t, []string{"markdown", "awk", "diff"}, newHome(t, "", "").install(r).Languages)
}

// TestInlineServers: where servers and languages are inline tables, cursord is added to them, and Helix finds it.
func TestInlineServers(t *testing.T) {
	for _, text := range []string{
		ownLanguages["inline server"], ownLanguages["no inline server"], ownLanguages["inline languages"], ownLanguages["inline, none"],
		ownLanguages["dotted server"], "[language-server]\ngopls = { command = \"gopls\" }\n", "language-server = { cursord = { command = \"mine\" } }\n",
	} {
		h := newHome(t, text, "")
		p := h.install(request(t))
		servers, _ := h.decoded(languagesFile)["language-server"].(map[string]any)
		own, _ := servers["cursord"].(map[string]any)
		require.Contains(t, []any{"cursord", "mine"}, own["command"], h.get(languagesFile))
		require.Equal(t, "cursord", h.servers("go")[0], h.get(languagesFile))
		state, err := Look(h.dir)
		require.NoError(t, err)
		require.Equal(t, own["command"], state.Command)
		require.ElementsMatch(t, p.Languages, state.Languages)
		require.NoError(t, os.Remove(filepath.Join(h.dir, manifestName)))
		h.uninstall()
		if own["command"] == "cursord" {
			require.NotContains(t, strings.Replace(h.get(languagesFile), comment, "", 1), "cursord", "also without a manifest")
		}
	}
}

func TestInstallForAnOlderHelix(t *testing.T) {
	h := newHome(t, "", "")
	r := request(t)
	r.Helix = Version{Year: 25, Month: 1}
	h.install(r)
	require.Contains(t, h.get(configFile), "\ni = ':lsp-workspace-command cursord.compose'\n")
	require.NotContains(t, h.get(configFile), "%{")
	// An updated Helix has another list of servers.
	r = request(t)
	r.Defaults.find("go").Servers = []string{`"gopls"`, `"new"`}
	h.install(r)
	require.Contains(t, h.get(configFile), "cursord.ask")
	require.Equal(t, []string{"cursord", "gopls", "new"}, h.servers("go"))
	h.uninstall()
	_, err := os.Stat(h.dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// ownLanguages and ownConfigs are examples of users' configurations.
var ownLanguages = map[string]string{
	"a comment":        "# mine\n",
	"no newline":       "[[language]]\nname = \"awk\"\nauto-format = true",
	"windows":          "[[language]]\r\nname = \"go\"\r\nlanguage-servers = [\r\n  \"gopls\",\r\n]\r\n\r\n# the end\r\n",
	"byte order":       "\ufeff[[language]]\nname = \"go\"\n",
	"no list":          "[[language]]\nname = 'go'\nauto-format = true # yes\n\n[language.indent]\ntab-width = 3\nunit = \"\t\"\n\n[[language]]\nname = \"awk\"\n",
	"empty list":       "[[language]]\nlanguage-servers = []\nname = \"go\"\n",
	"one line":         "[[language]]\nname = \"go\"\nlanguage-servers = [ 'gopls' , { name = \"x\", only-features = [\"format\"] } ] # mine\n",
	"many lines":       "[language-server.x]\ncommand = \"x\"\n[[language]]\nname = \"go\"\nlanguage-servers = [ # first\n\t\"gopls\", # second\n\t# third\n\t\"x\"\n] # last\n",
	"twice":            "[[language]]\nname = \"go\"\nlanguage-servers = [\"a\"]\n[[language]]\nname = \"go\"\nlanguage-servers = [\"b\"]\n[[language]]\nname = \"go\"\nauto-format=true\n",
	"inline server":    "language-server = { gopls = { command = \"gopls\" } } # mine\n",
	"no inline server": "language-server = {}\n[[language]]\nname = \"go\"\n",
	"dotted server":    "language-server.x.command = \"x\"\n[[language]]\nname = \"go\"\nauto-format = true\n",
	"inline languages": "language = [{ name = \"awk\" }, { name = \"go\", auto-format = true }] # mine\n[language-server.x]\ncommand = \"x\"\n",
	"inline list":      "language = [\n  { name = \"go\", language-servers = [\"gopls\"] },\n  # one more\n  { name = \"mine\", scope = \"source.mine\", file-types = [\"txt\"] },\n]\n",
	"inline, none":     "language = []\nlanguage-server = { }\n",
	"inline, windows":  "language = [\r\n  { name = \"awk\" }\r\n]\r\n",
	"own text":         "[[language]]\nname = \"notes\"\nscope = \"text.notes\"\nfile-types = [\"txt\", \"note\"]\n",
	"own unknown":      "[[language]]\nname = \"mine\"\nscope = \"source.mine\"\nfile-types = [\"mine\"]\nlanguage-servers = [\"gopls\"]\n",
	"tricky": `title = """
[[language]]
name = "go" \""""""
other = '''
]'''
"quoted key" = {a = "}", 'b' = [ "]", '#' ], c.d = 1}
[[language]] # [language-servers]
"name" = "go" # = "awk"
comment-token = "#"
language-servers = ["a]", "b\"", 'c,']   
`,
}

var ownConfigs = map[string]string{
	"theme":        "theme = \"onedark\"\n\n# the end",
	"tables":       "[editor]\n  line-number = \"relative\" # near\n\n# lsp\n[editor.lsp]\ndisplay-inlay-hints = true\n\n[keys.normal]\nC-s = \":w\"\n[keys.normal.space]\nw = \":w\"\n",
	"dotted":       "theme = \"x\"\neditor.line-number = \"relative\"\neditor.lsp.display-messages = true\nkeys.normal.space.w = \":w\"\n[extra]\n",
	"half dotted":  "[editor]\nlsp.display-messages = true\ncursorline = true\n[keys]\nnormal.C-s = \":w\"\n",
	"inline":       "[editor]\ninline-diagnostics = { other-lines = \"error\" }\nlsp = {}\n[keys.normal]\nspace = { w = \":w\", q = { q = \":q\" } } # mine\n",
	"deep inline":  "keys = { normal = { space = { i = { z = \":w\" } } } }\n",
	"windows":      "[editor]\r\nline-number = \"relative\"\r\n\r\n[editor.statusline]\r\nleft = [\r\n \"mode\",\r\n]\r\n",
	"sub tables":   "[editor.statusline]\nleft = [\"mode\"]\n[keys.normal.space.i.z]\nw = \":w\"\n",
	"same values":  "[editor]\nend-of-line-diagnostics = 'hint'\nlsp.display-progress-messages = true\n",
	"other values": "[editor]\nend-of-line-diagnostics = \"warning\"\n[keys.normal.space.i]\nc = \":own\"\n",
	"key is taken": "[keys.normal.space]\ni = \":w\"\n",
}

// TestInstallKeepsEveryByte installs into users' configurations and uninstalls.
func TestInstallKeepsEveryByte(t *testing.T) {
	for name, text := range ownLanguages {
		t.Run("languages/"+name, func(t *testing.T) {
			h := newHome(t, text, "")
			before := h.decoded(languagesFile)
			had := h.servers("go")
			h.install(request(t))
			require.NotEqual(t, text, h.get(languagesFile))
			if had == nil {
				had = []string{"gopls", "golangci-lint-lsp"}
				if strings.Contains(text, "language-servers = []") {
					had = nil
				}
			}
			require.Equal(t, append([]string{"cursord"}, had...), h.servers("go"), h.get(languagesFile))
			for key, value := range before {
				if key != "language" && key != "language-server" {
					require.Equal(t, value, h.decoded(languagesFile)[key])
				}
			}
			again, err := Install(h.dir, request(t))
			require.NoError(t, err)
			require.True(t, again.Empty())
			p := h.uninstall()
			require.Empty(t, p.Notes)
			require.Equal(t, text, h.get(languagesFile))
		})
	}
	for name, text := range ownConfigs {
		t.Run("config/"+name, func(t *testing.T) {
			h := newHome(t, "", text)
			before := h.decoded(configFile)
			p := h.install(request(t))
			now := h.decoded(configFile)
			within(t, before, now)
			for _, s := range settings(request(t)) {
				var v any = now
				for _, part := range s.path {
					m, _ := v.(map[string]any)
					v = m[part]
				}
				var want struct{ V any }
				_, err := toml.Decode("V = "+s.value, &want)
				require.NoError(t, err)
				if v != want.V {
					require.True(t, strings.Contains(strings.Join(p.Notes, "\n"), dotted(s.path)+" is set otherwise") || name == "key is taken",
						"%s\n%s", dotted(s.path), h.get(configFile))
				}
			}
			if name == "key is taken" {
				require.Equal(t, []string{"config.toml: keys.normal.space.i is yours and stays; so what cursord would put below it is left out"}, p.Notes)
				require.Contains(t, p.LeftOut, "[keys.normal.space.C]\n")
				require.Contains(t, p.LeftOut, "\nu = ':lsp-workspace-command cursord.undo'\n")
			}
			again, err := Install(h.dir, request(t))
			require.NoError(t, err)
			require.True(t, again.Empty(), "%v", again.Files)
			p = h.uninstall()
			require.Empty(t, p.Notes)
			require.Equal(t, text, h.get(configFile))
		})
	}
}
