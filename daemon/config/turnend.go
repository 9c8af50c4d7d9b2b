package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cursord/daemon/config/similar"
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

// placeholder matches a word in braces, other than a variable of a shell.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^$])(\{[A-Za-z]+\})`) })

// words are what the commands of both settings may have in braces.
var words = []string{"{title}", "{summary}", "{prompt}", "{status}", "{workspace}", "{session}", "{turn}"}

// turnEnd checks the command of on_turn_end.
func turnEnd(l []string) ([]string, error) { return hook(l, "turn", words) }

// onApproval checks the command of on_approval.
func onApproval(l []string) ([]string, error) {
	return hook(l, "approval", append([]string{"{kind}", "{approval}"}, words...))
}

// hook checks a command whose stdin has what, and in whose arguments words are replaced. Titles, prompts and answers must not be in a text
// that a shell or another interpreter runs as a program: it would run what they say.
func hook(l []string, what string, words []string) ([]string, error) {
	const instead = `["sh", "-c", "echo \"$1\" >> ~/%ss.log", "_", "{title}"]`
	ran := "" // a program in which braces may be of its language
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
		ran = program(l[i+1:])
		if found := foreign().FindString(ran); found != "" {
			return nil, trap{reason: fmt.Sprintf("has %s in the program that %s gets, which would run what others have written; "+
				"give it as an argument of its own, as in %s, or read the %s from stdin, which has it as JSON", found, name, fmt.Sprintf(instead, what), what)}
		}
	}
	for i, word := range l {
		if i == 0 || word == ran || braced(l[i-1]) || braced(l[0]) {
			continue
		}
		for _, found := range placeholder().FindAllStringSubmatch(word, -1) {
			if !slices.Contains(words, found[1]) {
				return nil, trap{reason: fmt.Sprintf("has %s, for which nothing is put in%s; the words are %s", found[1], similar.DidYouMean(found[1], words), strings.Join(words, ", "))}
			}
		}
	}
	return command(l)
}

// braced reports whether a word is a program in whose language words stand in braces.
func braced(word string) bool {
	return slices.Contains([]string{"awk", "gawk", "jq", "mawk", "nawk", "sed"}, filepath.Base(word))
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
