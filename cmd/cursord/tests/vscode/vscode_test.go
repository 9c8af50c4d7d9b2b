//go:build unix

// Package vscode tests the client part of the extension for Visual Studio Code with the real protocol library.
package vscode

import (
	"archive/zip"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) { world.Main(m, nil) }

// TestClient: the extension's client part asks, compares, decides by lenses and undoes with "cursord lsp", and shows the
// status; in the folder, and in a copy of it.
func TestClient(t *testing.T) {
	w := world.New(t)
	before, after := "one\ntwo\nthree\n", "one\nTWO\nthree\n"
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("c1", "f", before, after), world.Edits("c2", "new", "(absent)", "made\n"))...)
	runClient(w)
}

// TestApprovals: what agents ask reaches the editor as a message with buttons, and the answer reaches the agent.
func TestApprovals(t *testing.T) {
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Plays(`{"fake":"shell","ask":true,"command":"echo ran >>ran"}`, `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`, `{"fake":"say","text":"over"}`)
	runClient(w, "asks")
}

// runClient compiles the extension's client part and runs its test in a world.
func runClient(w *world.World, part ...string) {
	t := w.T
	t.Helper()
	tools := world.EditorsFound(t, "vscode-tools", "no vscode-tools on PATH")[0]
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
	run(append([]string{"node", source + "/test/client.test.cjs", compiled, w.Root, "cursord"}, part...)...)
}

// TestInstallation runs the two commands with which the page installs the extension: the one that makes it, and that of a
// "code" which keeps what it is given. The file must hold all that Visual Studio Code reads.
func TestInstallation(t *testing.T) {
	world.EditorsFound(t, "vscode-tools", "no vscode-tools on PATH")
	page, dir := world.ReadPage(t, "editors/vscode/README.md"), t.TempDir()
	makes := regexp.MustCompile("`" + `(\.ci/vscode package (\S+) )cursord\.vsix` + "`").FindStringSubmatch(page)
	require.NotNil(t, makes, "the page does not say how to make the extension")
	require.Contains(t, world.ReadPage(t, "README.md"), makes[0], "the landing page says the same")
	installs := regexp.MustCompile(`(?m)^code --install-extension cursord\.vsix$`).FindString(page)
	require.NotEmpty(t, installs, "the page does not say how to install the extension")
	sh := func(dir, line string) {
		t.Helper()
		cmd := exec.Command("sh", "-euc", line)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
	}
	sh(world.Top(), makes[1]+filepath.Join(dir, "cursord.vsix"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "code"), []byte("#!/bin/sh\ntest \"$#$1\" = 2--install-extension && cp \"$2\" installed.zip\n"), 0o755))
	sh(dir, installs)

	vsix, err := zip.OpenReader(filepath.Join(dir, "installed.zip"))
	require.NoError(t, err)
	defer vsix.Close()
	manifest, err := vsix.Open("extension/package.json")
	require.NoError(t, err)
	var extension struct{ Name, Version, Main string }
	require.NoError(t, json.NewDecoder(manifest).Decode(&extension))
	require.Equal(t, "cursord", extension.Name)
	require.Equal(t, makes[2], extension.Version)
	for _, name := range []string{
		"extension.vsixmanifest", filepath.Join("extension", extension.Main), "extension/readme.md", "extension/node_modules/vscode-languageclient/package.json",
	} {
		file, err := vsix.Open(name)
		require.NoError(t, err, name)
		info, err := file.Stat()
		require.NoError(t, err)
		require.NotZero(t, info.Size(), name)
	}
}
