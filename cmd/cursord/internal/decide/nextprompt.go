package decide

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/sessions"
)

// nextPrompt says which sessions hear of a reject with their next prompts; "" if none does. before and left are what there was
// to review, and what is left.
func (d Decision) nextPrompt(ctx context.Context, n naming.Names, before, left []*sessions.Diff) string {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return ""
	}
	if settings, _, err := config.Load(dirs.Config); err != nil || !settings.TellRejections && d.Comment == "" {
		return ""
	}
	var makers []string
	for _, f := range before {
		for _, h := range f.Hunks {
			if has(left, h.ID) && !(d.Lines != "" && slices.Contains(d.Names, h.ID)) {
				continue
			}
			for _, s := range h.Sources {
				makers = append(makers, s.SessionID)
			}
		}
	}
	list, err := pages.Sessions(ctx, n.Client, n.Root)
	if err != nil {
		return ""
	}
	var hear []string
	for _, s := range list {
		if slices.Contains(makers, s.ID) {
			hear = append(hear, s.ID)
		}
	}
	where := ""
	if n.Known == nil {
		where = " -w " + term.ShellWord(n.Root)
	}
	switch {
	case len(hear) == 0:
		return ""
	case len(hear) > 1:
		return fmt.Sprintf("the agents learn of the reject with the next prompts of the sessions %s\n", strings.Join(hear, ", "))
	case hear[0] == list[0].ID:
		return "the agent learns of the reject with its session's next prompt: cursord run -c" + where + "\n"
	}
	return fmt.Sprintf("the agent learns of the reject with its session's next prompt: cursord run --session %s%s\n", hear[0], where)
}
