package listing

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
)

// Workspaces prints the workspaces, and below each the copies in which agents work.
func Workspaces(out, errOut io.Writer, list []api.WorkspaceInfo) {
	if len(list) == 0 {
		fmt.Fprintln(errOut, "no workspaces yet")
		return
	}
	rows := [][]string{{"SESSIONS", "RUNNING", "HUNKS", "TRUSTED", "WORKSPACE"}}
	copies := [][]string{{"COPY OF SESSION", "KIND", "SIZE", "USED", "IN"}}
	now := time.Now()
	for _, w := range list {
		trusted := "no"
		if w.Trusted {
			trusted = "yes"
		}
		rows = append(rows, []string{
			fmt.Sprint(w.Sessions), fmt.Sprint(w.Running), fmt.Sprint(w.PendingHunks), trusted, term.Clean(w.Workspace),
		})
		for _, c := range w.Copies {
			copies = append(copies, []string{term.Clean(c.SessionID), term.Clean(c.Kind), term.Size(c.Bytes), term.Ago(c.UsedAt.Time, now), term.Clean(c.Path)})
		}
	}
	term.Table(out, rows)
	if len(copies) > 1 {
		fmt.Fprintln(out)
		term.Table(out, copies)
	}
	for _, w := range list {
		for _, c := range w.Copies {
			what := "has a copy and no overlay"
			if c.Kind == "overlay" {
				what = "stays on an overlay only until its changes are decided"
			}
			if c.Reason != "" {
				term.PrintFolded(errOut, fmt.Sprintf("%s %s: %s\n", term.Clean(c.SessionID), what, term.Clean(c.Reason)))
			}
		}
		if _, err := os.Lstat(w.Workspace); errors.Is(err, fs.ErrNotExist) {
			term.PrintFolded(errOut, fmt.Sprintf("%s is gone%s\n", term.Clean(w.Workspace), forgetting(w)))
		}
	}
}

// forgetting says how a person has a workspace forgotten that is gone.
func forgetting(w api.WorkspaceInfo) string {
	var steps []string
	if w.Sessions > 0 {
		steps = append(steps, "delete its sessions (cursord delete -w DIR SESSION)")
	}
	if w.PendingHunks > 0 {
		steps = append(steps, "take its changes off the list (cursord dismiss --all -w DIR)")
	}
	return "; to forget it: " + strings.Join(append(steps, "cursord gc"), ", ")
}
