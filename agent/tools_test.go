package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestToolsAreClassified requires a class, a title and unique aliases of every tool.
func TestToolsAreClassified(t *testing.T) {
	seen := map[string]bool{}
	for _, tool := range tools {
		require.NotEqual(t, unclassified, tool.writes, "say what %s may write", tool.name)
		require.NotEmpty(t, tool.title(&Call{Name: tool.name, RawName: "x"}, nil, "", ""), tool.name)
		require.Equal(t, tool.writes, WritesOf(tool.name))
		for _, alias := range tool.aliases {
			require.Equal(t, plainName.Replace(strings.ToLower(alias)), alias)
			require.False(t, seen[alias], "%s is an alias of two tools", alias)
			seen[alias] = true
		}
	}
	require.Equal(t, "other", tools[len(tools)-1].name)
}

// TestReportsThatLeaveEmptyTextsOut: only an edit's. A write without a text has not said what it wrote.
func TestReportsThatLeaveEmptyTextsOut(t *testing.T) {
	for _, name := range append(ToolNames(), "teleport") {
		require.Equal(t, name == "edit", (&Call{Name: name}).LeavesEmpty(), name)
	}
}

// TestUnknownToolsMayWriteAnything: a tool that this build does not know may write any file, so its changes are reviewed.
func TestUnknownToolsMayWriteAnything(t *testing.T) {
	for _, name := range []string{"", "teleport", "other"} {
		require.Equal(t, WritesAnything, WritesOf(name), name)
	}
}
