// Package listing shows stored things: the sessions of a workspace, one whole session, the agent's own chats and models, and
// sums of usage. Titles come first. On a terminal they are cut to its width.
package listing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// Sessions lists the sessions of a workspace, or of all workspaces for "". The most recently changed come first; asTree puts
// forks below the sessions that they were forked from.
func Sessions(ctx context.Context, client *rpc.Client, out, errOut io.Writer, root string, asTree, asJSON bool) error {
	list, err := pages.Sessions(ctx, client, root)
	if err != nil {
		return err
	}
	branches, places := map[string]string{}, map[string]int{}
	if asTree {
		places = placesOf(list)
		nodes := tree(list)
		for i, n := range nodes {
			list[i], branches[n.session.ID] = n.session, n.branch
		}
	}
	if asJSON {
		return term.PrintJSON(out, rpc.SessionList{Sessions: list})
	}
	if len(list) == 0 {
		if root == "" {
			fmt.Fprintln(errOut, "no sessions yet")
		} else {
			fmt.Fprintf(errOut, "no sessions in %s; --all lists those of other workspaces\n", term.Clean(root))
		}
		return nil
	}
	lines := make([]line, 0, len(list))
	var ids []string
	err = pages.Turns(ctx, client, list, func(s *sessions.Session, turns []*sessions.Turn) {
		l := line{session: s, status: "-", turn: "-", branch: branches[s.ID], place: places[s.ID], turns: s.Turns}
		for _, t := range turns {
			ids = append(ids, t.ID)
			if t.Check && t.Status.Final() {
				l.turns--
				continue
			}
			if !s.Copied(t) {
				l.used.add(t)
			}
			if !t.Status.Final() || l.status == "-" {
				l.status, l.turn = outcome(t), t.ID
			}
		}
		lines = append(lines, l)
	})
	if err != nil {
		return err
	}
	short := map[string]string{}
	if term.IsTerminal(out) {
		for _, l := range lines {
			ids = append(ids, l.session.ID)
		}
		short = naming.Shortest(ids)
	}
	if columns := term.Columns(out); columns > 0 && columns < wideEnough {
		for i := range lines {
			lines[i].turn = ""
		}
	}
	term.Table(out, sessionRows(lines, root == "", short, time.Now()), flexible(root == "")...)
	return nil
}

// wideEnough is the width from which a terminal shows turns: below it the titles need the room.
const wideEnough = 100

// A line is a session in a list.
type line struct {
	session *sessions.Session
	status  string // of the running turn, else of the first queued one, else of the latest
	turn    string // the id of the turn with that status; "" in all lines: not shown
	used    Used
	turns   int    // without checks that have ended: no agent has run them
	branch  string // what stands in front of the title in the tree of forks
	place   int    // in the list of its workspace, for @N; 0 outside a tree, where the order tells it
}

// outcome describes the state of a turn in one or two words.
func outcome(t *sessions.Turn) string {
	if t.Waiting {
		return "waits for you"
	}
	if t.Error != nil && t.Error.Kind != "" && t.Error.Kind != string(api.KindAgentFailed) {
		return string(t.Status) + ": " + term.Clean(term.Words(t.Error.Kind))
	}
	return string(t.Status)
}

// flexible returns the columns to cut if a line is too wide: titles, then workspaces.
func flexible(all bool) []int {
	if all {
		return []int{0, 1}
	}
	return []int{0}
}

func sessionRows(lines []line, all bool, short map[string]string, now time.Time) [][]string {
	rows := [][]string{{"TITLE"}}
	if all {
		rows[0] = append(rows[0], "WORKSPACE")
	}
	asTree := len(lines) > 0 && lines[0].place > 0
	if asTree {
		rows[0] = append(rows[0], "PLACE")
	}
	rows[0] = append(rows[0], "STATUS", "TURNS", "TIME", "TOKENS", "UPDATED")
	turns := len(lines) > 0 && lines[0].turn != ""
	if turns {
		rows[0] = append(rows[0], "TURN")
	}
	rows[0] = append(rows[0], "ID")
	for _, l := range lines {
		s := l.session
		row := []string{l.branch + titleOf(s.Title)}
		if all {
			row = append(row, term.Clean(s.Workspace))
		}
		if asTree {
			row = append(row, fmt.Sprint("@", l.place))
		}
		row = append(row, l.status, fmt.Sprint(l.turns), l.used.time(), l.used.tokens(),
			term.Ago(s.UpdatedAt.Time, now))
		if turns {
			row = append(row, term.Clean(cmp.Or(short[l.turn], l.turn)))
		}
		rows = append(rows, append(row, term.Clean(cmp.Or(short[s.ID], s.ID))))
	}
	return rows
}

func titleOf(title string) string {
	if strings.TrimSpace(title) == "" {
		return "(no title)"
	}
	return term.Clean(title)
}

// Chats lists the agent's own chats of a workspace.
func Chats(ctx context.Context, client *rpc.Client, out, errOut io.Writer, root string, asJSON bool) error {
	list, err := client.AgentChats(ctx, rpc.WorkspaceParams{Workspace: root})
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(out, list)
	}
	if len(list.Chats) == 0 {
		fmt.Fprintf(errOut, "cursor-agent has no chats of %s\n", term.Clean(root))
		return nil
	}
	now := time.Now()
	rows := [][]string{{"TITLE", "UPDATED", "CHAT", "SESSION"}}
	for _, chat := range list.Chats {
		session := strings.Join(chat.Sessions, ", ")
		if session == "" {
			session = "-"
		}
		rows = append(rows, []string{titleOf(chat.Title), term.Ago(chat.UpdatedAt.Time, now), term.Clean(chat.ID), term.Clean(session)})
	}
	term.Table(out, rows, 0, 3)
	return nil
}

// Models lists the models that the agent offers.
func Models(ctx context.Context, client *rpc.Client, out, errOut io.Writer, asJSON bool) error {
	list, err := client.AgentModels(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(out, list)
	}
	if len(list.Models) == 0 {
		fmt.Fprintln(errOut, "cursor-agent names no models")
		return nil
	}
	rows := [][]string{{"NAME", "", "MODEL"}}
	for _, m := range list.Models {
		current := ""
		if m.Current {
			current = "current"
		}
		rows = append(rows, []string{titleOf(m.Name), current, term.Clean(m.ID)})
	}
	term.Table(out, rows, 0)
	return nil
}
