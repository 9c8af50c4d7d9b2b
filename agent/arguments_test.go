//go:build unix

package agent

import (
	"strings"
	"testing"

	"cursord/agent/plaintext"

	"github.com/stretchr/testify/require"

	"cursord/agent/program"
)

// refuses returns the beginning of an agent that counts its starts and knows all options but one.
func refuses(option string) string {
	return `echo start >>starts
for a in "$@"; do case $a in ` + option + `) echo "error: unknown option '$a'" >&2; exit 1;; esac; done
`
}

func TestRunLeavesOutWhatABuildDoesNotKnow(t *testing.T) {
	f := newFake(t, refuses("--disable-auto-update")+"cat >prompt\n"+sayInit+sayResult)
	f.req.Version = "2026.01.01-abc1234"
	builds := program.LoadBuilds(nil, nil)
	for range 2 {
		out := NewLauncher(builds).Run(t.Context(), f.req, func([]Event) {})
		require.Equal(t, Completed, out.Status)
		require.Equal(t, "hi", f.read("prompt"))
	}
	require.Equal(t, 3, strings.Count(f.read("starts"), "start"), "refused once, and remembered")
	require.Equal(t, []string{"--disable-auto-update"}, builds.Lacks(f.req.Version))

	f.req.Version = "2026.01.02-abc1234"
	require.Equal(t, Completed, NewLauncher(builds).Run(t.Context(), f.req, func([]Event) {}).Status)
	require.Equal(t, 5, strings.Count(f.read("starts"), "start"), "another build may know it")
}

func TestRunLeavesOutNothingThatDecides(t *testing.T) {
	for _, option := range []string{"--force", "--mode"} {
		f := newFake(t, refuses(option)+sayInit+sayResult)
		f.req.Force, f.req.Mode, f.req.Version = true, "plan", "2026.01.01-abc1234"
		out, _ := f.run(t.Context(), nil)
		require.Equal(t, Failed, out.Status)
		require.Equal(t, "agentFailed", out.Failure.Kind)
		require.Contains(t, out.Failure.Message, option)
		require.Contains(t, out.Failure.Message, f.req.Version)
		require.Equal(t, 1, strings.Count(f.read("starts"), "start"))
	}
}

// TestRunRepeatsNoOtherRefusals: an unknown option that was not passed, and a refusal after the beginning, are ordinary
// failures.
func TestRunRepeatsNoOtherRefusals(t *testing.T) {
	for _, script := range []string{
		"echo start >>starts; echo \"error: unknown option '--other'\" >&2; exit 1\n",
		"echo start >>starts\n" + sayInit + "echo \"error: unknown option '--disable-auto-update'\" >&2; exit 1\n",
	} {
		f := newFake(t, script)
		out, _ := f.run(t.Context(), nil)
		require.Equal(t, Failed, out.Status)
		require.Contains(t, out.Failure.Message, "unknown option")
		require.Equal(t, 1, strings.Count(f.read("starts"), "start"))
	}
}

func TestUnknownOption(t *testing.T) {
	for said, option := range map[string]string{
		"error: unknown option '--disable-auto-update'\n":                          "--disable-auto-update",
		"\x1b[31merror: unknown option '--sandbox=enabled'\x1b[0m\n(Did you …?)\n": "--sandbox",
		"Error: Unknown option \"-f\"":                                             "-f",
		"error: unknown option --x\n":                                              "--x",
	} {
		m := unknownOption().FindStringSubmatch(plaintext.StripANSI(said))
		require.NotNil(t, m, said)
		require.Equal(t, option, optionName(m[1]))
	}
	require.False(t, unknownOption().MatchString("error: unknown command 'x'"))
}
