package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplay decodes the recorded streams in the folder that CURSORD_STREAMS names, and checks the rules for every
// successful run.
func TestReplay(t *testing.T) {
	dir := os.Getenv("CURSORD_STREAMS")
	if dir == "" {
		t.Skip("CURSORD_STREAMS names no recordings")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			d, said := NewDecoder(), strings.Builder{}
			var result *Result
			inits, open := 0, map[string]Call{}
			for line := range bytes.Lines(data) {
				for _, ev := range d.Line(line) {
					switch ev := ev.(type) {
					case Init:
						inits++
						require.NotEmpty(t, ev.SessionID)
						require.NotEmpty(t, ev.Dir)
					case Text:
						said.WriteString(ev.Text)
					case Thinking:
						require.NotEmpty(t, ev.Text)
					case ToolStart:
						require.NotContains(t, open, ev.Call.ID)
						open[ev.Call.ID] = ev.Call
					case ToolEnd:
						start, ok := open[ev.Call.ID]
						require.True(t, ok)
						delete(open, ev.Call.ID)
						require.Equal(t, start.Name, ev.Call.Name)
						require.NotEqual(t, "other", ev.Call.Name)
						require.Equal(t, CallCompleted, ev.State)
						if ev.Call.Name == "edit" {
							require.Len(t, ev.Call.Changes, 1)
							require.NotNil(t, ev.Call.Changes[0].After)
						}
					case Result:
						result = &ev
					case Unreadable, Unknown, Failure:
						require.Fail(t, transcribe(ev))
					}
				}
			}
			require.Equal(t, 1, inits)
			require.Empty(t, open)
			require.NotNil(t, result)
			require.True(t, result.OK)
			require.Equal(t, *result.Text, said.String())
			require.Equal(t, said.String(), d.Text())
		})
	}
}
