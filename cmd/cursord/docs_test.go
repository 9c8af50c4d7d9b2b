//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/tests/world"
)

// pages are those that show commands to people, from the top of the project.
var pages = []string{
	"README.md", "ARCHITECTURE.md", "cmd/cursord/README.md", "rpc/README.md", "rpc/PROTOCOL.md",
	"editors/nvim/README.md", "editors/emacs/README.md", "editors/helix/README.md", "editors/lsp/README.md",
	"editors/vscode/README.md", "editors/acp/README.md",
}

// TestReadmeHasEveryCommand: whoever reads README and the page that it leads to learns of each command but those that
// tests and shells use.
func TestReadmeHasEveryCommand(t *testing.T) {
	t.Parallel()
	readme := world.ReadPage(t, "README.md") + world.ReadPage(t, "cmd/cursord/README.md")
	for _, c := range rootCommand(serve.Injected{}).Commands() {
		switch c.Name() {
		case "completion", "help", "more", "fake-agent", "version":
			continue
		}
		if !regexp.MustCompile(`\bcursord `+c.Name()+`\b`).MatchString(readme) && !strings.Contains(readme, "make "+c.Name()+" ") {
			t.Errorf("cmd/cursord/README.md lacks cursord %s", c.Name())
		}
	}
}

// TestEachCommandIsRun: each command is run by a test of processes, be it by a script.
func TestEachCommandIsRun(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	require.NoError(t, filepath.WalkDir("tests", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".txtar" && !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	}))
	runs := map[string]bool{}
	for _, m := range regexp.MustCompile(`\bcursord(?: |", ")([a-z-]+)`).FindAllStringSubmatch(tests.String(), -1) {
		runs[m[1]] = true
	}
	for _, c := range rootCommand(serve.Injected{}).Commands() {
		if !runs[c.Name()] {
			t.Errorf("no test runs cursord %s: write a script in cmd/cursord/tests/cli/testdata", c.Name())
		}
	}
}

// TestEachCommandChecksItsArguments: cobra takes any number of arguments for a command that says nothing.
func TestEachCommandChecksItsArguments(t *testing.T) {
	t.Parallel()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Runnable() && c.Args == nil && c.Name() != "help" {
			t.Errorf("%s has no Args: set them, as with arguments.Takes(0, 0)", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(rootCommand(serve.Injected{}))
}

// TestEmptyArguments: an empty argument is wrong usage of each command that takes names, and never means the same as none.
func TestEmptyArguments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"accept|": "HUNK or FILE", "reject|": "HUNK or FILE", "reject|a.go|": "HUNK or FILE", "diff|": "PATH", "review|": "PATH", "dismiss|": "PATH",
		"approve|": "ID", "approve|k3|": "ANSWER", "deny|": "ID", "show|": "SESSION", "delete|": "SESSION", "delete|@1|": "SESSION",
		"fork|": "SESSION", "rewind|--turn|@1|": "SESSION", "rewind|@1|--turn|": "--turn", "wait|": "TURN", "cancel|": "TURN", "export|": "SESSION",
		"import|": "FILE", "backup|": "FILE", "rename||x": "SESSION", "rename|@1|": "TITLE", "why|": "FILE", "search|": "WORDS", "trust|": "DIR", "untrust|": "DIR",
		"accept|--file|": "--file", "reject|--file|a|--file|": "--file", "accept|--turn|": "--turn", "diff|--turn|": "--turn", "fork|@1|--turn|": "--turn",
		"run|--session||x": "--session", "run|--add-dir||x": "--add-dir", "accept|--all|-w|": "--workspace", "chat|--session|": "--session",
		"config|get|": "KEY",
	} {
		root := rootCommand(serve.Injected{})
		root.SetArgs(strings.Split(line, "|"))
		started := false
		root.PersistentPreRunE = func(*cobra.Command, []string) error { started = true; return errors.New("begun") }
		err := root.Execute()
		require.ErrorContains(t, err, want+" is empty: is a variable not set?", line)
		require.False(t, started, line)
	}
}

// TestCommandsInPagesExist parses each command line that a page shows, with its flags.
func TestCommandsInPagesExist(t *testing.T) {
	t.Parallel()
	fence := regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
	quoted := regexp.MustCompile("[`\"](cursord [a-z][^`\"]*)[`\"]")
	end := regexp.MustCompile(" #|[;&|]") // of a command
	found := 0
	for _, name := range pages {
		text := world.ReadPage(t, name)
		var lines []string
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Split(block[1], "\n")...)
		}
		for _, m := range quoted.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			lines = append(lines, m[1])
		}
		for _, line := range lines {
			line = strings.TrimPrefix(end.Split(line, 2)[0], "$ ")
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "cursord" || words[1] == "help" {
				continue
			}
			found++
			c, rest, err := rootCommand(serve.Injected{}).Find(words[1:])
			if err != nil || !c.HasParent() {
				t.Errorf("%s: %s: there is no such command", name, line)
				continue
			}
			checkFlags(t, name+": "+line, c, rest)
		}
	}
	require.Greater(t, found, 40)
}

