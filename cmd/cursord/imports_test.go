package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// internalImports returns which packages of this module each package may import.
func internalImports(t *testing.T) map[string][]string {
	text, err := os.ReadFile(filepath.Join("testdata", "imports.txt"))
	require.NoError(t, err)
	table := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		pkg, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		require.True(t, ok, line)
		require.NotContains(t, table, "cursord/"+pkg)
		imports := []string{}
		for _, imp := range strings.Fields(list) {
			imports = append(imports, "cursord/"+imp)
		}
		table["cursord/"+pkg] = imports
	}
	return table
}

// restricted says which packages may import what only they should know.
var restricted = map[string][]string{
	"github.com/sourcegraph/jsonrpc2":       {"cursord/rpc"},
	"go.etcd.io/bbolt":                      {"cursord/sessions", "cursord/sessions/internal/search"},
	"github.com/fsnotify/fsnotify":          {"cursord/daemon/internal/dirwatch"},
	"znkr.io/diff":                          {"cursord/diffs/internal/linetext", "cursord/diffs/internal/weave", "cursord/diffs/words"},
	"znkr.io/diff/textdiff":                 {"cursord/diffs/internal/weave"},
	"github.com/spf13/cobra":                {"cursord/cmd/cursord", "cursord/cmd/cursord/internal/arguments", "cursord/cmd/cursord/internal/complete", "cursord/cmd/cursord/internal/permits", "cursord/cmd/cursord/internal/tracefile"},
	"github.com/invopop/jsonschema":         {"cursord/rpc/internal/schema"},
	"github.com/stretchr/testify":           {"cursord/cmd/cursord/tests/world"},
	"github.com/santhosh-tekuri/jsonschema": {"cursord/cmd/cursord/tests/world"},
	"os/exec": {
		"cursord/agent",
		"cursord/agent/acp",
		"cursord/agent/fake",
		"cursord/agent/process",
		"cursord/agent/program",
		"cursord/cmd/cursord",
		"cursord/cmd/cursord/internal/chat",
		"cursord/cmd/cursord/internal/demo",
		"cursord/cmd/cursord/internal/doctor",
		"cursord/cmd/cursord/internal/install",
		"cursord/cmd/cursord/internal/release",
		"cursord/cmd/cursord/internal/service",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/why",
		"cursord/cmd/cursord/tests/world", // endpoint: to ask a newer build what it is; helix: to ask Helix what it is
		"cursord/daemon/copytree",
		"cursord/daemon/endpoint",
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/atend",
		"cursord/daemon/internal/attempts",
		"cursord/daemon/internal/git",
		"cursord/daemon/overlay",
		"cursord/rpc/nowait",
		"cursord/editors/helix",
		"cursord/rpc/conformance", // the client that is checked, and its daemon
		"cursord/rpc/dial",
		"cursord/rpc/remote",
	},
	"charm.land":                      {"cursord/cmd/cursord/internal/chat"},
	"github.com/charmbracelet":        {"cursord/cmd/cursord/internal/chat", "cursord/cmd/cursord/internal/textarea"},
	"charm.land/bubbles":              {}, // looks for clipboard programs in PATH at each start
	"encoding/gob":                    {},
	"github.com/coder/acp-go-sdk":     {}, // for tests
	"github.com/rogpeppe/go-internal": {"cursord/cmd/cursord/tests/world"},
	"github.com/adrg/xdg":             {"cursord/daemon/endpoint"},
	"github.com/BurntSushi/toml": {
		"cursord/daemon/config",
		"cursord/editors/helix",
	},
	"github.com/mattn/go-isatty": {
		"cursord/agent/fake",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
	},
	"mvdan.cc/sh/v3/syntax":    {"cursord/daemon/internal/allow"},
	"github.com/yuin/goldmark": {"cursord/cmd/cursord/internal/markdown"},
	"net/http":                 {},
	"golang.org/x/text":        {"cursord/daemon/internal/editorfile", "cursord/sessions/internal/searchtext"},
	"github.com/oklog/ulid/v2": {
		"cursord/cmd/cursord",
		"cursord/cmd/cursord/internal/attempts",
		"cursord/cmd/cursord/internal/chat",
		"cursord/daemon",
		"cursord/sessions",
	},
	"golang.org/x/sys/unix": {
		"cursord/cmd/cursord/tests/world",
		"cursord/agent",
		"cursord/agent/process",
		"cursord/cmd/cursord/internal/term",
		"cursord/daemon",
		"cursord/daemon/copytree",
		"cursord/daemon/endpoint",
		"cursord/daemon/internal/atomicfile",
		"cursord/daemon/internal/dirwatch",
		"cursord/daemon/internal/filestat",
		"cursord/daemon/internal/savewatch",
		"cursord/daemon/internal/treewatch",
		"cursord/daemon/internal/watch",
		"cursord/daemon/overlay",
		"cursord/rpc/nowait",
		"cursord/sessions",
		"cursord/editors/lsp/client",
	},
}

