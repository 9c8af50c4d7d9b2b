// Package naming resolves the names that people give to sessions, turns and hunks: an id, the beginning of one, or a place
// from the latest (@1). A name that matches nothing is returned unchanged; the daemon then refuses it. Around finds the
// workspace of a directory.
package naming

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

const (
	idLength = 26 // length of cursord's ids
	shown    = 5  // candidates listed for an ambiguous name
)

// Names resolves names in a workspace. @N counts in that workspace; a prefix is looked for there first, then everywhere.
type Names struct {
	Client *rpc.Client
	Root   string          // the workspace
	Known  map[string]bool // the known workspaces; nil if the user has named the workspace
}

// Around returns the workspace of the directory here: the nearest directory, from here upwards, that is a known workspace or
// contains .git; else here. A known workspace that is Wide belongs to no directory below it. All paths are absolute and
// without symlinks.
func Around(here, home string, known map[string]bool) string {
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || known[dir] && (dir == here || !Wide(dir, home)) {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return here
		}
	}
}

// Wide reports whether a directory is the root of a file system, or the home folder.
func Wide(dir, home string) bool { return filepath.Dir(dir) == dir || dir == home }

// A candidate is a possible meaning of a name.
type candidate struct{ id, about string }

// ToContinue is the name of the session that a prompt goes on with if nobody names one: the latest, but no attempt beside others.
const ToContinue = "@continue"

// Session returns the id of the session that a name means.
func (n Names) Session(ctx context.Context, name string) (string, error) {
	if name == ToContinue {
		return n.toContinue(ctx)
	}
	if place, late, err := lateness(name); err != nil {
		return "", err
	} else if late {
		return n.late(ctx, place)
	}
	if name == "" || len(name) >= idLength {
		return name, nil
	}
	list, err := pages.Sessions(ctx, n.Client, "")
	if err != nil {
		return "", err
	}
	here, all := split(list, n.Root, func(s *sessions.Session) (string, candidate) {
		return s.Workspace, candidate{s.ID, s.Title}
	})
	return choose("session", name, here, all)
}

// late returns the session that is at a place of the list, latest change first; places count from 1.
func (n Names) late(ctx context.Context, place int) (string, error) {
	list, err := pages.Sessions(ctx, n.Client, n.Root)
	if err != nil {
		return "", err
	}
	if place > len(list) {
		return "", tooFew(place, len(list), "session", n.Root)
	}
	return list[place-1].ID, nil
}

func (n Names) toContinue(ctx context.Context) (string, error) {
	list, err := pages.Sessions(ctx, n.Client, n.Root)
	if err != nil {
		return "", err
	}
	ones := sessions.ToContinue(list)
	switch {
	case len(list) == 0:
		return "", tooFew(1, 0, "session", n.Root)
	case len(ones) == 0:
		return "", &rpc.Error{
			Message: fmt.Sprintf("all sessions in %s are attempts, of which none is chosen yet", term.Clean(n.Root)),
			Data:    rpc.ErrorData{Hint: `name one (--session @1; cursord sessions lists them), or drop the others: cursord attempts --drop --keep 1`},
		}
	}
	return ones[0].ID, nil
}

func tooFew(place, there int, noun, where string) error {
	if there == 0 {
		return &rpc.Error{
			Message: fmt.Sprintf("no %ss in %s yet", noun, term.Clean(where)),
			Data:    rpc.ErrorData{Hint: `begin one with: cursord run "…"; those of other workspaces: cursord sessions --all`},
		}
	}
	are := "are"
	if there == 1 {
		are = "is"
	}
	return fmt.Errorf("@%d: there %s only %s in %s", place, are, term.Count(there, noun), term.Clean(where))
}

// Turn returns the id of the turn that a name means.
func (n Names) Turn(ctx context.Context, name string) (string, error) {
	place, late, err := lateness(name)
	if err != nil {
		return "", err
	}
	if name == "" || len(name) >= idLength {
		return name, nil
	}
	of := ""
	if late {
		of = n.Root
	}
	list, err := pages.Sessions(ctx, n.Client, of)
	if err != nil {
		return "", err
	}
	var turns []*sessions.Turn
	err = pages.Turns(ctx, n.Client, list, func(_ *sessions.Session, of []*sessions.Turn) { turns = append(turns, of...) })
	if err != nil {
		return "", err
	}
	if late {
		return n.lateTurn(turns, place, n.Root)
	}
	here, all := split(turns, n.Root, func(t *sessions.Turn) (string, candidate) {
		return t.Workspace, candidate{t.ID, t.Prompt}
	})
	return choose("turn", name, here, all)
}

