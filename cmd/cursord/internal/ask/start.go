package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// start starts the turn. With --trust it trusts the folders that the daemon refuses, if nothing else is wrong with the turn.
// If the turn is refused nevertheless, it takes that trust back.
func (r *Turn) start(ctx context.Context, client *rpc.Client) (started rpc.TurnStartResult, err error) {
	wanted := []string{r.Params.Workspace}
	if r.Params.AddDirs != nil {
		wanted = append(wanted, *r.Params.AddDirs...)
	}
	var trusted []string
	defer func() {
		if !errors.As(err, new(*rpc.Error)) {
			return
		}
		for _, dir := range trusted {
			_ = client.Call(ctx, "workspace/trust", rpc.TrustParams{Workspace: dir, Trusted: false}, nil)
		}
	}()
	for {
		if started, err = client.TurnStart(ctx, r.Params); err == nil && started.Rewound != nil && r.TookBack != nil {
			r.TookBack(*started.Rewound)
		}
		e := (*rpc.Error)(nil)
		if !r.Trust || !errors.As(err, &e) || e.Data.Kind != api.KindWorkspaceUntrusted {
			return started, err
		}
		// A trusted folder is not trusted again: that would also accept what an agent has since written to the repository's
		// configuration.
		dir := e.Data.Path
		if !slices.Contains(wanted, dir) || slices.Contains(trusted, dir) || naming.Wide(dir, r.Home) {
			return started, err
		}
		if err = client.Call(ctx, "workspace/trust", rpc.TrustParams{Workspace: dir, Trusted: true}, nil); err != nil {
			return started, err
		}
		trusted = append(trusted, dir)
	}
}

// CheckTrust returns the error with which the turn will be refused because its workspace is not trusted. It asks only, so that nothing
// has happened yet; what else is wrong, start finds.
func (r *Turn) CheckTrust(ctx context.Context, client *rpc.Client) error {
	if r.Trust && !naming.Wide(r.Params.Workspace, r.Home) {
		return nil
	}
	known, err := client.WorkspaceList(ctx)
	if err != nil || slices.ContainsFunc(known.Workspaces, func(w api.WorkspaceInfo) bool { return w.Workspace == r.Params.Workspace && w.Trusted }) {
		return err
	}
	e := api.Untrusted(r.Params.Workspace)
	return r.Explain(&rpc.Error{Message: e.Message, Data: rpc.ErrorData{Kind: e.Kind, Path: e.Path}})
}

// Explain replaces the protocol's terms in an error by those of the command line.
func (r *Turn) Explain(err error) error {
	e := (*rpc.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	said := *e
	if flag := r.flag(e.Data.Field); flag != "" {
		if rest, found := strings.CutPrefix(e.Message, e.Data.Field+": "); found {
			said.Message = flag + ": " + rest
		}
	}
	if e.Data.Kind == api.KindWorkspaceUntrusted {
		dir := cmp.Or(e.Data.Path, r.Params.Workspace)
		said.Data.Hint = "trust it with: cursord trust " + term.ShellWord(dir)
		switch {
		case !naming.Wide(dir, r.Home):
			said.Data.Hint += ", or run with --trust"
		case r.Trust:
			said.Data.Hint += "; --trust does not cover the root and the home folder"
		}
	}
	return &said
}

var fieldOfList = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(addDirs|context)\[(\d{1,4})\]`) })

// flag returns the flag that sets a field of turn/start, with its value; "" if none does.
func (r *Turn) flag(field string) string {
	p := &r.Params
	value := func(flag string, value *string) string {
		if value == nil {
			return flag
		}
		return flag + " " + term.ShellWord(*value)
	}
	if m := fieldOfList().FindStringSubmatch(field); m != nil {
		i, _ := strconv.Atoi(m[2])
		switch {
		case m[1] == "addDirs" && p.AddDirs != nil && i < len(*p.AddDirs):
			return value("--add-dir", &(*p.AddDirs)[i])
		case m[1] == "context" && i < len(p.Context) && p.Context[i].Kind == "text":
			return "stdin"
		case m[1] == "context" && i < len(p.Context):
			return value("--"+p.Context[i].Kind, p.Context[i].Path)
		}
		return ""
	}
	switch field {
	case "addDirs":
		return "--add-dir"
	case "sandbox":
		return value("--sandbox", p.Sandbox)
	case "model":
		return value("--model", p.Model)
	case "autoReview":
		return "--auto-review"
	case "sessionId":
		return value("--session", &p.SessionID)
	case "force", "recap", "mode", "isolation", "driver":
		return "--" + field
	}
	return ""
}

// tellQueued says on stderr what a queued turn waits for.
func (r *Turn) tellQueued(ctx context.Context, client *rpc.Client, f *view.Follower) {
	var list rpc.SessionList
	what := "waiting for another turn of this workspace"
	if client.Call(ctx, "session/list", rpc.SessionListParams{Workspace: r.Params.Workspace}, &list) == nil {
		if i := slices.IndexFunc(list.Sessions, func(s *sessions.Session) bool { return s.State == sessions.SessionRunning }); i >= 0 {
			s := list.Sessions[i]
			what = fmt.Sprintf("waiting for the turn %q of session %s", term.Clean(s.Title), s.ID)
			if pending, err := client.ApprovalList(ctx, rpc.ApprovalListParams{Workspace: r.Params.Workspace}); err == nil &&
				slices.ContainsFunc(pending.Approvals, func(a *sessions.Approval) bool { return a.SessionID == s.ID }) {
				what += ", which waits for your answer: cursord approvals"
			}
		}
	}
	switch {
	case f.Show != nil:
		f.Behind(what)
	case r.ErrOut != nil && f.Queued():
		term.PrintFolded(r.ErrOut, "cursord: "+what+"\n")
	}
}

// Adopt returns a session that continues one of cursor-agent's own chats: the latest such session, or a new one.
func Adopt(ctx context.Context, client *rpc.Client, workspace, chat string) (string, error) {
	list, err := client.AgentChats(ctx, rpc.WorkspaceParams{Workspace: workspace})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list.Chats, func(c api.Chat) bool { return c.ID == chat })
	if i < 0 {
		return "", fmt.Errorf("cursor-agent has no chat %s of %s: \"cursord sessions --agent\" lists those it has", term.Clean(chat), term.Clean(workspace))
	}
	if adopted := list.Chats[i].Sessions; len(adopted) > 0 {
		return adopted[0], nil
	}
	params := rpc.SessionCreateParams{Workspace: workspace, AgentSessionID: chat}
	if title := list.Chats[i].Title; title != "" {
		params.Title = &title
	}
	created, err := client.SessionCreate(ctx, params)
	if err != nil {
		return "", err
	}
	return created.Session.ID, nil
}