// TestImportTable holds the packages to the order in ARCHITECTURE.md.
func TestImportTable(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "cursord/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	table := internalImports(t)
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), ": ")
		allowed, known := table[pkg]
		for parent := path.Dir(pkg); !known && parent != "."; parent = path.Dir(parent) {
			if allowed, known = table[parent]; known {
				allowed = append(slices.Clone(allowed), parent)
			}
		}
		require.True(t, known, "%s is not in the table: add its row to cmd/cursord/testdata/imports.txt", pkg)
		for _, imp := range strings.Fields(imports) {
			if strings.HasPrefix(imp, "cursord/") {
				if !slices.Contains(allowed, imp) {
					t.Errorf("%s imports %s: if the picture in ARCHITECTURE.md allows that, add it to the row in cmd/cursord/testdata/imports.txt", pkg, imp)
				}
			}
			for name, who := range restricted {
				if imp == name || strings.HasPrefix(imp, name+"/") && name != "os/exec" {
					if !slices.Contains(who, pkg) {
						t.Errorf("%s imports %s, which only these packages may know: %s; if this one must too, add it to restricted", pkg, imp, strings.Join(who, ", "))
					}
				}
			}
		}
	}
}

// TestProgramHasNoDeadMethods: the linker drops methods that nothing calls, unless some code may call a method by a name that is
// known only at run time, as templates do. With all methods the program is a sixth larger, and each process holds more memory.
func TestProgramHasNoDeadMethods(t *testing.T) {
	t.Parallel()
	name, err := exec.LookPath("cursord")
	require.NoError(t, err)
	program, err := os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, bytes.Contains(program, []byte("reflect.Value.Type")), "the program has no names of functions")
	for _, f := range []string{"text/template.(*Template).Execute", "reflect.Value.MethodByName"} {
		require.False(t, bytes.Contains(program, []byte(f)), f)
	}
}

// TestNothingIsCompiledAtEachStart: an editor waits for the program's start. A pattern is compiled when it is first needed.
func TestNothingIsCompiledAtEachStart(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}} {{.Dir}}{{end}}`, "cursord/cmd/cursord").Output()
	require.NoError(t, err)
	atStart := regexp.MustCompile(`(?m)^(?:var |\t)\w+ += (?:regexp\.MustCompile|parser\.NewParser)\(`)
	files := 0
	for line := range strings.Lines(string(out)) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, "cursord/") {
			continue
		}
		list, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, file := range list {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Empty(t, atStart.FindString(string(source)), "%s: compile it when it is first needed, by sync.OnceValue", file)
			files++
		}
	}
	require.Greater(t, files, 300)
}

// TestSizes: a file and a package fit in a head. A package that is full gives a part of itself to a package of its own. Of the
// commands each has a file, so the number of these files is not bounded.
func TestSizes(t *testing.T) {
	t.Parallel()
	const linesOfFile, linesOfPackage, filesOfPackage, linesOfCommands = 400, 6000, 45, 3500
	root := filepath.Join("..", "..")
	lines, files := map[string]int{}, map[string]int{} // of packages without tests
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		n := strings.Count(string(source), "\n")
		name, _ := filepath.Rel(root, path)
		if n > linesOfFile {
			t.Errorf("%s has %d lines, at most %d: split it by subject", name, n, linesOfFile)
		}
		if !strings.HasSuffix(path, "_test.go") {
			in := filepath.ToSlash(filepath.Dir(name))
			lines[in], files[in] = lines[in]+n, files[in]+1
		}
		return err
	}))
	require.Greater(t, len(lines), 50)
	for in, n := range lines {
		most, advice := linesOfPackage, "move a part to a package of its own"
		if in == "cmd/cursord" {
			most, advice = linesOfCommands, "put what the commands do into cmd/cursord/internal"
		}
		if n > most {
			t.Errorf("%s has %d lines without tests, at most %d: %s", in, n, most, advice)
		}
		if files[in] > filesOfPackage && in != "cmd/cursord" {
			t.Errorf("%s has %d files without tests, at most %d: %s", in, files[in], filesOfPackage, advice)
		}
	}
}

// TestWorkingDirectory holds the packages of the daemon to not knowing where it was started.
func TestWorkingDirectory(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	asks := regexp.MustCompile(`\bos\.(Chdir|Getwd)\(`)
	files := 0
	for _, in := range []string{"agent", "daemon", "diffs", "editors", "rpc", "sessions"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, in), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			require.NotRegexp(t, asks, string(source), path)
			files++
			return err
		}))
	}
	require.Greater(t, files, 200)
}
