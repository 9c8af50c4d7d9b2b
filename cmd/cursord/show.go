package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func showCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show SESSION",
		Short: "Show all of a session, the oldest first",
		Args:  takes(1, 1),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			t, err := readTranscript(c.Context(), client, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), t)
			}
			printTranscript(c.OutOrStdout(), t)
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the session, its turns and items as JSON")
	return c
}

// readTranscript reads every page of session/read and joins them.
func readTranscript(ctx context.Context, client *rpc.Client, session string) (*api.Transcript, error) {
	var pages []api.Transcript // the newest first
	params := rpc.SessionReadParams{SessionID: session}
	for {
		page, err := client.SessionRead(ctx, params)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		if !page.More || len(page.Items) == 0 {
			break
		}
		params.Before = page.Items[0].ID
	}
	all := &api.Transcript{Session: pages[0].Session, Turns: []*sessions.Turn{}, Items: []*sessions.Item{}}
	known := map[string]bool{} // a turn that spans pages is in each of them
	for i := range pages {
		page := pages[len(pages)-1-i]
		for _, t := range page.Turns {
			if !known[t.ID] {
				known[t.ID] = true
				all.Turns = append(all.Turns, t)
			}
		}
		all.Items = append(all.Items, page.Items...)
	}
	return all, nil
}

func printTranscript(w io.Writer, t *api.Transcript) {
	p := term.PaletteOf(w)
	s := t.Session
	model := "auto"
	if s.Model != nil {
		model = *s.Model
	}
	fmt.Fprintln(w, p.Bold(term.Clean(s.Title)))
	fmt.Fprintln(w, p.Dim(fmt.Sprintf("%s · %s · %s · %s · %s · %s", s.ID, term.Clean(s.Workspace), term.Clean(model), s.Mode, s.State,
		term.Count(s.Turns, "turn"))))
	items := map[string][]*sessions.Item{}
	for _, item := range t.Items {
		items[item.TurnID] = append(items[item.TurnID], item)
	}
	for _, turn := range t.Turns {
		printTurn(w, p, turn, items[turn.ID])
	}
}

func printTurn(w io.Writer, p term.Palette, turn *sessions.Turn, items []*sessions.Item) {
	fmt.Fprintln(w)
	fmt.Fprintln(w, p.Dim("turn "+term.Clean(turn.ID)))
	for line := range strings.Lines(term.CleanText(strings.TrimRight(turn.Asked(), "\n"))) {
		fmt.Fprintln(w, p.Cyan("> "+strings.TrimSuffix(line, "\n")))
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
			fmt.Fprintln(w, view.ToolLine(p, item))
		case sessions.ItemThinking:
			fmt.Fprintln(w, p.Dim("thinking: "+text))
		case sessions.ItemNotice:
			fmt.Fprintln(w, p.Yellow("note: "+text))
		default:
			fmt.Fprintln(w, text)
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, p.Dim("— "+view.TurnEnd(turn)))
	if e := turn.Error; e != nil {
		fmt.Fprintln(w, p.Red("  "+term.Clean(e.Message)))
		if e.Hint != "" {
			fmt.Fprintln(w, "  "+term.Clean(e.Hint))
		}
		if detail := strings.TrimSpace(e.Detail); detail != "" && detail != strings.TrimSpace(e.Message) {
			fmt.Fprintln(w, p.Dim("  the agent's own words:"))
			for line := range strings.Lines(term.CleanText(detail)) {
				fmt.Fprintln(w, p.Dim("  | "+strings.TrimRight(line, "\n")))
			}
		}
	}
}
