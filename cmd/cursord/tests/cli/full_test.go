//go:build linux

package cli

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestOutputIsNotLostInSilence: each command that prints fails if it cannot.
func TestOutputIsNotLostInSilence(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", "one\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "a.txt", "one\n", "two\n"))...)
	e.Turn(nil)
	for _, line := range []string{
		"help", "help more", "help run", "run --help", "version", "--version", "status", "sessions", "sessions --json", "show @1", "workspaces", "usage",
		"approvals", "approvals --rules", "config", "config get parallel_turns", "doctor", "diff", "why a.txt", "man", "export @1",
		"schema", "completion bash", "rename @1 new", "fork @1", "trust", "accept a.txt", "undo", "redo", "undo", "reject a.txt", "undo",
		"run hello", "run --background hello", "wait @1", "search hello", "gc",
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		cmd := w.Command(strings.Fields(line)...)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = full, &said
		_ = cmd.Run()
		full.Close()
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "no space left") {
			t.Errorf("cursord %s: exit status %d: %s", line, code, said.String())
		}
	}
}

// TestARunWhoseOutcomeNobodyReads: it has the status of a program that a broken pipe has ended, also if the turn has ended by then.
func TestARunWhoseOutcomeNobodyReads(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(world.Playing([]string{world.Piece("one\n\n"), world.Done})...)
	w.Start()
	w.Opens()
	for _, args := range [][]string{{"--output-format", "json"}, {}} {
		run := w.Command(append([]string{"run", "hello"}, args...)...)
		read, write, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, read.Close())
		var said strings.Builder
		run.Stdout, run.Stderr = write, &said
		require.Error(t, run.Run())
		write.Close()
		require.Equal(t, 141, run.ProcessState.ExitCode(), said.String())
		require.NotContains(t, said.String(), "broken pipe")
	}
}

// TestARunThatNobodyReadsLeavesItsTurn: behind head, a run says how to get back to its turn, as at a hangup.
func TestARunThatNobodyReadsLeavesItsTurn(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	wait := `{"fake":"wait","path":"` + w.Path("../go") + `"}`
	w.Plays(world.Playing([]string{world.Piece("one\n\n"), wait, world.Piece("two\n\n"), `{"fake":"hang"}`})...)
	w.Start()
	w.Opens()
	run := w.Command("run", "hello")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	var said strings.Builder
	run.Stdout, run.Stderr = write, &said
	require.NoError(t, run.Start())
	write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "one\n", line)
	read.Close()
	w.Put("../go", "")
	_ = run.Wait()
	require.Equal(t, 141, run.ProcessState.ExitCode(), said.String())
	require.Contains(t, said.String(), "the turn is left to the daemon")
	require.Contains(t, said.String(), "\n  cursord cancel ")
}