func checkFlags(t *testing.T, where string, c *cobra.Command, words []string) {
	t.Helper()
	for _, word := range words {
		flag, isLong := strings.CutPrefix(word, "--")
		if flag, _, _ = strings.Cut(strings.TrimRight(flag, ",.;:)"), "="); !isLong || flag == "" {
			continue
		}
		if c.Flags().Lookup(flag) == nil && c.InheritedFlags().Lookup(flag) == nil && flag != "help" {
			t.Errorf("%s: cursord %s has no flag --%s", where, c.Name(), flag)
		}
	}
}

// TestFilesInArchitectureExist: each file and each test that ARCHITECTURE.md names is there.
func TestFilesInArchitectureExist(t *testing.T) {
	t.Parallel()
	text := world.ReadPage(t, "ARCHITECTURE.md")
	var files []string
	var tests strings.Builder
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		files = append(files, filepath.ToSlash(path))
		if strings.HasSuffix(path, "_test.go") {
			source, err := os.ReadFile(path)
			tests.Write(source)
			return err
		}
		return nil
	}))
	named := regexp.MustCompile("`([\\w/.*-]+\\.(?:go|el|lua|txt))`").FindAllStringSubmatch(text, -1)
	require.Greater(t, len(named), 60)
	for _, m := range named {
		if !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "/"+m[1]) }) && m[1] != "cmd/cursord/NAME.go" {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", m[1])
		}
	}
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(text, -1) {
		if !strings.Contains(tests.String(), "func "+name+"(") {
			t.Errorf("ARCHITECTURE.md names %s, which is no test", name)
		}
	}
}

// TestMapHasEveryPackage: whoever looks for a package finds it on the map. Those of commands are many, and named like them.
func TestMapHasEveryPackage(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(world.ReadPage(t, "ARCHITECTURE.md"), "\n## The map\n")
	text, _, _ = strings.Cut(text, "\n## ")
	onMap := packagesOfMap(text)
	out, err := exec.Command("go", "list", "cursord/...").Output()
	require.NoError(t, err)
	for pkg := range strings.Lines(string(out)) {
		pkg = strings.TrimPrefix(strings.TrimSpace(pkg), "cursord/")
		if strings.HasPrefix(pkg, "cmd/cursord/internal/") || strings.HasPrefix(pkg, "cmd/cursord/tests/") {
			continue
		}
		if !onMap[pkg] {
			t.Errorf("ARCHITECTURE.md, The map, lacks %s: give it a row or a place in the first column, or its path from the folder of a row in what lives there", pkg)
		}
	}
}

// packagesOfMap returns the packages that the map's rows name: in the first column by their paths, or by their names behind one in the
// same folder; in the row of small leaves as a list; in the second column by their paths from the row's folder.
func packagesOfMap(text string) map[string]bool {
	quoted := regexp.MustCompile("`([a-z0-9/]+(?:/…)?)`")
	on := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		folder := ""
		for i, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
			pkg := name[1]
			if i > 0 && !strings.Contains(pkg, "/") {
				pkg = path.Join(path.Dir(folder), pkg)
			}
			if on[pkg] = true; i == 0 {
				folder = pkg
			}
		}
		if leaves, is := strings.CutSuffix(folder, "/…"); is {
			_, list, _ := strings.Cut(cells[2], ": ")
			for _, name := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", .", r) }) {
				on[path.Join(leaves, name)] = true
			}
			continue
		}
		for _, name := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if strings.Contains(name[1], "/") {
				on[path.Join(folder, name[1])] = true
				on[path.Join(path.Dir(folder), name[1])] = true
			}
		}
	}
	return on
}

// TestEachInvariantNamesItsTest: whoever breaks one is to see which test says so.
func TestEachInvariantNamesItsTest(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(world.ReadPage(t, "ARCHITECTURE.md"), "\n## Invariants\n")
	text, _, _ = strings.Cut(text, "\n## ")
	invariants := regexp.MustCompile(`(?m)^\d+\. `).Split(text, -1)[1:]
	require.NotEmpty(t, invariants)
	for i, invariant := range invariants {
		require.Regexp(t, `\bTest[A-Z]\w+`, invariant, "invariant %d", i+1)
	}
}