// TurnOf returns the id of the turn that a name means beside a session's id: @N counts in that session, and the beginning of an id is that of
// one of its turns. The daemon refuses the turn of another session.
func (n Names) TurnOf(ctx context.Context, session, name string) (string, error) {
	place, late, err := lateness(name)
	switch {
	case err != nil:
		return "", err
	case !late && (name == "" || len(name) >= idLength):
		return name, nil
	}
	if _, err := n.Client.TurnList(ctx, rpc.TurnListParams{SessionID: session, Limit: 1}); err != nil {
		return "", err // there is no such session
	}
	var turns []*sessions.Turn
	err = pages.Turns(ctx, n.Client, []*sessions.Session{{ID: session}}, func(_ *sessions.Session, of []*sessions.Turn) { turns = of })
	if err != nil {
		return "", err
	}
	switch {
	case late && len(turns) == 0:
		return "", &rpc.Error{
			Message: fmt.Sprintf("no turns in session %s", term.Clean(session)),
			Data:    rpc.ErrorData{Hint: fmt.Sprintf(`begin one with: cursord run --session %s "…"`, term.Clean(session))},
		}
	case late:
		return n.lateTurn(turns, place, "session "+session)
	}
	var all []candidate
	for _, t := range turns {
		all = append(all, candidate{t.ID, t.Prompt})
	}
	return choose("turn", name, nil, all)
}

// lateTurn returns the turn that is at a place of the list, the last begun first. Checks of attempts do not count: no person asked
// for them.
func (n Names) lateTurn(turns []*sessions.Turn, place int, where string) (string, error) {
	turns = slices.DeleteFunc(turns, func(t *sessions.Turn) bool { return t.Check })
	if place > len(turns) {
		return "", tooFew(place, len(turns), "turn", where)
	}
	slices.SortStableFunc(turns, func(a, b *sessions.Turn) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt.Time), strings.Compare(b.ID, a.ID))
	})
	return turns[place-1].ID, nil
}

// Approval returns the id of the pending approval that a name means: an id or its beginning, in the workspace root or else anywhere. Of
// a single one in the workspace the name may be "".
func Approval(name, root string, pending []*sessions.Approval) (string, error) {
	here, all := split(pending, root, func(a *sessions.Approval) (string, candidate) {
		return a.Workspace, candidate{a.ID, cmp.Or(a.Command, a.Title)}
	})
	if name != "" {
		return choose("approval", name, here, all)
	}
	switch len(here) {
	case 0:
		return "", &rpc.Error{
			Message: "no agent asks anything in " + term.Clean(root), Data: rpc.ErrorData{Hint: "those of other workspaces: cursord approvals --all"},
		}
	case 1:
		return here[0].id, nil
	}
	return "", ambiguous(fmt.Sprintf("%s are pending in %s", term.Count(len(here), "approval"), term.Clean(root)), here)
}

// Running returns the running turn of the workspace, else the queued one.
func (n Names) Running(ctx context.Context) (string, error) {
	turns, err := pages.Active(ctx, n.Client, n.Root)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(turns, func(t *sessions.Turn) bool { return t.Status == sessions.TurnRunning }) {
		turns = slices.DeleteFunc(turns, func(t *sessions.Turn) bool { return t.Status != sessions.TurnRunning })
	}
	switch len(turns) {
	case 0:
		return "", &rpc.Error{
			Message: "no turn runs or waits in " + term.Clean(n.Root), Data: rpc.ErrorData{Hint: `name one (cursord show SESSION has their ids), or begin one with: cursord run "…"`},
		}
	case 1:
		return turns[0].ID, nil
	}
	var may []candidate
	for _, t := range turns {
		may = append(may, candidate{t.ID, t.Prompt})
	}
	return "", ambiguous(fmt.Sprintf("%s are at work in %s", term.Count(len(turns), "turn"), term.Clean(n.Root)), may)
}

