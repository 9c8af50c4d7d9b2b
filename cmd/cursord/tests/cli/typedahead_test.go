//go:build unix

package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEnterDuringProgress: a line of progress once stayed on the screen if a person pressed Enter while it stood there.
func TestEnterDuringProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, progress, driver string }{
		"at the top":       {"clear; cursord run do", `… working for \d+s`, "print"},
		"at the bottom":    {"clear; seq 40; cursord run do", `… working for \d+s`, "print"},
		"after a question": {"clear; seq 40; cursord run do", `… working for \d+s`, "acp"},
		"attempts":         {"clear; seq 40; cursord run --attempts 2 do", `attempt 1: running · \d+ ?s`, "print"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("../config.toml", "driver = \""+c.driver+"\"\n")
			waits := `{"fake":"wait","path":"` + w.Path("../go") + `"}`
			w.Plays(waits)
			if c.driver == "acp" {
				w.Plays(`{"fake":"shell","ask":true,"command":"true"}`, waits)
			}
			w.Start()
			w.Trusts()
			tm := w.Terminal(t)
			tm.Types(c.command+"; echo ended", "Enter")
			if c.driver == "acp" {
				tm.Shows("y Allow once")
				tm.Answers("y", "Enter")
			}
			shown := regexp.MustCompile(c.progress)
			last := ""
			another := func() {
				t.Helper()
				tm.Poll("progress", func() bool {
					all := shown.FindAllString(tm.Screen(), -1)
					now := strings.Join(all, "\n")
					if now == "" || now == last {
						return false
					}
					last = now
					return true
				})
			}
			for _, keys := range [][]string{{"y", "Enter"}, {"Enter", "Enter", "Enter", "Enter"}, {"y", "Enter", "Enter"}} {
				another()
				tm.Types(keys...)
				another()
				require.NotContains(t, last, "\n", "%s", tm.Screen())
			}
			w.Put("../go", "")
			tm.Poll("the end", func() bool { return strings.Contains(tm.Screen(), "ended\n") })
			require.NotRegexp(t, shown, tm.Screen())
			if strings.Contains(c.command, "seq") {
				require.Contains(t, tm.Screen(), "\n40\n", "nothing else is removed")
			}
		})
	}
}
