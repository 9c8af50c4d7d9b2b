//go:build unix

package cli

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// codeBlocks returns a page's code blocks of a language; "" means blocks without a language.
func codeBlocks(t *testing.T, page, language string) []string {
	t.Helper()
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```").FindAllStringSubmatch(world.ReadPage(t, page), -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	require.NotEmpty(t, blocks, "%s has no block of %q", page, language)
	return blocks
}

// TestScriptsOfClients runs the example scripts for authors of clients.
func TestScriptsOfClients(t *testing.T) {
	t.Parallel()
	const page = "rpc/README.md"
	tests := []struct {
		language, said string
		run            func(file string) []string
	}{
		{"sh", "completed\n", func(file string) []string { return []string{"sh", "-eu", file} }},
		{"python", "It is 42.\ncompleted\n", func(file string) []string { return []string{"python3", file} }},
		{"go", "completed\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.language, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
				`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"It is 42."}]},"session_id":"{{session}}"}`,
				`{"type":"result","subtype":"success","result":"It is 42.","session_id":"{{session}}"}`)
			w.Start()
			w.Opens()
			file := filepath.Join(w.Dir, "client."+tt.language)
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(codeBlocks(t, page, tt.language), "")), 0o600))
			var cmd *exec.Cmd
			if tt.run == nil {
				program := filepath.Join(w.Dir, "client")
				build := exec.Command("go", "build", "-o", program, file)
				out, err := build.CombinedOutput()
				require.NoError(t, err, "%s", out)
				cmd = exec.Command(program)
			} else {
				args := tt.run(file)
				cmd = exec.Command(world.Program(t, args[0]), args[1:]...)
			}
			cmd.Dir, cmd.Env = w.Root, append(w.Env(), "PWD="+w.Root)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, tt.said, string(out))
		})
	}
}

// TestReadmeShowsTheDemo compares the demo in the README, as text and as pictures, with the demo's output.
func TestReadmeShowsTheDemo(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("cursord", "demo").Output()
	require.NoError(t, err)
	differs := regexp.MustCompile(`\b\d+\.\d+\b|\b[0-9A-Z]{26}\b|completed in [^·]*|/\S*/cursord-demo-\d+`) // parts that differ from run to run
	lines := func(text string) []string {
		lines := strings.Split(strings.TrimSpace(differs.ReplaceAllString(text, "…")), "\n")
		for i, line := range lines {
			line, _, _ = strings.Cut(line, "  # ")
			lines[i] = strings.TrimRight(line, " ")
		}
		return lines
	}
	_, run, found := strings.Cut("\n"+string(out), "\n$ cursord run ")
	require.True(t, found, "%s", out)
	run, _, found = strings.Cut("$ cursord run "+run, "\n$ cursord stop")
	require.True(t, found, "%s", out)
	t.Run("text", func(t *testing.T) {
		shown := ""
		for _, block := range codeBlocks(t, "README.md", "") {
			if strings.HasPrefix(block, "$ cursord run") {
				shown = block
			}
		}
		require.NotEmpty(t, shown)
		requireInOrder(t, lines(shown), lines(run), "the demo does not print %q there")
	})
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) {
			const folder = "cmd/cursord/internal/demo/picture/"
			require.Contains(t, world.ReadPage(t, "README.md"), folder+theme+".svg")
			var picture struct {
				Lines []struct {
					Runs []string `xml:"tspan"`
				} `xml:"text"`
			}
			require.NoError(t, xml.Unmarshal([]byte(world.ReadPage(t, folder+theme+".svg")), &picture))
			shown := ""
			for _, line := range picture.Lines {
				shown += strings.Join(line.Runs, "") + "\n"
			}
			// A terminal shows more than a pipe: the agent's thoughts, and how the turn ended.
			requireInOrder(t, lines(run), lines(shown), "the picture lacks %q: run make picture")
		})
	}
}

// requireInOrder requires that others contains all of some lines, in the same order.
func requireInOrder(t *testing.T, some, others []string, lacks string) {
	t.Helper()
	for _, line := range some {
		i := slices.Index(others, line)
		require.GreaterOrEqual(t, i, 0, lacks, line)
		others = others[i+1:]
	}
}

// TestCommandsOfReadmes runs each command that the pages for people show, in order and in an own home. It replaces names in
// the commands by names that exist.
func TestCommandsOfReadmes(t *testing.T) {
	t.Parallel()
	// Lines with these beginnings are run by other tests, which are named here.
	elsewhere := map[string]string{
		"git clone": "TestCloneOfTheReadme", "make demo": "TestDemo", "make install": ".ci/run",
		"cursord editor": "TestNvimInstalled, TestEmacsInstalled, testdata/helix.txtar", "cursord doctor --helix": "testdata/helix.txtar",
		"cursord stdio --host": "testdata/remote.txtar", "cursord approve": "testdata/approvals.txtar, tests/approvals", "cursord deny": "tests/approvals",
		"cursord run --edit": "testdata/runedit.txtar", "cursord rewind": "testdata/rewind.txtar", "$ ": "TestReadmeShowsTheDemo", "cursord review": "testdata/review.txtar", "cursord chat": "TestChat", "cursord check-client": "TestCheckClient",
	}
	pages := []string{"README.md", "cmd/cursord/README.md", "editors/nvim/README.md", "editors/emacs/README.md", "editors/helix/README.md"}
	w := world.New(t)
	lib := filepath.Join(w.Dir, "lib")
	require.NoError(t, os.Mkdir(lib, 0o755))
	w.Put("main.go", strings.Repeat("//\n", 60))
	w.Put("shot.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("x", 100))
	w.Makes("git init -q; git add .; git -c user.name=n -c user.email=e commit -qm all")
	w.Put("../todo.txt", "0\n")
	w.Plays(append(world.Shells("c", "date +%s%N >first; date +%s%N >second"), `{"type":"result","subtype":"success","result":"done"}`)...)
	sh := func(line string) (string, error) {
		cmd := exec.Command("sh", "-euc", line)
		cmd.Dir, cmd.Env = w.Root, w.Env("XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	one := func(jq, command string) string {
		out, err := sh(command + " | jq -r '" + jq + "'")
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(out)
	}
	_, err := sh("cursord trust; cursord trust " + lib)
	require.NoError(t, err)
	run := 0
	for _, page := range pages {
		for _, block := range append(codeBlocks(t, page, ""), codeBlocksIf(t, page, "sh")...) {
			if strings.HasPrefix(block, "$ ") || strings.HasPrefix(block, "#!") { // what is seen, or a script: TestTrailersInAHook runs that
				continue
			}
		lines:
			for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
				for begin := range elsewhere {
					if strings.HasPrefix(line, begin) {
						continue lines
					}
				}
				line, _, _ = strings.Cut(line, " #")
				shown := line
				if strings.Contains(line, "accept 12.3") || strings.Contains(line, "reject 12.5") {
					_, err := sh("cursord run 'once more'")
					require.NoError(t, err)
					id := one(`.diffs[0].hunks[0].id`, `cursord diff --json`)
					line = regexp.MustCompile(`12\.\d`).ReplaceAllString(line, id)
				}
				if strings.Contains(line, "@1 --turn ID") {
					line = strings.Replace(line, "ID", one(`.turns[0].id`, `cursord show @1 --json`), 1)
				}
				if before, after, is := strings.Cut(line, "TURN"); is {
					line = before + one(`.turns[0].id`, `cursord show @1 --json`) + after
				}
				if strings.Contains(line, "SESSION") || strings.Contains(line, "ID") || strings.Contains(line, "METHOD") {
					line = regexp.MustCompile(`SESSION|\bID\b`).ReplaceAllString(line, one(`.sessions[0].id`, `cursord sessions --json`))
					line = strings.Replace(line, "METHOD JSON", `daemon/status '{}'`, 1)
				}
				if strings.TrimSpace(line) == "cursord untrust" {
					line += "; cursord trust"
				}
				if strings.HasPrefix(line, "cursord import") {
					line += " --new-ids" // the session still exists here
				}
				line = strings.Replace(line, "logs -f", "logs", 1)
				line = strings.ReplaceAll(line, "~/.local/state/cursord", "$CURSORD_STATE_DIR")
				out, err := sh(line)
				require.NoError(t, err, "%s: %s\n%s\n%s", page, shown, line, out)
				run++
			}
		}
	}
	require.Greater(t, run, 25)
}

// TestCloneOfTheReadme clones this repository as the README says, and lists the targets that the README goes on with.
func TestCloneOfTheReadme(t *testing.T) {
	t.Parallel()
	top := world.Top()
	if err := exec.Command("git", "-C", top, "rev-parse", "--verify", "-q", "HEAD").Run(); err != nil {
		t.Skip("these sources are no clone")
	}
	line := regexp.MustCompile(`(?m)^git clone .*$`).FindString(strings.Join(codeBlocks(t, "README.md", ""), ""))
	const address = "https://cursord.invalid/cursord"
	require.Contains(t, line, "<this repository>")
	line = strings.Replace(line, "<this repository>", address, 1)
	cmd := exec.Command("sh", "-euc", line+" && make help")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+top+".insteadOf", "GIT_CONFIG_VALUE_0="+address)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, block := range codeBlocks(t, "README.md", "") {
		for _, target := range regexp.MustCompile(`(?m)^make ([a-z]+)`).FindAllStringSubmatch(block, -1) {
			require.Regexp(t, `(?m)^`+target[1]+` `, string(out))
		}
	}
}

// codeBlocksIf is codeBlocks for a page that may have no such blocks.
func codeBlocksIf(t *testing.T, page, language string) []string {
	if !strings.Contains(world.ReadPage(t, page), "```"+language+"\n") {
		return nil
	}
	return codeBlocks(t, page, language)
}
