package listing

import (
	"fmt"
	"io"
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
	copies := [][]string{{"COPY OF SESSION", "SIZE", "USED", "IN"}}
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
			copies = append(copies, []string{term.Clean(c.SessionID), term.Size(c.Bytes), term.Ago(c.UsedAt.Time, now), term.Clean(c.Path)})
		}
	}
	term.Table(out, rows)
	if len(copies) > 1 {
		fmt.Fprintln(out)
		term.Table(out, copies)
	}
}
