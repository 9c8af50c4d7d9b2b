package why

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
)

// A Commit is a command line of why that is about a commit.
type Commit struct {
	Rev     string // "": what the index holds
	Amend   bool   // the next commit takes the place of HEAD
	Trailer bool   // print only the lines for the message
	JSON    bool
}

// Do asks the daemon, and prints which prompts the lines that the commit adds come from.
func (c Commit) Do(ctx context.Context, n naming.Names, out io.Writer) error {
	said, err := n.Client.CommitWhy(ctx, rpc.CommitWhyParams{Workspace: n.Root, Rev: c.Rev, Amend: c.Amend})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return term.PrintJSON(out, said)
	case c.Trailer:
		for _, line := range said.Trailers {
			if _, err := fmt.Fprintln(out, term.Clean(line)); err != nil {
				return err
			}
		}
		return nil
	}
	return term.Page(out, term.Fold(c.prompts(said), term.Columns(out)))
}

// A share is the part of a commit that comes from one turn, or from nobody known. The lines of a turn that may be a person's are a share of their own.
type share struct {
	source  *api.WhySource // nil: a person, or nobody knows
	nobodys string         // without a source: whose it is
	lines   int
	places  []string
}

// prompts says what each turn has written of a commit, the one with the most lines first.
func (c Commit) prompts(said api.CommitWhy) string {
	var all []*share
	byTurn := map[string]*share{}
	dropped := []string{}
	for _, f := range said.Files {
		if f.Forgotten {
			dropped = append(dropped, f.Path)
		}
		for _, l := range f.Lines {
			turn := l.Commit
			if l.Source != nil {
				if turn = l.Source.TurnID; l.Source.MaybeYours {
					turn += "?"
				}
			}
			s := byTurn[turn]
			if s == nil {
				s = &share{source: l.Source, nobodys: nobodys(l)}
				byTurn[turn] = s
				all = append(all, s)
			}
			s.lines += l.To - l.From
			at := place(f.Path, l)
			if l.Source != nil && l.Source.ByText {
				at += "  (a guess by the text)"
			}
			s.places = append(s.places, at)
		}
	}
	if len(all) == 0 {
		return cmp.Or(said.Commit, "what is staged") + " adds no lines\n"
	}
	slices.SortStableFunc(all, func(a, b *share) int { return cmp.Compare(b.lines, a.lines) })
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cmp.Or(term.Clean(said.Commit), "staged for the next commit"))
	for _, s := range all {
		fmt.Fprintf(&b, "\n%s  ", term.Count(s.lines, "line"))
		if s.source == nil {
			b.WriteString(s.nobodys + "\n")
		} else {
			if s.source.MaybeYours {
				b.WriteString(view.MaybeYours + "  ")
			}
			when := ""
			if s.source.At != nil {
				when = s.source.At.Local().Format("2006-01-02 15:04") + "  "
			}
			fmt.Fprintf(&b, "%ssession %s  turn %s\n", when, term.Clean(s.source.SessionID), term.Clean(s.source.TurnID))
			switch {
			case s.source.Prompt == "":
				b.WriteString("  its prompt is gone: its session was deleted, or its turn taken back\n")
			default:
				for line := range strings.Lines(strings.TrimRight(s.source.Prompt, "\n")) {
					fmt.Fprintf(&b, "  > %s\n", term.Clean(strings.TrimRight(line, "\r\n")))
				}
			}
		}
		for _, p := range s.places {
			fmt.Fprintf(&b, "  %s\n", p)
		}
	}
	if len(dropped) > 0 {
		fmt.Fprintf(&b, "\nMore was known once of %s: it was dropped, because it was more than history_size keeps.\n", term.Clean(strings.Join(dropped, ", ")))
	}
	return b.String()
}

func place(path string, l api.WhyLine) string {
	at := fmt.Sprintf("%s:%d", term.Clean(path), l.From+1)
	if l.To > l.From+1 {
		at += fmt.Sprint("-", l.To)
	}
	return at
}
