package listing

import (
	"context"
	"fmt"
	"io"
	"strings"

	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// Show prints a whole session, oldest turn first.
func Show(ctx context.Context, client *rpc.Client, out io.Writer, session string, asJSON bool) error {
	t, err := pages.Transcript(ctx, client, session)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(out, t)
	}
	printTranscript(out, t)
	return nil
}

func printTranscript(w io.Writer, t *api.Transcript) {
	p := term.PaletteOf(w)
	s, count := t.Session, t.Session.Turns
	for _, turn := range t.Turns {
		if turn.Check { // no agent has run it
			count--
		}
	}
	model := "auto"
	if s.Model != nil {
		model = *s.Model
	}
	fmt.Fprintln(w, p.Bold(titleOf(s.Title)))
	fmt.Fprintln(w, p.Dim(fmt.Sprintf("%s · %s · %s · %s · %s · %s", s.ID, term.Clean(s.Workspace), term.Clean(model), s.Mode, s.State,
		term.Count(count, "turn"))))
	if text := used(s, t.Turns); text != "" {
		fmt.Fprintln(w, p.Dim(text))
	}
	items := map[string][]*sessions.Item{}
	for _, item := range t.Items {
		items[item.TurnID] = append(items[item.TurnID], item)
	}
	for _, turn := range t.Turns {
		printTurn(w, p, turn, items[turn.ID])
	}
}

// used sums up the usage of a session's own turns; "" if none has begun.
func used(s *sessions.Session, turns []*sessions.Turn) string {
	var u Used
	for _, t := range turns {
		if !s.Copied(t) {
			u.add(t)
		}
	}
	took := u.time()
	if took == "-" {
		return ""
	}
	text := "in all " + took
	if u.Unknown < u.Turns {
		text += " · " + view.UsedTokens(u.InputTokens, u.OutputTokens)
	}
	return text
}

func printTurn(w io.Writer, p term.Palette, turn *sessions.Turn, items []*sessions.Item) {
	fmt.Fprintln(w)
	fmt.Fprintln(w, p.Dim("turn "+term.Clean(turn.ID)))
	for line := range strings.Lines(term.CleanText(strings.TrimRight(turn.Asked(), "\n"))) {
		term.PrintFolded(w, p.Cyan("> "+strings.TrimSuffix(line, "\n"))+"\n")
	}
	for _, line := range view.Sent(turn) {
		term.PrintFolded(w, p.Cyan("> "+line)+"\n")
	}
	was := sessions.ItemKind("")
	for _, item := range items {
		if item.Kind != sessions.ItemTool || was != sessions.ItemTool {
			fmt.Fprintln(w)
		}
		was = item.Kind
		text := term.CleanText(strings.Trim(item.Text, "\n"))
		switch item.Kind {
		case sessions.ItemTool:
			fmt.Fprintln(w, view.ToolLine(p, item)+view.Counts(item))
			for _, line := range view.Changed(item) {
				fmt.Fprintln(w, p.Dim("    "+line))
			}
			printReply(w, p, item)
		case sessions.ItemThinking:
			fmt.Fprintln(w, p.Dim("thinking: "+text))
		case sessions.ItemNotice:
			fmt.Fprintln(w, p.Yellow("note: "+text))
		default:
			fmt.Fprintln(w, view.Said(w, strings.Trim(item.Text, "\n")))
			printReply(w, p, item)
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, p.Dim("— "+view.TurnEnd(turn)))
	if turn.Status == sessions.TurnInterrupted {
		message, hint := view.Interruption(turn)
		fmt.Fprintf(w, "%s\n  %s\n", p.Red("  "+message), hint)
	}
	if e := turn.Error; e != nil {
		fmt.Fprintln(w, p.Red("  "+term.Clean(e.Message)))
		if hint, _, _ := strings.Cut(e.Hint, `; "cursord show `); hint != "" { // without a pointer to what is being shown
			fmt.Fprintln(w, "  "+term.Clean(hint))
		}
		if detail := strings.TrimSpace(e.Detail); detail != "" && detail != strings.TrimSpace(e.Message) {
			fmt.Fprintln(w, p.Dim("  the agent's own words:"))
			for line := range strings.Lines(term.CleanText(detail)) {
				fmt.Fprintln(w, p.Dim("  | "+strings.TrimRight(line, "\n")))
			}
		}
	}
}

func printReply(w io.Writer, p term.Palette, item *sessions.Item) {
	for _, line := range view.Reply(p, item) {
		term.PrintFolded(w, line+"\n")
	}
}
