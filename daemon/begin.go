package daemon

import (
	"cmp"

	"cursord/daemon/api"
	"cursord/daemon/internal/drivers"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/prompt"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// beginTurn puts a new turn, which nothing forbids. stored is called when it is durable.
func (w *workspace) beginTurn(c *commit, ls *liveSession, p *api.TurnParams, perm permitted, pics *turnPictures, recapOf string, stored turnReply) {
	s := *ls.session
	s.Title = cmp.Or(s.Title, prompt.Title(p.Prompt))
	turn := &sessions.Turn{
		ID: p.TurnID, SessionID: s.ID, Workspace: w.root, Prompt: p.Prompt, Mode: s.Mode, Driver: drivers.Of(&s),
		Force: p.Force, Sandbox: perm.sandbox, AutoReview: perm.autoReview, AddDirs: perm.dirs, Images: pics.Paths, Context: prompt.Sent(p.Context), Status: sessions.TurnQueued, CreatedAt: sessions.Now(),
	}
	if turn.ID == "" {
		turn.ID = newID()
	}
	turn.Model = cmp.Or(p.Model, s.Model)
	if p.Mode != nil {
		turn.Mode = *p.Mode
	}
	if p.Approvals == params.ApprovalsDeny {
		turn.Approvals = p.Approvals
	}
	t := &liveTurn{dirsNoted: perm.known, session: ls, turn: turn, context: p.Context, env: p.Env, by: perm.bounds.Session(), recapOf: recapOf, alias: aliasOf(p), openCalls: map[string][]openCall{}}
	w.enqueue(c, t, &s)
	session := ls.session
	c.replies = append(c.replies, func(err error) {
		if err != nil {
			stored(nil, nil, err)
			return
		}
		stored(session, turn, nil)
	})
}

// aliasOf returns the client's name of the workspace.
func aliasOf(p *api.TurnParams) string {
	path, _ := paths.Local(p.Workspace)
	return path
}
