package daemon

import (
	"fmt"
	"os"
	"path/filepath"
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
	} {
		if text := fmt.Sprintf(row, limit); !strings.Contains(limits, text) {
			t.Errorf("PROTOCOL.md, Limits, has no row with: %s", text)
		}
	}
	require.Contains(t, string(page), fmt.Sprintf("Without `limit` a page has %d entries; %d are the most", listDefault, listMax))
}
