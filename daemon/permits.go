package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/drivers"
	"cursord/daemon/internal/ofagent"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/review"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// A permitted is what a turn may do. It is found out before the loop gets the turn, because that takes the disk.
type permitted struct {
	sandbox    string
	autoReview bool
	dirs       []string // resolved
	known      bool     // people know what the folders mean, because the turn before had the same
	untrusted  error    // an untrusted folder; reported last, so that a person is asked only about turns that are otherwise possible
	bounds     *ofagent.Bounds
	err        error // why the turn is refused; repeating the request of an existing turn is still served
}

// permits finds out what a turn may do, from its own parameters, its session's and the configuration's. It resolves p's
// folders.
func (w *workspace) permits(p *api.TurnParams) permitted {
	settings := w.d.settings()
	perm := permitted{sandbox: settings.Sandbox, autoReview: settings.AutoReview, bounds: w.d.boundsOf(p.Caller)}
	beyond := perm.bounds.Fill(p)
	if perm.bounds != nil {
		p.Env = w.d.agentsEnvironment(perm.bounds.Turn)
	}
	dirs, from := settings.AddDirs, "by the setting add_dirs"
	if p.SessionID != "" {
		if s, err := w.d.store.Session(p.SessionID); err == nil && s.Workspace == w.root { // otherwise the loop reports what is wrong
			if s.Sandbox != "" {
				perm.sandbox = s.Sandbox
			}
			if s.AutoReview != nil {
				perm.autoReview = *s.AutoReview
			}
			if len(s.AddDirs) > 0 {
				dirs, from = s.AddDirs, "by its session"
			}
		}
	}
	if p.Permits.Sandbox != nil {
		perm.sandbox = *p.Permits.Sandbox
	}
	if p.Permits.AutoReview != nil {
		perm.autoReview = *p.Permits.AutoReview
	}
	if p.Permits.AddDirs != nil {
		dirs, from = *p.Permits.AddDirs, ""
	}
	perm.dirs, perm.err = params.ResolveDirs(w.root, dirs)
	if len(perm.dirs) > 0 && p.SessionID != "" {
		last, err := w.d.store.LastTurn(p.SessionID)
		perm.known = err == nil && last != nil && slices.Equal(last.AddDirs, perm.dirs)
	}
	if p.Permits.AddDirs != nil {
		p.Permits.AddDirs = &perm.dirs
	}
	if e := (*api.Error)(nil); from != "" && errors.As(perm.err, &e) {
		e.Message += " (added " + from + ")"
		e.Hint = "restore the folder, or start the turn with its own addDirs"
	}
	perm.untrusted = w.trustsAll(perm.dirs)
	if p.Force && perm.sandbox == config.SandboxOn {
		e := api.Invalid("force", `cannot be combined with sandbox "enabled": force turns the agent's sandbox off`)
		e.Hint = `leave one of them out; sandbox "disabled" overrides that of the session and of the configuration`
		perm.err = e
	}
	if p.Force && p.Permits.AutoReview != nil && *p.Permits.AutoReview {
		e := api.Invalid("force", "cannot be combined with autoReview: with force every command runs without a question")
		e.Hint = "leave one of them out"
		perm.err = e
	}
	if beyond != nil {
		perm.err = beyond
	}
	return perm
}

// trustsAll refuses untrusted folders beside the workspace. The agent may work in the workspace's own folders anyway.
func (w *workspace) trustsAll(dirs []string) error {
	for _, dir := range dirs {
		if _, inside := paths.Within(w.root, dir); inside {
			continue
		}
		if rec, err := w.d.store.Workspace(dir); err == nil && rec.Trusted {
			continue
		}
		e := api.Untrusted(dir)
		e.Field = "addDirs"
		return e
	}
	return nil
}

// forbids refuses what an agent that asks for a turn may not have, and folders through which an agent in a copy could write to
// the original.
func (perm *permitted) forbids(s *sessions.Session, p *api.TurnParams) error {
	asked := sessions.Turn{
		Workspace: s.Workspace, Mode: s.Mode, Driver: drivers.Of(s), Force: p.Force, Sandbox: perm.sandbox, AutoReview: perm.autoReview, AddDirs: perm.dirs,
	}
	if p.Mode != nil {
		asked.Mode = *p.Mode
	}
	if p.Approvals == params.ApprovalsDeny {
		asked.Approvals = p.Approvals
	}
	if err := perm.bounds.Check(s.Isolation, &asked); err != nil {
		return err
	}
	if s.Isolation != config.IsolationCopy {
		return nil
	}
	for _, dir := range perm.dirs {
		if _, holds := paths.Within(dir, s.Workspace); holds {
			e := api.Invalid("addDirs", "%s contains the workspace, which the agent of an isolated session must not change", dir)
			e.Hint = `add a folder that does not hold it, or begin a session with isolation "none"`
			return e
		}
	}
	return nil
}

// agentDirs returns the folders for an agent that works in tree: a folder of the workspace becomes that of the tree.
func (w *workspace) agentDirs(dirs []string, tree *review.Worktree) []string {
	var list []string
	for _, dir := range dirs {
		if rel, inside := paths.Within(w.root, dir); inside && tree.Root() != w.root {
			dir = filepath.Join(tree.Root(), filepath.FromSlash(rel))
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue // the copy has no files that git ignores
			}
		}
		list = append(list, dir)
	}
	return list
}
