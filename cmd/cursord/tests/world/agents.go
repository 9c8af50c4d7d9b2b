//go:build unix

package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	PNGBytes = "\x89PNG\r\n\x1a\npicture"
	GIFBytes = "GIF89a picture"
)

// Prompted returns the prompt of the agent's latest run.
func (w *World) Prompted() string {
	w.T.Helper()
	runs := w.Runs()
	require.NotEmpty(w.T, runs)
	return runs[len(runs)-1].Prompt
}

// Kept lists the files of images that a client sent as bytes.
func (w *World) Kept() []string {
	w.T.Helper()
	files, err := filepath.Glob(filepath.Join(w.Dir, "state", "images", "*", "*"))
	require.NoError(w.T, err)
	return files
}

// PermitArgs returns those options of the agent's latest run that say what it may do.
func (w *World) PermitArgs() (args []string) {
	w.T.Helper()
	runs := w.Runs()
	require.NotEmpty(w.T, runs)
	all := runs[len(runs)-1].Args
	for i := range all {
		switch all[i] {
		case "--sandbox", "--add-dir":
			args = append(args, all[i]+"="+all[i+1])
		case "--auto-review", "--force":
			args = append(args, all[i])
		}
	}
	return args
}

// Waiting plays a turn that has said everything and then waits for a server, in a world that allows such a wait.
func (w *World) Waiting() {
	w.Put("../config.toml", "background = \"wait\"\n")
	w.Plays(InitLine,
		`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"npm run dev"},"result":{"isBackground":true,"success":{}}}}}`,
		Says("Up.", ""), `{"fake":"hang"}`)
}

// Runs lists the agent's runs, the oldest first.
func (w *World) Runs() (runs []AgentRun) {
	w.T.Helper()
	b, err := os.ReadFile(w.runLog)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(w.T, err)
	for line := range bytes.Lines(b) {
		var r AgentRun
		require.NoError(w.T, json.Unmarshal(line, &r))
		runs = append(runs, r)
	}
	return runs
}

// An AgentRun is a run of the agent as the fake agent notes it: its command line, its environment and its prompt.
type AgentRun struct {
	Args    []string `json:"args"`
	Cwd     string   `json:"cwd"`
	Session string   `json:"session"`
	Prompt  string   `json:"prompt"`
}

// Steered starts a daemon whose agents take texts while they work. The turn says "Go. ", waits for the file go, and says its prompt.
func Steered(t *testing.T) *World {
	t.Helper()
	w := New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Start("CURSORD_FAKE_BUILD=2026.10.01-e373342")
	w.Trusts()
	w.Plays(`{"fake":"say","text":"Go. "}`, `{"fake":"wait","path":"go"}`, `{"fake":"say","text":"End of {{prompt}}."}`)
	return w
}
