//go:build unix

package cli

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// shells has for each shell a script that asks it to complete each line in ASKED, at the line's end. It prints "== " and the
// line, and then the completions.
var shells = map[string]string{
	// This calls the completion function as readline does.
	"bash": `. /usr/share/bash-completion/bash_completion
. "$COMPLETION"
compopt() { :; }
while IFS= read -r COMP_LINE; do
	echo "== $COMP_LINE"
	COMP_POINT=${#COMP_LINE} COMP_TYPE=63
	read -ra COMP_WORDS <<<"$COMP_LINE"
	[[ $COMP_LINE == *" " ]] && COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	__start_cursord
	printf '%s\n' "${COMPREPLY[@]}"
done <<<"$ASKED"`,
	// This sets the widget's variables and prints the completions instead of showing them.
	"zsh": `autoload -U compinit && compinit -u -D
. "$COMPLETION"
_describe() { print -l -- "${completions[@]}" }
_arguments() { : }
for line in "${(@f)ASKED}"; do
	print -r -- "== $line"
	words=("${(@s: :)line}") CURRENT=$#words
	_cursord
done`,
	"fish": `. "$COMPLETION"
for line in (string split \n -- $ASKED)
	echo "== $line"
	complete -C "$line"
end`,
}

// TestCompletion checks that the real shells complete names that the daemon knows.
func TestCompletion(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("sub/a.txt", "one\n")
	w.Plays(append(world.Edits("1", "sub/a.txt", "one\n", "two\n"), `{"type":"result","subtype":"success","result":"done","session_id":"{{session}}"}`)...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	hunk := e.Diffs()["sub/a.txt"].Hunks[0].ID
	for shell, script := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			world.Program(t, shell)
			if shell == "bash" {
				_, err := os.Stat("/usr/share/bash-completion/bash_completion")
				if err != nil && os.Getenv("CURSORD_NEED_PROGRAMS") == "" {
					t.Skip(err)
				}
				require.NoError(t, err)
			}
			dir := t.TempDir()
			out, _, status := w.Cursord("completion", shell)
			require.Zero(t, status)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "completion"), []byte(out), 0o600))
			wanted := map[string]string{
				"cursord show ":                 turn.SessionID,
				"cursord show @":                "@1",
				"cursord run --session ":        turn.SessionID,
				"cursord wait ":                 turn.ID,
				"cursord reject " + hunk[:1]:    hunk,
				"cursord accept sub":            "sub/a.txt",
				"cursord diff --turn ":          turn.ID,
				"cursord run --mode ":           "plan",
				"cursord run --model ":          "auto",
				"cursord run --output-format s": "stream-json",
				"cursord config set idle":       "idle_exit",
				"cursord config set model ":     "auto",
				"cursord config set isolation ": "copy",
				"cursord config set copies ":    "",
				"cursord sess":                  "sessions",
			}
			cmd := exec.Command(shell, "-c", script)
			cmd.Dir = w.Root
			cmd.Env = append(w.Env(), "ASKED="+strings.Join(slices.Collect(maps.Keys(wanted)), "\n"),
				"COMPLETION="+filepath.Join(dir, "completion"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", said)
			for line, want := range wanted {
				_, offers, found := strings.Cut(string(said), "== "+line+"\n")
				require.True(t, found, "%s: %s", line, said)
				offers, _, _ = strings.Cut(offers, "\n== ")
				require.Contains(t, offers, want, line)
				if strings.HasPrefix(line, "cursord config set ") && strings.HasSuffix(line, " ") {
					require.NotContains(t, offers, "idle_exit", "keys are offered in place of values: %s", line)
				}
			}
		})
	}
}
