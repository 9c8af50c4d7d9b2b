package main

import (
	"fmt"

	"cursord/sessions"
)

// toolLine says in a line what a tool call does and how it ended.
func toolLine(p palette, item *sessions.Item) string {
	title := toolTitle(item.Tool)
	switch item.Status {
	case sessions.ItemCompleted:
		return p.green("✓") + " " + title
	case sessions.ItemRunning:
		return p.dim("… " + title)
	}
	why := string(item.Status)
	if t := item.Tool; item.Status != sessions.ItemCancelled {
		if t.ExitCode != nil && *t.ExitCode != 0 {
			why += fmt.Sprintf(", exit status %d", *t.ExitCode)
		} else if t.Error != "" {
			why += ": " + clean(abridge(t.Error, 200))
		}
	}
	return p.red("✗") + " " + title + " " + p.dim("("+why+")")
}

func toolTitle(t *sessions.Tool) string {
	title := clean(t.Title)
	switch {
	case title == "":
		return clean(t.RawName)
	case t.Name == "shell" && t.Command != "":
		return "$ " + title
	}
	return title
}
