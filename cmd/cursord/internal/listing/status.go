package listing

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/doctor"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/version"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/sessions"
)

// Status prints the status of the daemon.
func Status(out io.Writer, s api.Status) {
	w, palette := new(strings.Builder), term.PaletteOf(out)
	fmt.Fprintf(w, "version     %s\n", term.Clean(version.ForPeople(s.Version)))
	fmt.Fprintf(w, "process     %d, since %s\n", s.PID, s.StartedAt.Local().Format(time.DateTime))
	fmt.Fprintf(w, "uptime      %s\n", term.Span(time.Duration(s.UptimeSeconds)*time.Second))
	fmt.Fprintf(w, "socket      %s\n", s.Socket)
	fmt.Fprintf(w, "database    %s\n", s.Database)
	fmt.Fprintf(w, "storage     %s\n", space(s.Storage))
	if s.Storage.Trouble != "" {
		fmt.Fprintf(w, "            %s\n", palette.Red("takes no changes: "+term.Clean(s.Storage.Trouble)))
	}
	if n := s.Storage.Damaged; n > 0 {
		fmt.Fprintf(w, "            %s\n", palette.Red(term.Count(n, "damaged object")+" set aside"))
	}
	fmt.Fprintf(w, "agent       %s\n", agentLine(&s.Agent))
	if s.Agent.Message != "" && s.Agent.State != "ready" {
		fmt.Fprintf(w, "            %s\n", palette.Yellow(term.Clean(s.Agent.Message)))
	}
	fmt.Fprintf(w, "clients     %d\n", s.Clients)
	fmt.Fprintf(w, "workspaces  %d in use\n", s.Workspaces)
	waits := ""
	if n := s.Turns.Background; n > 0 {
		waits = "; " + view.WaitsFor(n)
	}
	fmt.Fprintf(w, "turns       %d running, %d queued%s\n", s.Turns.Running, s.Turns.Queued, waits)
	fmt.Fprintf(w, "lag         write %.1f ms (max %.1f), deliver %.1f ms (max %.1f); %s waiting\n",
		s.Lag.CommitMS.Last, s.Lag.CommitMS.Worst, s.Lag.LoopMS.Last, s.Lag.LoopMS.Worst, term.Count(s.Storage.Waiting, "change"))
	fmt.Fprintf(w, "memory      %.1f MiB\n", float64(s.MemoryBytes)/(1<<20))
	for _, m := range s.Messages {
		for line := range strings.Lines(m.Message) {
			fmt.Fprintf(w, "%-11s %s\n", m.Level, palette.Yellow(term.Clean(strings.TrimSpace(line))))
		}
	}
	term.PrintFolded(out, w.String())
	if len(s.PerWorkspace) == 0 {
		return
	}
	fmt.Fprintln(out)
	rows := [][]string{{"RUNNING", "QUEUED", "CLIENTS", "WAITING", "WORKSPACE"}}
	for _, each := range s.PerWorkspace {
		rows = append(rows, []string{
			fmt.Sprint(each.Running), fmt.Sprint(each.Queued), fmt.Sprint(each.Subscribers), fmt.Sprint(each.Waiting), term.Clean(each.Workspace),
		})
	}
	term.Table(out, rows)
}

// space says how large the database is, and how much of that is in use. What is free is mostly room to grow, which gc leaves.
func space(s api.Storage) string {
	return fmt.Sprintf("%s, %s of it used", term.Size(s.Bytes), term.Size(s.Bytes-s.FreeBytes))
}

// agentLine describes the agent from what the daemon knows, without a question to the agent.
func agentLine(a *api.AgentStatus) string {
	known := []string{doctor.AgentState(a)}
	if a.State == "unknown" && a.Message == "" {
		known[0] = `not asked yet ("cursord doctor" asks it)`
	}
	for _, s := range []string{a.Version, a.Account, a.Path} {
		if s != "" {
			known = append(known, term.Clean(s))
		}
	}
	return strings.Join(known, ", ")
}

// Active lists running and queued turns.
func Active(w io.Writer, turns []*sessions.Turn, now time.Time) {
	if len(turns) == 0 {
		return
	}
	fmt.Fprintln(w)
	session := func(t *sessions.Turn) string { return t.SessionID }
	if term.IsTerminal(w) {
		var ids []string
		for _, t := range turns {
			ids = append(ids, t.SessionID)
		}
		slices.Sort(ids)
		names := naming.Shortest(slices.Compact(ids))
		session = func(t *sessions.Turn) string { return names[t.SessionID] }
	}
	rows := [][]string{{"PROMPT", "STATE", "SINCE", "SESSION", "TURN"}}
	for _, t := range turns {
		since := t.CreatedAt
		if t.StartedAt != nil {
			since = *t.StartedAt
		}
		rows = append(rows, []string{term.Clean(firstLine(t.Asked())), outcome(t), term.Ago(since.Time, now), term.Clean(session(t)), term.Clean(t.ID)})
	}
	term.Table(w, rows, 0)
}

// firstLine returns the first line that is not blank.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
