// Package why is "cursord why": it says which prompts the lines of a file come from.
package why

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/rpc"
)

// A Why is a command line of why.
type Why struct {
	File  string
	Lines *api.LineRange // from 0, the end exclusive; nil: all
	JSON  bool
}

var withLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+?):([0-9]+)(?:-([0-9]+))?$`) })

// Parse reads FILE[:LINE[-LINE]]. A file whose name ends like that is taken as it is, if it exists.
func Parse(arg string) (w Why, err error) {
	w.File = arg
	m := withLines().FindStringSubmatch(arg)
	if m == nil {
		return w, nil
	}
	if _, err := os.Lstat(arg); err == nil {
		return w, nil
	}
	from, err := strconv.Atoi(m[2])
	to := from
	if err == nil && m[3] != "" {
		to, err = strconv.Atoi(m[3])
	}
	if err != nil || from < 1 || to < from {
		return w, misuse.Errorf("%s: lines are LINE or LINE-LINE, counted from 1", term.Clean(arg))
	}
	return Why{File: m[1], Lines: &api.LineRange{From: from - 1, To: to}}, nil
}

// Do asks the daemon, and prints the answer: with Lines, what is known of each run, else a line for each line of the file.
func (w Why) Do(ctx context.Context, n naming.Names, out io.Writer) error {
	path, err := filepath.Abs(w.File)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return misuse.Errorf("%s is a folder: name a file", term.Clean(w.File))
	}
	roots := slices.Compact([]string{n.Owner(path), n.Root}) // the innermost first: the outer one may know a file of it, too
	roots = slices.DeleteFunc(roots, func(root string) bool {
		_, inside := paths.Within(root, paths.ResolveDirs(path))
		return root == "" || !inside
	})
	if len(roots) == 0 {
		return fmt.Errorf("%s is not in %s: name its own folder (-w DIR)", term.Clean(path), term.Clean(n.Root))
	}
	said, err := w.ask(ctx, n.Client, roots, path)
	switch {
	case err != nil:
		return err
	case w.JSON:
		return term.PrintJSON(out, said)
	case len(said.Lines) == 0 && w.Lines != nil:
		return fmt.Errorf("%s has no such line", term.Clean(w.File))
	case len(said.Lines) == 0:
		_, err := fmt.Fprintf(out, "%s has no lines of text.\n", term.Clean(w.File))
		return err
	}
	existing, err := sessionsOf(ctx, n.Client, said.Lines)
	switch {
	case err != nil:
		return err
	case w.Lines != nil:
		_, err = io.WriteString(out, term.Fold(w.runs(said.Lines, existing)+forgotten(said.Forgotten), term.Columns(out)))
		return err
	}
	columns := term.Columns(out)
	return term.Page(out, annotated(said.Lines, path, existing, columns)+term.Fold(legend(said.Lines)+forgotten(said.Forgotten), columns))
}

// ask asks the workspaces in roots one after the other, and returns the first answer that has a source for some line; if there is none, the first answer.
func (w Why) ask(ctx context.Context, client *rpc.Client, roots []string, path string) (first rpc.WhyResult, err error) {
	for i, root := range roots {
		said, err := client.FileWhy(ctx, rpc.WhyParams{Workspace: root, Path: path, Lines: w.Lines})
		if err != nil {
			return first, err
		}
		if slices.ContainsFunc(said.Lines, func(l api.WhyLine) bool { return l.Source != nil || l.Commit != "" }) {
			return said, nil
		}
		if i == 0 {
			first = said
		}
	}
	return first, nil
}

// forgotten is the remark about a file of which a history was dropped.
func forgotten(dropped bool) string {
	if !dropped {
		return ""
	}
	return "\nMore was known of this file once: it was dropped, because it was more than history_size keeps.\n"
}

// sessionsOf returns the ids of all sessions if some of lines have a source without a prompt: if such a line's session exists, only its turn is gone.
func sessionsOf(ctx context.Context, client *rpc.Client, lines []api.WhyLine) (existing map[string]bool, err error) {
	if !slices.ContainsFunc(lines, func(l api.WhyLine) bool { return l.Source != nil && l.Source.Prompt == "" }) {
		return nil, nil
	}
	list, err := pages.Sessions(ctx, client, "")
	existing = map[string]bool{}
	for _, s := range list {
		existing[s.ID] = true
	}
	return existing, err
}

// runs says what is known of each run of lines. existing has the ids that sessionsOf returns.
func (w Why) runs(lines []api.WhyLine, existing map[string]bool) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		at := fmt.Sprint(l.From + 1)
		if l.To > l.From+1 {
			at += fmt.Sprint("-", l.To)
		}
		fmt.Fprintf(&b, "%s:%s", term.Clean(w.File), at)
		s := l.Source
		if s == nil {
			fmt.Fprintf(&b, "  %s\n", nobodys(l))
			continue
		}
		whose := "an agent's, "
		if s.MaybeYours {
			whose = view.MaybeYours + "; "
		}
		fmt.Fprintf(&b, "  %s%s%s\n", whose, term.Clean(string(s.State)), byText(s))
		if s.At != nil {
			fmt.Fprintf(&b, "  when     %s (%s)\n", s.At.Local().Format("2006-01-02 15:04:05"), term.Ago(s.At.Time, time.Now()))
		}
		fmt.Fprintf(&b, "  session  %s\n  turn     %s\n", term.Clean(s.SessionID), term.Clean(s.TurnID))
		if s.Prompt == "" {
			if existing[s.SessionID] {
				b.WriteString("  its turn was taken back: a rewind has removed it, with its prompt\n")
			} else {
				b.WriteString("  its session was deleted\n")
			}
		}
		for line := range strings.Lines(strings.TrimRight(s.Prompt, "\n")) {
			fmt.Fprintf(&b, "  > %s\n", term.Clean(strings.TrimRight(line, "\r\n")))
		}
		former(&b, s)
	}
	return b.String()
}

// nobodys says whose lines are that no prompt wrote.
func nobodys(l api.WhyLine) string {
	if l.Commit == "" {
		return "a person's, or older than cursord"
	}
	return fmt.Sprintf("of commit %.10s, which a command of an agent brought", term.Clean(l.Commit))
}

// byText is the remark that only the lines' text tells their source.
func byText(s *api.WhySource) string {
	if !s.ByText {
		return ""
	}
	return "; a guess by the text, because somebody moved the lines, brought them back or imported the session"
}

// former says what lines were before.
func former(b *strings.Builder, s *api.WhySource) {
	if len(s.Was)+s.WasMore == 0 {
		return
	}
	b.WriteString("  before:\n")
	for _, line := range s.Was {
		fmt.Fprintf(b, "  - %s\n", term.Clean(line))
	}
	if s.WasMore > 0 {
		fmt.Fprintf(b, "  … and %s\n", term.Count(s.WasMore, "more line"))
	}
}

// annotated returns the file with a remark before each run of lines. existing has the ids that sessionsOf returns. On a terminal with few columns the
// remarks take half of them; columns 0 stands for any width.
func annotated(lines []api.WhyLine, path string, existing map[string]bool, columns int) string {
	text, _ := os.ReadFile(path) // without it, there are only the remarks
	var all []string
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.TrimRight(line, "\r\n"))
	}
	last := 0
	if len(lines) > 0 {
		last = lines[len(lines)-1].To
	}
	width := len(fmt.Sprint(last))
	room, layout := 46, "2006-01-02 15:04" // cells for what is known of a line, and the form of its time
	if columns > 0 && columns < 2*room {
		room, layout = max(columns/2-width, 8), time.DateOnly
	}
	var b strings.Builder
	for _, l := range lines {
		about := ""
		if s := l.Source; s != nil {
			when := ""
			if s.At != nil {
				when = s.At.Local().Format(layout)
			}
			mark := " "
			if s.ByText || s.MaybeYours {
				mark = "?"
			} else if s.State == api.WhyPending {
				mark = "*"
			}
			prompt := term.Clean(strings.Join(strings.Fields(s.Prompt), " "))
			switch {
			case s.Prompt == "" && existing[s.SessionID]:
				prompt = "(taken back)"
			case s.Prompt == "":
				prompt = "(session deleted)"
			}
			about = fmt.Sprintf("%s%-*s %s", mark, len(layout), when, prompt)
		}
		about = term.Fit(about, room)
		about += strings.Repeat(" ", max(room-term.Width(about), 0))
		for i := l.From; i < l.To; i++ {
			line := ""
			if i < len(all) {
				line = term.Clean(all[i])
			}
			before := fmt.Sprintf("%s %*d  ", about, width, i+1)
			b.WriteString(beside(before, line, columns))
		}
	}
	return b.String()
}

// legend says what the marks of annotated lines mean, if some of them are in doubt.
func legend(lines []api.WhyLine) string {
	has := func(is func(s *api.WhySource) bool) bool {
		return slices.ContainsFunc(lines, func(l api.WhyLine) bool { return l.Source != nil && is(l.Source) })
	}
	maybe, guess := has(func(s *api.WhySource) bool { return s.MaybeYours }), has(func(s *api.WhySource) bool { return s.ByText && !s.MaybeYours })
	var b strings.Builder
	if (maybe || guess) && has(func(s *api.WhySource) bool { return s.State == api.WhyPending && !s.ByText && !s.MaybeYours }) {
		b.WriteString("* still to be reviewed\n")
	}
	switch {
	case maybe && guess:
		b.WriteString("? may be yours, or a guess by the text: cursord why FILE:LINE says which\n")
	case maybe:
		b.WriteString("? " + view.MaybeYours + "\n")
	case guess:
		b.WriteString("? a guess by the text\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// beside sets a text beside what comes before it. What the columns of a terminal do not hold of it goes on below its beginning.
func beside(before, text string, columns int) string {
	const least = 4 // cells for the text
	indent := term.Width(before)
	if columns-indent < least {
		return strings.TrimRight(before+text, " ") + "\n"
	}
	var b strings.Builder
	line, at := before, indent
	for _, r := range text {
		if at += term.Cells(r); at > columns {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, at = strings.Repeat(" ", indent), indent+term.Cells(r)
		}
		line += string(r)
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}
