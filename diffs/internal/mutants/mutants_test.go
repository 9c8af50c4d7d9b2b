// Package mutants breaks the review and its writes to the disk on purpose, one rule at a time, to see that the tests notice.
// It has no code of its own: "make mutants" runs it.
package mutants

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	run    = flag.Bool("mutants", false, "build each mutant and run the tests on it")
	checks = flag.Int("mutants.checks", 4000, "how many sequences each property of a mutant tries")
)

// A mutant is a change that some test must refuse: now replaces old, which occurs once.
type mutant struct {
	name     string
	file     string // relative to the module's root
	old, now string
	tests    string // "PACKAGE REGEXP" of tests that must refuse it; "" means all of its own package, or of that which has it inside
}

// patience bounds one mutant's tests: a mutant whose tests do not end counts as killed.
const patience = 5 * time.Minute

// TestMutants checks that every mutant still fits the code and, if asked to, that none survives.
func TestMutants(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	sound := map[string]bool{} // tests that pass without a mutant
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			mutated := m.applied(t, root)
			if !*run {
				return
			}
			if !sound[m.tests] {
				as := m
				as.now = m.old
				out, passes := as.survives(t, root, as.applied(t, root))
				require.True(t, passes, "the tests fail without a mutant: %s", out)
				sound[m.tests] = true
			}
			if out, survives := m.survives(t, root, mutated); survives {
				t.Errorf("%s survives:\n%s", m.name, out)
			} else {
				t.Log("killed")
			}
		})
	}
}

// applied returns the mutated file.
func (m *mutant) applied(t *testing.T, root string) string {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), m.old), "in %s, how often there is\n%s", m.file, m.old)
	return strings.Replace(string(text), m.old, m.now, 1)
}

// survives runs the tests of the mutant's package, which must compile.
func (m *mutant) survives(t *testing.T, root, mutated string) (said string, survives bool) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mutant.go"), []byte(mutated), 0o644))
	overlay, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, filepath.FromSlash(m.file)): filepath.Join(dir, "mutant.go")},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
	program := filepath.Join(dir, "tests")
	own, _, _ := strings.Cut(path.Dir(m.file), "/internal/weave")
	pkg := filepath.Join(root, filepath.FromSlash(own))
	args := []string{"-test.failfast", fmt.Sprint("-rapid.checks=", *checks), "-rapid.nofailfile", "-rapid.shrinktime=1s"}
	if name, tests, given := strings.Cut(m.tests, " "); given {
		pkg = filepath.Join(root, filepath.FromSlash(name))
		args = []string{"-test.failfast", "-test.run", tests}
	}
	if pkg == filepath.Join(root, "diffs") {
		args = append(args, "-stories=3600")
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".")
	build.Dir = pkg
	out, err := build.CombinedOutput()
	require.NoError(t, err, "the mutant does not compile: %s", out)

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tests := exec.CommandContext(ctx, program, args...)
	tests.Dir = pkg
	// Tests that run the program build it with the mutant, too; other flags stay, or all would be compiled anew.
	flags := os.Getenv("GOFLAGS") + " -overlay=" + filepath.Join(dir, "overlay.json")
	tests.Env = append(os.Environ(), "GOFLAGS="+flags, "CURSORD_TEST_PROGRAM=")
	out, err = tests.CombinedOutput()
	return string(out), err == nil
}
