package listing

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// Used is the sum of the usage of turns.
type Used struct {
	Turns            int   `json:"turns"`
	Unknown          int   `json:"unknown"`    // the turns for which the agent reported no tokens
	DurationMS       int64 `json:"durationMs"` // the sum of their durations
	InputTokens      int64 `json:"inputTokens"`
	OutputTokens     int64 `json:"outputTokens"`
	CacheReadTokens  int64 `json:"cacheReadTokens"`
	CacheWriteTokens int64 `json:"cacheWriteTokens"`

	atLeast bool // a turn was interrupted: its end is the last that was seen of it
}

// add adds a turn of an agent. Checks of attempts are none.
func (u *Used) add(t *sessions.Turn) {
	if t.Check {
		return
	}
	u.Turns++
	u.atLeast = u.atLeast || t.Status == sessions.TurnInterrupted
	if t.StartedAt != nil && t.EndedAt != nil {
		u.DurationMS += max(t.EndedAt.Sub(t.StartedAt.Time).Milliseconds(), 0)
	}
	if t.Usage == nil {
		u.Unknown++
		return
	}
	u.InputTokens += t.Usage.InputTokens
	u.OutputTokens += t.Usage.OutputTokens
	u.CacheReadTokens += t.Usage.CacheReadTokens
	u.CacheWriteTokens += t.Usage.CacheWriteTokens
}

// spent adds what turns have used that a rewind has removed.
func (u *Used) spent(s sessions.Spent) {
	u.Turns += s.Turns
	u.Unknown += s.Unknown
	u.DurationMS += s.DurationMS
	if s.Usage != nil {
		u.InputTokens += s.Usage.InputTokens
		u.OutputTokens += s.Usage.OutputTokens
		u.CacheReadTokens += s.Usage.CacheReadTokens
		u.CacheWriteTokens += s.Usage.CacheWriteTokens
	}
}

// plus adds another sum.
func (u *Used) plus(v Used) {
	u.Turns += v.Turns
	u.Unknown += v.Unknown
	u.atLeast = u.atLeast || v.atLeast
	u.DurationMS += v.DurationMS
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheReadTokens += v.CacheReadTokens
	u.CacheWriteTokens += v.CacheWriteTokens
}

// time formats the duration.
func (u Used) time() string {
	const shown = 50 // milliseconds that are not 0.0s
	switch d := time.Duration(u.DurationMS) * time.Millisecond; {
	case u.DurationMS == 0, u.atLeast && u.DurationMS < shown:
		return "-"
	case u.atLeast:
		u.atLeast = false
		return "≥" + u.time()
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
}

// tokens formats the number of tokens in and out.
func (u Used) tokens() string {
	if u.Unknown == u.Turns {
		return "-"
	}
	return term.Tokens(u.InputTokens + u.OutputTokens)
}

// A workspaceUse is the usage of one workspace.
type workspaceUse struct {
	Workspace string `json:"workspace"`
	Used
}

// A Use is the answer of "cursord usage".
type Use struct {
	Since      *sessions.Time `json:"since"` // null: of all time
	Workspaces []workspaceUse `json:"workspaces"`
	Total      Used           `json:"total"`
}

// Usage prints the usage of the turns that began at or after a time, by workspace. The zero time means all turns, and root
// "" all workspaces.
func Usage(ctx context.Context, client *rpc.Client, out, errOut io.Writer, root string, since time.Time, asJSON bool) error {
	list, err := pages.Sessions(ctx, client, root)
	if err != nil {
		return err
	}
	use := Use{Workspaces: []workspaceUse{}}
	if !since.IsZero() {
		use.Since = &sessions.Time{Time: since}
		// A session that has not changed since has no turn that began since.
		list = slices.DeleteFunc(list, func(s *sessions.Session) bool { return s.UpdatedAt.Before(since) })
	}
	by := map[string]*Used{}
	of := func(s *sessions.Session) *Used {
		if by[s.Workspace] == nil {
			by[s.Workspace] = &Used{}
		}
		return by[s.Workspace]
	}
	for _, s := range list {
		for _, spent := range s.Spent {
			if !spent.At.Before(since) {
				of(s).spent(spent)
			}
		}
	}
	err = pages.Turns(ctx, client, list, func(s *sessions.Session, turns []*sessions.Turn) {
		for _, t := range turns {
			if !began(t).Before(since) && !s.Copied(t) {
				of(s).add(t)
			}
		}
	})
	if err != nil {
		return err
	}
	for workspace, used := range by {
		use.Workspaces = append(use.Workspaces, workspaceUse{workspace, *used})
		use.Total.plus(*used)
	}
	slices.SortFunc(use.Workspaces, func(a, b workspaceUse) int { return strings.Compare(a.Workspace, b.Workspace) })
	if asJSON {
		return term.PrintJSON(out, use)
	}
	if use.Total.Turns == 0 {
		fmt.Fprintln(errOut, "no turns"+sinceText(since)+in(root))
		return nil
	}
	printUse(out, use)
	return nil
}

func began(t *sessions.Turn) time.Time {
	if t.StartedAt != nil {
		return t.StartedAt.Time
	}
	return t.CreatedAt.Time
}

func sinceText(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return " since " + since.Local().Format("2006-01-02 15:04")
}

func in(root string) string {
	if root == "" {
		return ""
	}
	return " in " + term.Clean(root)
}

func printUse(out io.Writer, use Use) {
	rows := [][]string{{"TURNS", "TIME", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "WORKSPACE"}}
	row := func(name string, u Used) {
		cells := []string{fmt.Sprint(u.Turns), u.time()}
		for _, n := range []int64{u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens} {
			if u.Unknown == u.Turns {
				cells = append(cells, "-")
			} else {
				cells = append(cells, term.Tokens(n))
			}
		}
		rows = append(rows, append(cells, name))
	}
	for _, w := range use.Workspaces {
		row(term.Clean(w.Workspace), w.Used)
	}
	if len(use.Workspaces) > 1 {
		row("in all", use.Total)
	}
	term.Table(out, rows)
	if n := use.Total.Unknown; n > 0 {
		term.PrintFolded(out, fmt.Sprintf("%s without a token count from the agent\n", term.Count(n, "turn")))
	}
}
