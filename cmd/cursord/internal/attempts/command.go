package attempts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
)

// A Command is a command line of "cursord attempts".
type Command struct {
	Group            string // the beginning of its name, or "": the latest
	All, Check, Drop bool
	Keep             []int // of Drop: the numbers of the attempts that stay
	Yes, JSON        bool
	Root             string
	In               io.Reader
	Out, ErrOut      io.Writer
}

// CheckFlags returns an error for flags that exclude each other.
func (c *Command) CheckFlags() error {
	switch {
	case c.Check && c.Drop:
		return errors.New("--check and --drop exclude each other")
	case c.All && (c.Group != "" || c.Check || c.Drop):
		return errors.New("--all lists the attempts of all prompts: it excludes GROUP, --check and --drop")
	case len(c.Keep) > 0 && !c.Drop:
		return errors.New("--keep goes with --drop")
	}
	return nil
}

// Do does what the command line says.
func (c *Command) Do(ctx context.Context, client *rpc.Client) error {
	list, err := client.AttemptList(ctx, rpc.AttemptListParams{Workspace: c.Root})
	if err != nil {
		return err
	}
	if c.All {
		return c.list(list.Groups, 0)
	}
	if len(list.Groups) == 0 && c.Group == "" && !c.Check && !c.Drop {
		if c.JSON {
			return term.PrintJSON(c.Out, list)
		}
		term.PrintFolded(c.ErrOut, fmt.Sprintf("no attempts in %s; begin some with: cursord run --attempts 3 \"…\"\n", term.Clean(c.Root)))
		return nil
	}
	g, err := c.choose(list.Groups)
	switch {
	case err != nil:
		return err
	case c.Drop:
		return c.drop(ctx, client, g)
	case c.Check:
		if g, err = c.check(ctx, client, g); err != nil {
			return err
		}
	}
	return c.list([]api.AttemptGroup{g}, len(list.Groups)-1)
}

// choose returns the group that is meant.
func (c *Command) choose(groups []api.AttemptGroup) (api.AttemptGroup, error) {
	var fit []api.AttemptGroup
	for _, g := range groups {
		if strings.HasPrefix(g.Group, c.Group) {
			fit = append(fit, g)
		}
	}
	switch {
	case len(fit) == 0 && c.Group == "":
		return api.AttemptGroup{}, &rpc.Error{
			Message: "no attempts in " + term.Clean(c.Root), Data: rpc.ErrorData{Hint: `begin some with: cursord run --attempts 3 "…"`},
		}
	case len(fit) == 0:
		return api.AttemptGroup{}, &rpc.Error{
			Message: "no group of attempts begins with " + term.Clean(c.Group), Data: rpc.ErrorData{Hint: "list them with: cursord attempts --all"},
		}
	case len(fit) > 1 && c.Group != "":
		return api.AttemptGroup{}, &rpc.Error{
			Message: fmt.Sprintf("%q fits %d groups of attempts: say more of it", term.Clean(c.Group), len(fit)), Data: rpc.ErrorData{Hint: "list them with: cursord attempts --all"},
		}
	}
	return fit[0], nil
}

// list prints groups; older says how many others there are.
func (c *Command) list(groups []api.AttemptGroup, older int) error {
	if c.JSON {
		return term.PrintJSON(c.Out, rpc.AttemptList{Groups: groups})
	}
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(c.Out)
		}
		Print(c.Out, g, time.Now())
	}
	if older > 0 {
		fmt.Fprintf(c.ErrOut, "attempts at %s more: cursord attempts --all\n", term.Count(older, "prompt"))
	}
	return nil
}

// check runs the checks of a group anew, side by side, and returns it as it is then.
func (c *Command) check(ctx context.Context, client *rpc.Client, g api.AttemptGroup) (api.AttemptGroup, error) {
	var turns []string
	for _, a := range g.Attempts {
		begun, err := client.AttemptCheck(ctx, rpc.SessionParams{SessionID: a.SessionID})
		if err != nil {
			return g, err
		}
		turns = append(turns, begun.Turn.ID)
	}
	if !c.JSON {
		fmt.Fprintf(c.ErrOut, "checking %s …\n", term.Count(len(turns), "attempt"))
	}
	for _, id := range turns {
		if _, err := client.TurnWait(ctx, rpc.TurnParams{TurnID: id}); err != nil {
			return g, err
		}
	}
	list, err := client.AttemptList(ctx, rpc.AttemptListParams{Workspace: c.Root, Group: g.Group})
	if err == nil && len(list.Groups) == 0 {
		err = errors.New("the attempts were dropped meanwhile")
	}
	if err != nil {
		return g, err
	}
	return list.Groups[0], nil
}

// drop deletes the attempts that are not to be kept. On a terminal it asks; elsewhere something to review needs Yes.
func (c *Command) drop(ctx context.Context, client *rpc.Client, g api.AttemptGroup) error {
	keep, count, hunks := []string{}, 0, 0
	for _, n := range c.Keep {
		if !slices.ContainsFunc(g.Attempts, func(a api.AttemptState) bool { return a.Number == n }) {
			return misuse.Errorf("--keep %d: there is no such attempt", n)
		}
	}
	for _, a := range g.Attempts {
		if slices.Contains(c.Keep, a.Number) {
			keep = append(keep, a.SessionID)
			continue
		}
		count, hunks = count+1, hunks+a.Hunks
	}
	what := term.Count(count, "attempt")
	if hunks > 0 {
		what += " with " + term.Count(hunks, "hunk") + " to review"
	}
	switch {
	case c.Yes:
	case term.IsTerminal(c.In) && term.IsTerminal(c.ErrOut):
		if !term.Agrees(c.In, c.ErrOut, "Drop "+what+" for good") {
			return errors.New("nothing was dropped")
		}
	case hunks > 0:
		kept, hint := "", "; --keep N leaves one"
		for _, n := range c.Keep {
			kept, hint = kept+fmt.Sprintf(" --keep %d", n), ""
		}
		return &rpc.Error{Message: what + " would be lost", Data: rpc.ErrorData{Hint: "to drop that: cursord attempts --drop -y" + kept + hint}}
	}
	done, err := client.AttemptDrop(ctx, rpc.AttemptDropParams{Workspace: c.Root, Group: g.Group, Keep: keep})
	if err != nil {
		return err
	}
	if c.JSON {
		return term.PrintJSON(c.Out, done)
	}
	fmt.Fprintf(c.Out, "dropped %s, kept %d\n", term.Count(len(done.Dropped), "attempt"), len(g.Attempts)-len(done.Dropped))
	return nil
}
