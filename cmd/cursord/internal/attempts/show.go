package attempts

import (
	"fmt"
	"io"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/sessions"
)

// outcome says how a turn stands, in a few words.
func outcome(status sessions.TurnStatus, e *sessions.TurnError) string {
	if status != sessions.TurnFailed || e == nil {
		return string(status)
	}
	if e.Kind != "" && e.Kind != "agentFailed" {
		return string(status) + ": " + term.Words(e.Kind)
	}
	return string(status)
}

// checkStatus says how a check stands.
func checkStatus(s sessions.TurnStatus) string {
	if s == sessions.TurnCompleted {
		return "passed"
	}
	return string(s)
}

// checkOf says how the check of an attempt stands.
func checkOf(c *api.AttemptCheck) string {
	if c == nil {
		return "-"
	}
	text := checkStatus(c.Status)
	if c.Status == sessions.TurnFailed && c.ExitCode != nil {
		text = fmt.Sprintf("exit code %d", *c.ExitCode)
	}
	if c.Stale {
		text += ", stale"
	}
	return text
}

// lines says how many lines an attempt adds and removes, of what is to review.
func lines(a api.AttemptState) string {
	switch {
	case a.Hunks == 0:
		return "nothing to review"
	case a.Beside > 0:
		return fmt.Sprintf("+%d -%d, %d beside yours", a.Added, a.Removed, a.Beside)
	}
	return fmt.Sprintf("+%d -%d", a.Added, a.Removed)
}

// Print shows a group: the attempts beside each other, and what their checks printed that did not pass.
func Print(w io.Writer, g api.AttemptGroup, now time.Time) {
	p := term.PaletteOf(w)
	title, _, _ := strings.Cut(strings.TrimSpace(g.Prompt), "\n")
	left := term.Count(g.Of, "attempt")
	if len(g.Attempts) != g.Of {
		left = fmt.Sprintf("%d of %s left", len(g.Attempts), left)
	}
	term.PrintFolded(w, p.Bold(term.Clean(title))+p.Dim(fmt.Sprintf(" · %s · %s · group %s", left, term.Ago(g.CreatedAt.Time, now), term.Clean(g.Group)))+"\n")
	var ids []string
	for _, a := range g.Attempts {
		ids = append(ids, a.TurnID)
	}
	short := map[string]string{}
	if term.IsTerminal(w) {
		short = naming.Shortest(ids)
	}
	rows := [][]string{{"#", "STATUS", "FILES", "LINES", "CHECK", "TURN", "ANSWER"}}
	for _, a := range g.Attempts {
		id := short[a.TurnID]
		if id == "" {
			id = a.TurnID
		}
		answer := a.Answer
		if a.Error != nil {
			answer = a.Error.Message
		}
		status := outcome(a.Status, a.Error)
		if a.Waiting {
			status = "asks you"
		}
		rows = append(rows, []string{
			fmt.Sprint(a.Number), status, fmt.Sprint(a.Files), lines(a), checkOf(a.Check), term.Clean(id), term.Clean(answer),
		})
	}
	rows, below := fitted(rows, term.Columns(w))
	term.Table(w, rows)
	for _, line := range below {
		term.PrintFolded(w, line+"\n")
	}
	for _, a := range g.Attempts {
		c := a.Check
		if c == nil || !c.Status.Final() {
			continue
		}
		if c.Status != sessions.TurnCompleted {
			why := checkOf(c)
			if c.ExitCode == nil && c.Error != nil {
				why = c.Error.Message
			}
			term.PrintFolded(w, fmt.Sprintf("\ncheck of attempt %d, %s: %s\n", a.Number, term.Clean(c.Command), term.Clean(why)))
			for line := range strings.Lines(c.Output) {
				fmt.Fprintln(w, p.Dim("    "+term.Clean(strings.TrimRight(line, "\n"))))
			}
		}
		if c.Hunks > 0 {
			term.PrintFolded(w, fmt.Sprintf("the check of attempt %d has written %s that git does not ignore; to take that back: cursord reject --turn %s\n",
				a.Number, term.Count(c.Hunks, "hunk"), term.Clean(c.TurnID)))
		}
	}
}

// fitted returns the rows of attempts for a terminal with so many columns; 0: any number. If they are too wide, the answers, which are
// last in them, become lines of their own.
func fitted(rows [][]string, columns int) (table [][]string, below []string) {
	const gap = 2 // cells between columns
	wide := -gap
	for i := range rows[0] {
		most := 0
		for _, row := range rows {
			most = max(most, term.Width(row[i]))
		}
		wide += most + gap
	}
	if columns == 0 || wide <= columns {
		return rows, nil
	}
	for n, row := range rows {
		last := len(row) - 1
		table = append(table, row[:last])
		if n > 0 && row[last] != "" {
			below = append(below, fmt.Sprintf("attempt %s: %s", row[0], row[last]))
		}
	}
	return table, below
}

// sayNext says what a person can do with the attempts.
func sayNext(w io.Writer, g api.AttemptGroup) {
	some := false
	for _, a := range g.Attempts {
		some = some || a.Hunks > 0
	}
	if some {
		term.PrintFolded(w, "see one: cursord diff --turn TURN · take all of it: cursord accept --turn TURN · take hunks of several: cursord review\n")
	}
	term.PrintFolded(w, "drop the rest: cursord attempts --drop, or all but one: cursord attempts --drop --keep 1\n")
}