// Active reports whether a turn, by its id, runs or waits.
func (n Names) Active(ctx context.Context, id string) (bool, error) {
	turns, err := pages.Active(ctx, n.Client, "")
	return slices.ContainsFunc(turns, func(t *sessions.Turn) bool { return t.ID == id }), err
}

// Hunks returns the ids of the pending hunks that names mean. A hunk's id is two numbers, such as 12.3. A name with both
// numbers is an id: 12.3 never means 12.31, not even after 12.3 was decided. The first number alone names no hunk, since it
// may be half of an id, or a file; with its dot it names the only hunk with that number.
func Hunks(names []string, diffs []*sessions.Diff) ([]string, error) {
	var all []candidate
	known := map[string]bool{}
	for _, d := range diffs {
		for _, h := range d.Hunks {
			all = append(all, candidate{h.ID, d.Path})
			known[h.ID] = true
		}
	}
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = name
		_, second, dot := strings.Cut(name, ".")
		switch {
		case known[name] || second != "":
			continue
		case !dot:
			return nil, halfID(name, all)
		}
		var err error
		if ids[i], err = choose("hunk", name, nil, all); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// halfID returns the error for the first number of a hunk's id, with the hunks that it may mean.
func halfID(name string, all []candidate) error {
	what := fmt.Sprintf("%q is half of a hunk's id", term.Clean(name))
	fit := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !strings.HasPrefix(c.id, name+".") })
	if len(fit) == 0 {
		return &rpc.Error{Message: what, Data: rpc.ErrorData{
			Hint: fmt.Sprintf("no pending hunk begins so; list them with: cursord diff, and name a file as ./%s", term.Clean(name)),
		}}
	}
	return ambiguous(what, fit)
}

// Shortest maps each id to its shortest beginning, of at least 8 characters, that no other of the ids has.
func Shortest(ids []string) map[string]string {
	const least = 8
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	short := make(map[string]string, len(ids))
	for i, id := range sorted {
		n := least
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(sorted) {
				n = max(n, common(id, sorted[j])+1)
			}
		}
		short[id] = id[:min(n, len(id))]
	}
	return short
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// lateness reads "@1".
func lateness(name string) (place int, is bool, err error) {
	digits, is := strings.CutPrefix(name, "@")
	if !is {
		return 0, false, nil
	}
	if place, err = strconv.Atoi(digits); err != nil || place < 1 {
		return 0, true, misuse.Errorf("%q is no place in the list: @1 is the latest, @2 the one before", term.Clean(name))
	}
	return place, true, nil
}

// split returns the candidates for all elements of a list, and for those in a workspace.
func split[T any](list []T, root string, about func(T) (workspace string, c candidate)) (here, all []candidate) {
	for _, v := range list {
		workspace, c := about(v)
		if all = append(all, c); workspace == root {
			here = append(here, c)
		}
	}
	return here, all
}

// choose returns the one candidate that a name means: by its whole id, else by the beginning of an id here, else anywhere.
func choose(noun, name string, here, all []candidate) (string, error) {
	if name == "" || slices.ContainsFunc(all, func(c candidate) bool { return c.id == name }) {
		return name, nil
	}
	for _, of := range [][]candidate{here, all} {
		var fit []candidate
		for _, c := range of {
			if len(c.id) >= len(name) && strings.EqualFold(c.id[:len(name)], name) {
				fit = append(fit, c)
			}
		}
		switch len(fit) {
		case 0:
			continue
		case 1:
			return fit[0].id, nil
		}
		return "", ambiguous(fmt.Sprintf("%q fits %s", term.Clean(name), term.Count(len(fit), noun)), fit)
	}
	return name, nil
}

// ambiguous returns an error that lists the first candidates.
func ambiguous(message string, may []candidate) error {
	var lines []string
	for _, c := range may[:min(len(may), shown)] {
		about, _, _ := strings.Cut(strings.TrimSpace(c.about), "\n")
		lines = append(lines, strings.TrimSpace(term.Clean(c.id)+"  "+term.Fit(term.Clean(about), 60)))
	}
	if more := len(may) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return &rpc.Error{Message: message + ": say which", Data: rpc.ErrorData{Hint: strings.Join(lines, "\n  ")}}
}
