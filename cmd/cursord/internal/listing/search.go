package listing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// Search prints at most limit places in stored sessions that have a query, the newest first, with what was found in bold on
// a terminal; root "" stands for all workspaces.
func Search(ctx context.Context, client *rpc.Client, out, errOut io.Writer, root, query string, limit int, asJSON bool) error {
	found := rpc.SearchResult{Matches: []sessions.Match{}}
	params := rpc.SearchParams{Workspace: root, Query: query}
	for more := true; more; {
		params.Limit = min(limit-len(found.Matches), 1000)
		page, err := client.Search(ctx, params)
		if err != nil {
			return err
		}
		found.Matches, found.NextCursor = append(found.Matches, page.Matches...), page.NextCursor
		params.Cursor = page.NextCursor
		more = params.Cursor != "" && len(found.Matches) < limit
	}
	if asJSON {
		return term.PrintJSON(out, found)
	}
	if len(found.Matches) == 0 {
		fmt.Fprintf(errOut, "nothing found%s\n", in(root))
		return nil
	}
	var ids []string
	for _, m := range found.Matches {
		ids = append(ids, m.SessionID, m.TurnID)
	}
	names := map[string]string{}
	if term.IsTerminal(out) {
		names = naming.Shortest(ids)
	}
	p, now := term.PaletteOf(out), time.Now()
	name := func(id string) string { return term.Clean(cmp.Or(names[id], id)) }
	for _, m := range found.Matches {
		about := []string{m.In, term.Ago(m.At.Time, now), "session " + name(m.SessionID)}
		if m.TurnID != "" && m.In != "title" {
			about = append(about, "turn "+name(m.TurnID))
		}
		if root == "" {
			about = append(about, term.Clean(m.Workspace))
		}
		term.PrintFolded(out, titleOf(m.Title)+p.Dim(" · "+strings.Join(about, " · "))+"\n")
		term.PrintFolded(out, "    "+highlighted(p, m)+"\n")
	}
	if found.NextCursor != "" {
		fmt.Fprintf(errOut, "there is more: --limit %d\n", 10*limit)
	}
	return nil
}

// highlighted returns a match's snippet with what was found in bold.
func highlighted(p term.Palette, m sessions.Match) string {
	var b strings.Builder
	at := 0
	for _, r := range m.Ranges {
		if r.From < at || r.To < r.From || r.To > len(m.Snippet) {
			break
		}
		b.WriteString(term.Clean(m.Snippet[at:r.From]))
		b.WriteString(p.Bold(p.Red(term.Clean(m.Snippet[r.From:r.To]))))
		at = r.To
	}
	b.WriteString(term.Clean(m.Snippet[at:]))
	return b.String()
}
