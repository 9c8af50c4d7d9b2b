package apart

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/daemon/api"
	"cursord/daemon/copytree"
)

// About says what a copy lacks, or where it differs; "" if nowhere.
func About(notes []copytree.Note) string {
	if len(notes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("The copy of the workspace differs from it: ")
	for i, n := range notes {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(notes)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s", n.Path, n.Text)
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// Without returns the outcome of a turn whose tree could not be made, or is not trusted.
func Without(ctx context.Context, err error) agent.Outcome {
	if ctx.Err() != nil {
		return agent.Outcome{Status: agent.Cancelled}
	}
	if e := (*api.Error)(nil); errors.As(err, &e) && e.Kind == api.KindWorkspaceUntrusted {
		return agent.Outcome{Status: agent.Failed, Failure: &failure.Error{Kind: failure.KindUntrusted, Message: e.Message, Hint: e.Hint}}
	}
	f := &failure.Error{
		Kind: string(api.KindStorage), Message: "cannot make the copy of the workspace: " + err.Error(),
		Hint: "free disk space or repair the folder, then try again; or use a session without a copy (isolation \"none\")",
	}
	switch {
	case errors.Is(err, copytree.ErrTooLarge):
		f.Kind, f.Hint = string(api.KindTooLarge), `the settings copy_files and copy_size say how large it may be`
	case errors.Is(err, copytree.ErrTooWide):
		f.Kind, f.Hint = string(api.KindTooLarge), `open a folder further down, or use a session without a copy (isolation "none")`
	}
	return agent.Outcome{Status: agent.Failed, Failure: f}
}
