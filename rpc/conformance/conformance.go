// Package conformance checks a client of the protocol: it runs the client against a daemon, and says what the client did wrong. The
// daemon is a real one, with a scripted agent, in folders of its own. Between the two sits a proxy that looks at every message, holds messages back, and
// kills the daemon or gives it another database.
//
// The client is any program that, in its working directory, starts a turn, follows it to its end, and ends. It finds the daemon as
// programs do (CURSORD_SOCKET); CURSORD_CHECK names the play. If it writes what it holds at its end to the file that
// CURSORD_CHECK_STATE names, that is compared with what the daemon has: {"turns": {ID: STATUS}, "items": {ID: TEXT},
// "diffs": {PATH: REV}}, each of which may be left out.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/sessions"
)

// Options say what to check.
type Options struct {
	Program string   // this program, as which the daemon and its agent run
	Command []string // the client, with its arguments
	Only    []string // names of Plays; none: all
	Limit   time.Duration
}

// A play is what happens in the middle of the client's turn, and what a client must do about it.
type play struct {
	name, about string
	middle      func(*stage) error // when the agent is in the middle of its turn; nil: nothing happens
	mayFail     bool               // a client may end with a failure, having lost its daemon
	later       bool               // the daemon says what builds of the future may say
}

var plays = []play{
	{name: "examples", about: "a turn with an edit, as in the examples of PROTOCOL.md"},
	{name: "unsaved", about: "the same, for a client that has greeting.txt open and unsaved"},
	{name: "slow", about: "in mid-turn nothing comes for two seconds", middle: (*stage).hold},
	{name: "crash", about: "in mid-turn the daemon is killed; another one starts", middle: (*stage).crash, mayFail: true},
	{name: "replaced", about: "in mid-turn the daemon ends; the next one has an empty database", middle: (*stage).replace, mayFail: true},
	{name: "later", about: "members, notifications and kinds that do not exist yet", later: true},
}

// Plays names the plays, each with what happens in it.
func Plays() [][2]string {
	var list [][2]string
	for _, p := range plays {
		list = append(list, [2]string{p.name, p.about})
	}
	return list
}

// Check plays against a client and writes on out what it did wrong. It returns how many plays found something.
func Check(ctx context.Context, o Options, out io.Writer) (int, error) {
	wrong := 0
	for _, p := range plays {
		if len(o.Only) > 0 && !slices.Contains(o.Only, p.name) {
			continue
		}
		faults, remarks, err := p.run(ctx, o)
		if err != nil {
			return wrong, fmt.Errorf("%s: %w", p.name, err)
		}
		verdict := "ok"
		if len(faults) > 0 {
			verdict = "wrong"
			wrong++
		}
		fmt.Fprintf(out, "%-9s %-5s  %s\n", p.name, verdict, p.about)
		for _, fault := range faults {
			fmt.Fprintf(out, "  - %s\n", fault)
		}
		for _, remark := range remarks {
			fmt.Fprintf(out, "  (%s)\n", remark)
		}
	}
	return wrong, nil
}

// run plays one play, in a folder that is removed afterwards.
func (p play) run(ctx context.Context, o Options) (faults, remarks []string, err error) {
	s, err := newStage(o.Program, p)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	if err := s.serve(ctx, "state"); err != nil {
		return nil, nil, err
	}
	limit, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	c, err := s.start(limit, o.Command)
	if err != nil {
		return nil, nil, err
	}
	if err := s.conduct(limit, c); err != nil {
		return nil, nil, err
	}
	<-c.ended
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	s.judge(c, limit.Err() != nil, o.Limit)
	if err := s.compare(ctx); err != nil {
		return nil, nil, err
	}
	return s.watch.faults, s.watch.remarks, nil
}

// conduct waits for the middle of the turn, lets happen what the play has there, and lets the agent go on.
func (s *stage) conduct(ctx context.Context, c *client) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(s.file("middle")); err == nil && s.watch.sawMiddle() {
			break
		}
		select {
		case <-c.ended:
			return nil
		case <-tick.C:
		}
	}
	if s.play.middle != nil {
		if err := s.play.middle(s); err != nil {
			return err
		}
	}
	return s.open()
}

// endOf says how a turn ended.
func endOf(t *sessions.Turn) string {
	if t.Error == nil {
		return string(t.Status)
	}
	return string(t.Status) + ", " + t.Error.Message
}

// judge looks at how the client ended.
func (s *stage) judge(c *client, late bool, limit time.Duration) {
	w := s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	said := ""
	if lines := strings.Split(strings.TrimSpace(c.errors()), "\n"); lines[0] != "" {
		said = "; it said last: " + lines[len(lines)-1]
	}
	switch {
	case late:
		w.fault("it did not end within %s after its start%s", limit, said)
	case c.err != nil && s.play.mayFail:
		w.remark("it ended with a failure (%v): a client that stays open connects again", c.err)
	case c.err != nil:
		w.fault("it failed: %v%s", c.err, said)
	case !w.started:
		w.fault("it started no turn in its working directory")
	case w.losses == 0 && w.end != nil && w.end.Status == sessions.TurnFailed:
		w.fault("its turn failed, so not everything was checked: %s", endOf(w.end))
	case s.play.mayFail && w.losses == 0 && w.end != nil:
		w.fault("its turn ended before the daemon was taken away, so nothing was checked: %s", endOf(w.end))
	case s.play.mayFail && !w.learned:
		w.fault("it ended as if all were well, and did not learn how its turn ended: connect again and subscribe")
	case !s.play.mayFail && w.end == nil:
		w.fault("it ended before it learned how its turn ended: follow the turn by workspace/subscribe, or wait with turn/wait")
	}
	for uri, d := range w.documents {
		if d.expected != nil {
			w.fault("it did not make the edits in %s that %s was answered with", filepath.Base(uri), d.decidedBy)
		}
	}
	if s.play.name == "unsaved" && len(w.documents) == 0 {
		w.remark("it opened no document, so nothing was checked about unsaved texts")
	}
	if s.play.name == "unsaved" && len(w.documents) > 0 && !w.answeredEdits {
		w.remark("no decision was answered with edits: change greeting.txt unsaved, and reject the agent's hunk")
	}
}
