package listing

import (
	"fmt"
	"io"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
)

// Collected reports the sessions that a collection has deleted; with dryRun, those that it would delete. database is what
// it leaves.
func Collected(w, errOut io.Writer, r api.Collected, database api.Storage, dryRun bool) {
	if len(r.Sessions) > 0 {
		now := time.Now()
		rows := [][]string{{"TITLE", "UPDATED", "REASON", "WORKSPACE", "ID"}}
		for _, s := range r.Sessions {
			rows = append(rows, []string{term.Clean(s.Title), term.Ago(s.UpdatedAt.Time, now), s.Reason, term.Clean(s.Workspace), term.Clean(s.ID)})
		}
		term.Table(w, rows, 0, 3)
	}
	verb := "deleted"
	if dryRun {
		verb = "would delete"
	}
	fmt.Fprintf(w, "%s %s", verb, term.Count(len(r.Sessions), "session"))
	if r.Kept > 0 {
		fmt.Fprintf(w, "; %d more are busy or under review, and kept", r.Kept)
	}
	fmt.Fprintln(w)
	forgot := "forgot"
	if dryRun {
		forgot = "would forget"
	}
	for _, root := range r.Forgotten {
		fmt.Fprintf(w, "%s %s, which is gone\n", forgot, term.Clean(root))
	}
	switch {
	case dryRun:
	case r.NotCompacted != "":
		fmt.Fprintf(errOut, "the database was not compacted: %s\n", term.Clean(r.NotCompacted))
	case r.BytesAfter >= r.BytesBefore:
		fmt.Fprintf(w, "the database has %s; compacting has not made it smaller\n", space(database))
	default:
		fmt.Fprintf(w, "compacted the database from %s to %s\n", term.Size(r.BytesBefore), term.Size(r.BytesAfter))
	}
}
