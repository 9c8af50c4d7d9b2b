package allow

import (
	"slices"
	"strings"
)

// more is which words a rule takes behind its own: nothing, anything, or those of a tool in tools.
type more string

const (
	nothing  more = ""
	anything more = "*"
)

// readers only read and print, whatever their arguments are: none names a program, code, or a file that is written. So sort, uniq, find, rg,
// sed, awk, printf and test are not here, nor are tools that run what a project or its configuration names.
var readers = []string{
	"basename", "cat", "cksum", "comm", "cut", "df", "dirname", "du", "echo", "egrep", "fgrep", "grep", "head", "ls", "md5sum", "nl", "od",
	"paste", "pwd", "readlink", "realpath", "seq", "sha1sum", "sha256sum", "stat", "tac", "tail", "tr", "wc",
}

// A tool is a program with a command whose harmless arguments are known: these options, each a word of its own, and operands. An
// option that ends with "=" takes a value.
type tool struct {
	options []string
	operand func(string) bool
}

// tools are by their first two words. Packages in the folder are code of the project, as that which go tests without arguments is. Not here is
// what runs something else or writes: -exec, -vettool, -coverprofile, packages elsewhere, and go build, whose arguments name the
// executable. "git status -v" runs what git's configuration names, and so does --help.
var tools = map[more]tool{
	"git status": {[]string{"-s", "-b", "-sb", "--short", "--branch", "--porcelain", "--long", "--ignored", "--show-stash"}, isPath},
	"go test":    {[]string{"-v", "-race", "-short", "-cover", "-failfast", "-json", "-count=", "-run=", "-timeout="}, isPackage},
	"go vet":     {[]string{"-v", "-json"}, isPackage},
}

// harmless returns which words may follow the line without running or writing anything that it does not name already. Every command
// of the line must be known, because one in front could change what the name of the last one means.
func (l line) harmless() more {
	last := nothing
	if n := len(l.steps); n == 0 || strings.Contains(l.between[n], "&") { // in the background, nobody sees what more arguments do
		return nothing
	}
	for i, s := range l.steps {
		last = s.harmless()
		if last == nothing && (i == len(l.steps)-1 || s.words[0] != word{"cd", true}) {
			return nothing
		}
	}
	return last
}

func (s step) harmless() more {
	if len(s.assigns) > 0 || len(s.redirects) > 0 || !s.words[0].plain {
		return nothing
	}
	if slices.Contains(readers, s.words[0].text) {
		if slices.ContainsFunc(s.words, word.runs) {
			return nothing
		}
		return anything
	}
	if len(s.words) < 2 || !s.words[1].plain {
		return nothing
	}
	name := more(s.words[0].text + " " + s.words[1].text)
	if _, known := tools[name]; !known || slices.ContainsFunc(s.words[2:], func(w word) bool { return !name.takes(w) }) {
		return nothing
	}
	return name
}

// runs reports whether a command may stand in the word.
func (w word) runs() bool { return !w.plain && strings.ContainsAny(w.text, "`(") }

// takes reports whether a word may follow.
func (m more) takes(w word) bool {
	t, known := tools[m]
	switch {
	case !w.plain:
		return false
	case !known:
		return m == anything
	}
	return t.operand(w.text) || slices.ContainsFunc(t.options, func(o string) bool {
		value, valued := strings.CutPrefix(w.text, o)
		return w.text == o || valued && strings.HasSuffix(o, "=") && isPath(value)
	})
}

// isPath reports whether a word is a path that no shell expands and no program takes for an option.
func isPath(text string) bool {
	return text != "" && text[0] != '-' && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./-", r))
	})
}

// isPackage reports whether a word is a pattern of go's for packages in the folder, and no file.
func isPackage(text string) bool {
	return text == "." || strings.HasPrefix(text, "./") && isPath(text) && !strings.HasSuffix(text, ".go") &&
		!strings.Contains(strings.ReplaceAll(text, "...", ""), "..")
}
