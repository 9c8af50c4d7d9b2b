// Package links finds the places in files that a transcript names: "todo.py:20" in what the agent says, the file of an edit, and the
// lines of its patch. It is pure; whether a path is one of a file is asked of the caller.
package links

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"cursord/editors/lsp/protocol"
)

// A Link is a place in a file.
type Link struct {
	Path     string // as it is written: absolute, below "~", or relative to the workspace
	Line     int    // from 1; 0 if only the file is named
	From, To int    // where it is written, in bytes of its line
}

var (
	// A candidate is what stands between spaces, quotes and brackets.
	candidate = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[^\\s`'\"()\\[\\]<>{},;|]+") })
	// A place ends with ":20", ":20:5", ":20-24" or "#L20".
	place = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.+?)(?::(\d{1,9})(?:[:-]\d+)*|#L(\d{1,9})(?:-L?\d+)?)?$`)
	})
	// An edit is a mark, a verb, a path, and perhaps the lines that are added and removed.
	edit    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S+ \S+ (.+?)(?: \+\d+ −\d+)?$`) })
	newSide = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)`) })
)

// maxLine bounds the bytes of a line that are searched.
const maxLine = 4096

// In returns the links of a line, in order. isFile is asked for each path that could be one.
func In(line string, isFile func(path string) bool) (all []Link) {
	line = line[:min(len(line), maxLine)]
	for _, at := range candidate().FindAllStringIndex(line, -1) {
		raw := strings.TrimRight(line[at[0]:at[1]], ".:!?")
		if link, ok := unmarked(raw, isFile); ok {
			link.From, link.To = link.From+at[0], link.To+at[0]
			all = append(all, link)
		}
	}
	return all
}

// marks are the characters that Markdown has around a text in bold or italics, at most maxMarks of them: **main.go:20**, **main.go**:20.
const (
	marks    = "*_"
	maxMarks = 3
)

// unmarked returns the link that a text is without the fewest marks: names of files may begin and end with them, too.
func unmarked(text string, isFile func(path string) bool) (Link, bool) {
	for from := range maxMarks + 1 {
		for right := text[from:]; right != ""; right = strings.TrimRight(right[:len(right)-1], ".:!?") {
			part := place().FindStringSubmatch(right)
			if part == nil {
				break
			}
			for path := part[1]; path != "" && len(part[1])-len(path) <= maxMarks; path = path[:len(path)-1] {
				if isFile(path) {
					number, _ := strconv.Atoi(part[2] + part[3]) // 0 without one
					return Link{Path: path, Line: number, From: from, To: from + len(right)}, true
				}
				if len(part[1]) == len(right) || !marked(path[len(path)-1]) {
					break // without a line the marks at its end are those of right
				}
			}
			if !marked(right[len(right)-1]) || len(text)-from-len(right) > maxMarks {
				break
			}
		}
		if from == len(text) || !marked(text[from]) {
			break
		}
	}
	return Link{}, false
}

func marked(c byte) bool { return strings.IndexByte(marks, c) >= 0 }

// At returns the link at a place in a transcript: the one that is written there, else the next one of the line, else its last. In a
// patch it is the line of the file that the patch shows there. offset counts the bytes of the line before the place.
func At(t *protocol.Text, line, offset int, isFile func(path string) bool) (Link, bool) {
	if link, ok := inPatch(t, line, isFile); ok {
		return link, true
	}
	if path, ok := edited(t.Line(line)); ok && isFile(path) {
		return Link{Path: path}, true
	}
	all := In(t.Line(line), isFile)
	for _, link := range all {
		if offset <= link.To {
			return link, true
		}
	}
	if len(all) > 0 {
		return all[len(all)-1], true
	}
	return Link{}, false
}

// inPatch returns the place of a line that is in the patch of an edit.
func inPatch(t *protocol.Text, line int, isFile func(path string) bool) (Link, bool) {
	below, number := 0, -1 // the lines of the new side between the hunk's head and this line
	for at := line; at >= 0; at-- {
		text := t.Line(at)
		switch {
		case strings.HasPrefix(text, "```"):
			if number < 0 || strings.TrimLeft(text, "`") != "diff" {
				return Link{}, false
			}
			for at--; at > 0 && strings.TrimSpace(t.Line(at)) == ""; at-- {
			}
			path, ok := edited(t.Line(max(at, 0)))
			return Link{Path: path, Line: max(number, 1)}, ok && isFile(path)
		case number >= 0:
		case strings.HasPrefix(text, "@@ "):
			if found := newSide().FindStringSubmatch(text); found != nil {
				number, _ = strconv.Atoi(found[1])
				number += below
			}
		case at < line && !strings.HasPrefix(text, "-"):
			below++
		}
	}
	return Link{}, false
}

// edited returns the path of the file that a line above a patch names.
func edited(line string) (path string, ok bool) {
	part := edit().FindStringSubmatch(line)
	if part == nil {
		return "", false
	}
	return part[1], true
}

// Workspace returns the folder that the head of a transcript names; "" if it names none.
func Workspace(t *protocol.Text) string {
	for at := range min(t.CountLines(), 12) {
		if folder, ok := strings.CutPrefix(t.Line(at), "- workspace: "); ok {
			return folder
		}
	}
	return ""
}
