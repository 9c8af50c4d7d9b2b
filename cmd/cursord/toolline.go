package main

import (
	"fmt"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// toolLine says in a line what a tool call does and how it ended.
func toolLine(p term.Palette, item *sessions.Item) string {
	title := toolTitle(item.Tool)
	switch item.Status {
	case sessions.ItemCompleted:
		return p.Green("✓") + " " + title
	case sessions.ItemRunning:
		return p.Dim("… " + title)
	}
	why := string(item.Status)
	if t := item.Tool; item.Status != sessions.ItemCancelled {
		if t.ExitCode != nil && *t.ExitCode != 0 {
			why += fmt.Sprintf(", exit status %d", *t.ExitCode)
		} else if t.Error != "" {
			why += ": " + term.Clean(term.Abridge(t.Error, 200))
		}
	}
	return p.Red("✗") + " " + title + " " + p.Dim("("+why+")")
}

func toolTitle(t *sessions.Tool) string {
	title := term.Clean(t.Title)
	switch {
	case title == "":
		return term.Clean(t.RawName)
	case t.Name == "shell" && t.Command != "":
		return "$ " + title
	}
	return title
}
