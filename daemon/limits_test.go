package daemon

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/allow"
	"cursord/daemon/internal/approvals"
	"cursord/daemon/internal/callchanges"
	"cursord/daemon/internal/params"
)

// TestProtocolNamesLimits compares the daemon's limits for clients' input with those in PROTOCOL.md.
func TestProtocolNamesLimits(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "rpc", "PROTOCOL.md"))
	require.NoError(t, err)
	_, limits, found := strings.Cut(string(page), "\n## Limits\n")
	require.True(t, found)
	require.Equal(t, params.WordMax, params.ChatIDMax)
	for row, limit := range map[string]int{
		"| a prompt with its context | %d MiB |":                   params.PromptMax >> 20,
		"| a session's title | %d KiB;":                            params.TitleMax >> 10,
		"| `turnId` | %d characters,":                              params.TurnIDMax,
		"| attempts at a prompt; the name of their group | %d;":    params.AttemptsMax,
		"| a model, or the agent's name of a chat | %d characters": params.WordMax,
		"| text in one item | %d MiB,":                             maxText >> 20,
		"| changes of a call (`changes`) | %d;":                    callchanges.MaxFiles,
		"Their patches: %d KiB,":                                   callchanges.MaxPatch >> 10,
		"| a command in an approval | %d KiB;":                     approvals.MaxCommand >> 10,
		"| a text in an approval | %d KiB;":                        approvals.MaxDetail >> 10,
		"| pending approvals of a turn | %d;":                      approvals.MaxPending,
		"| a text in `approval/answer` | %d KiB |":                 approvals.MaxText >> 10,
		"| rules of a workspace | %d,":                             approvals.MaxRules,
		", each up to %d KiB; for others":                          allow.MaxCommand >> 10,
		"| `query` of `session/search` | %d KiB |":                 searchMax >> 10,
		"| `variables` of `agent/environment` | %d,":               maxVariables,
		", each up to %d KiB; all together":                        maxVariable >> 10,
		"; all together %d MiB |":                                  maxEnvironment >> 20,
	} {
		if text := fmt.Sprintf(row, limit); !strings.Contains(limits, text) {
			t.Errorf("PROTOCOL.md, Limits, has no row with: %s", text)
		}
	}
	require.Contains(t, string(page), fmt.Sprintf("Without `limit` a page has %d entries; %d are the most", listDefault, listMax))
}

// TestEachLimitIsCompared: a constant that an error names is a limit, so it has a row in PROTOCOL.md that is compared with it.
func TestEachLimitIsCompared(t *testing.T) {
	t.Parallel()
	compared := ""
	for _, test := range []string{"limits_test.go", "../rpc/protocol_test.go"} {
		source, err := os.ReadFile(filepath.FromSlash(test))
		require.NoError(t, err)
		compared += string(source)
	}
	errs := regexp.MustCompile(`(?:api\.Invalid\(|Message: fmt\.Sprintf\().*`)
	words := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\bCut\([^()]*\)`) // texts, and those of others that are cut
	limit := regexp.MustCompile(`\b\w*(?:[mM]ax|Most)[A-Z]?\w*`)
	found := 0
	for _, in := range []string{".", "../rpc"} {
		require.NoError(t, filepath.WalkDir(filepath.FromSlash(in), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, line := range errs.FindAllString(string(source), -1) {
				for _, name := range limit.FindAllString(words.ReplaceAllString(line, ""), -1) {
					found++
					if !regexp.MustCompile(`\b` + name + `\b`).MatchString(compared) {
						t.Errorf("%s names the limit %s in an error, and no test compares it with PROTOCOL.md, Limits: add its row there, "+
							"and to TestProtocolNamesLimits here or in rpc", path, name)
					}
				}
			}
			return err
		}))
	}
	require.Greater(t, found, 10)
}
