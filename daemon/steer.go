package daemon

import (
	"errors"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/steering"
	"cursord/sessions"
)

// SteerTurn adds a text to a running turn. Where that cannot be done, it queues a turn of the same session with the same permits, replies with
// its id too, and a notice of the running turn says so.
func (d *Daemon) SteerTurn(id, text string, env []string, reply func(turn *sessions.Turn, queued string, err error)) {
	turn, err := d.steer(id, text)
	if err != nil && !errors.Is(err, agent.ErrCannotSteer) {
		reply(nil, "", err)
		return
	}
	if err == nil {
		reply(turn, "", nil)
		return
	}
	d.StartTurn(steering.Queued(turn, text, env), func(_ *sessions.Session, queued *sessions.Turn, err error) {
		if err != nil {
			reply(nil, "", err)
			return
		}
		reply(turn, queued.ID, nil)
	})
}

// steer adds a text to a turn. It returns the turn, and ErrCannotSteer if another turn has to take the text.
func (d *Daemon) steer(id, text string) (turn *sessions.Turn, err error) {
	if err := params.CheckTurn(&api.TurnParams{Prompt: text}); err != nil {
		return nil, steering.OfText(err)
	}
	w, err := d.workspaceOfTurn(id)
	if err != nil {
		return nil, err
	}
	defer w.release()
	ended := w.call(func() {
		t := w.turns[id]
		if t == nil || t.status() != sessions.TurnRunning {
			if turn, err = w.turn(id); err != nil {
				err = api.StoreError(err)
			} else {
				err = agent.ErrCannotSteer
			}
			return
		}
		turn = t.turn
		if err = t.control.Steer(text); err != nil {
			err = agent.ErrCannotSteer
		}
		var c commit
		w.notice(&c, t, steering.About(text, err == nil))
		w.submit(&c)
	})
	return turn, errors.Join(ended, err)
}
