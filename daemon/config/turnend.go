package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A trap is the reason why a value of the right form is refused.
type trap struct {
	reason string
	table  int // the place, from 0, of the table with the mistake, if the key has several
}

func (t trap) Error() string { return t.reason }

var (
	// foreign matches what others have written; {status} is a word of ours.
	foreign     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(title|summary|prompt|workspace|session|turn)\}`) })
	interpreter = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:ba|da|a|z|k|mk|c|tc|fi)?sh|pwsh|powershell|cmd|python[\d.]*|perl|ruby|node|lua[\d.]*)(?:\.exe)?$`)
	})
	takesText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:-[A-Za-z]*[ce]|/[cC])$`) }) // sh -c, bash -lc, perl -ne
)

// turnEnd checks the command of on_turn_end. Titles, prompts and answers must not be in a text that a shell or another
// interpreter runs as a program: it would run what they say.
func turnEnd(l []string) ([]string, error) {
	const instead = `["sh", "-c", "echo \"$1\" >> ~/turns.log", "_", "{title}"]`
	for i, word := range l {
		name := filepath.Base(word)
		if name == "tmux" && !(slices.Contains(l, "display-message") && slices.Contains(l, "-l")) {
			if found := foreign().FindString(strings.Join(l[i+1:], " ")); found != "" {
				return nil, trap{reason: fmt.Sprintf("has %s in what tmux expands, and tmux would run a #(…) in it as a command; use {status}", found)}
			}
		}
		if !interpreter().MatchString(name) {
			continue
		}
		if found := foreign().FindString(program(l[i+1:])); found != "" {
			return nil, trap{reason: fmt.Sprintf("has %s in the program that %s gets, which would run what others have written; "+
				"give it as an argument of its own, as in %s, or read the turn from stdin, which has it as JSON", found, name, instead)}
		}
	}
	return command(l)
}

// program returns the text that an interpreter with these arguments runs; "" if it runs none.
func program(args []string) string {
	runs := false
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case takesText().MatchString(arg):
			runs = true
		case strings.HasSuffix(arg, "o") && len(arg) > 1 && strings.ContainsAny(arg[:1], "-+"):
			i++ // sh -o pipefail
		case !strings.ContainsAny(arg[:min(len(arg), 1)], "-+"):
			if !runs {
				return ""
			}
			return arg
		}
	}
	return ""
}
