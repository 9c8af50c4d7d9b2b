//go:build unix

// Package vscode tests the client part of the extension for Visual Studio Code with the real protocol library.
package vscode

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) { world.Main(m, nil) }

// TestClient: the extension's client part asks, compares, decides by lenses and undoes with "cursord lsp", and shows the
// status; in the folder, and in a copy of it.
func TestClient(t *testing.T) {
	tools := world.EditorsFound(t, "vscode-tools", "no vscode-tools on PATH")[0]
	w := world.New(t)
	before, after := "one\ntwo\nthree\n", "one\nTWO\nthree\n"
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("c1", "f", before, after), world.Edits("c2", "new", "(absent)", "made\n"))...)
	w.Trusts()
	t.Cleanup(func() { w.Cursord("stop", "--force") })
	ctx, cancel := context.WithTimeout(t.Context(), 2*world.Patience)
	defer cancel()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(ctx, tools, args...)
		cmd.Env, cmd.Dir = w.Env(), w.Root
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	source, compiled := world.Top("editors", "vscode"), t.TempDir()
	run("tsc", "--ignoreConfig", "--strict", "--module", "node16", "--target", "es2022", "--lib", "es2022", "--types", "", "--outDir", compiled, source+"/src/client.ts")
	run("node", source+"/test/client.test.cjs", compiled, w.Root, "cursord")
}
