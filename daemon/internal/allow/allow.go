// Package allow says which commands a person has allowed for good: rules, each the beginning of a command line. It reads rules
// and commands as a shell does. A command that is not understood completely matches no rule.
//
// A rule and a command match if they are the same line, word for word, except that the last simple command of the line may have
// more words. These must be plain: no substitution, no expansion of a variable or of braces. Each pipe, list, line break, assignment,
// redirection and substitution of the command must be in the rule. A rule of Always takes only words that are known to be harmless there.
package allow

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"cursord/agent/plaintext"
)

// MaxCommand is the size in bytes of the longest command that is read.
const MaxCommand = 16 << 10

// A Rule is the beginning of allowed commands, or the whole of one. The zero Rule matches nothing.
type Rule struct {
	line line
	more more
}

// A line is the simple commands of a command line. between has the operators and line breaks before, between and behind them.
type line struct {
	steps   []step
	between []string
}

// A step is a simple command of a line.
type step struct {
	assigns   []string
	words     []word
	redirects []string
}

// A word is a word as the shell understands it. Two words with one text are the same word.
type word struct {
	text  string
	plain bool // nothing in it is substituted
}

// Parse reads a rule. The error completes "the rule …".
func Parse(text string) (Rule, error) {
	l, err := read(text)
	if err != nil {
		return Rule{}, err
	}
	return Rule{line: l, more: anything}, nil
}

// Always is Parse for a command that a person has allowed for good. It takes more words only if they are known to be harmless.
func Always(command string) (Rule, error) {
	r, err := Parse(command)
	r.more = r.line.harmless()
	return r, err
}

// Exact reports whether the rule allows no more words than its own.
func (r Rule) Exact() bool { return r.more == nothing }

var (
	// runners run the command that begins behind their options.
	runners = []string{
		"ash", "bash", "builtin", "command", "csh", "dash", "doas", "env", "eval", "exec", "fish", "ksh", "mksh", "nice", "nohup", "npx", "pwsh", "setsid",
		"sh", "stdbuf", "strace", "sudo", "tcsh", "time", "timeout", "uvx", "xargs", "zsh",
		"elixir", "groovy", "guile", "java", "julia", "lua", "luajit", "node", "nodejs", "osascript", "perl", "php", "pypy", "python", "python3", "Rscript", "ruby", "scala", "ts-node", "tsx",
	}
	// anywhere are those whose command may also stand behind other words, such as find's -exec.
	anywhere = []string{"find", "parallel", "script", "ssh", "su", "watch"}
)

// RunsAny reports whether the rule does not say what runs, but only what runs it, as "sudo", "env -i", "find ." and "$CMD x" do. "sudo make"
// says it.
func (r Rule) RunsAny() bool {
	steps := r.line.steps
	if len(steps) == 0 {
		return false
	}
	for _, w := range steps[len(steps)-1].words {
		switch name := path.Base(w.text); {
		case !w.plain || slices.Contains(anywhere, name):
			return true
		case !slices.Contains(runners, name) && !isOption(w.text):
			return false
		}
	}
	return true
}

// isOption reports whether a word stands between a runner and its command: an option, an assignment, or a number or a duration.
func isOption(word string) bool {
	_, err := strconv.ParseFloat(strings.TrimRight(word, "smhd"), 64)
	return err == nil || strings.HasPrefix(word, "-") || strings.Contains(word, "=")
}

// Allows reports whether a command is the rule's, perhaps with more words at its end.
func (r Rule) Allows(command string) bool {
	l, err := read(command)
	return err == nil && r.allows(l)
}

// First returns the index of the first rule that allows a command, or -1.
func First(command string, rules []Rule) int {
	if len(rules) == 0 {
		return -1
	}
	l, err := read(command)
	if err != nil {
		return -1
	}
	return slices.IndexFunc(rules, func(r Rule) bool { return r.allows(l) })
}

func (r Rule) allows(l line) bool {
	if len(r.line.steps) == 0 || !slices.Equal(l.between, r.line.between) {
		return false
	}
	for i, have := range l.steps {
		want := r.line.steps[i]
		n := len(want.words)
		if !slices.Equal(have.assigns, want.assigns) || !slices.Equal(have.redirects, want.redirects) ||
			len(have.words) < n || !slices.Equal(have.words[:n], want.words) {
			return false
		}
		for _, w := range have.words[n:] {
			if i < len(l.steps)-1 || !r.more.takes(w) {
				return false
			}
		}
	}
	return true
}

var (
	errEmpty   = errors.New("names no command")
	errLong    = fmt.Errorf("is longer than %d bytes", MaxCommand)
	errUnclear = errors.New("has a character that is not shown")
	errSyntax  = errors.New("is no command line for a shell")
	errComplex = errors.New("is more than simple commands with words, pipes and lists")
)

// read takes a command line apart. It refuses what it does not understand.
func read(text string) (l line, err error) {
	switch {
	case len(text) > MaxCommand:
		return line{}, errLong
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unclear):
		return line{}, errUnclear
	}
	defer func() {
		if recover() != nil { // a fault of the parser
			l, err = line{}, errSyntax
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return line{}, errSyntax
	}
	if len(file.Last) > 0 {
		return line{}, errComplex // a comment
	}
	r := reader{text: text}
	for _, s := range file.Stmts {
		if !r.statement(s) {
			return line{}, errComplex
		}
	}
	if len(r.steps) == 0 {
		return line{}, errEmpty
	}
	r.gap(uint(len(text)))
	return r.line, nil
}

// unclear reports whether a person may not see what the character does.
func unclear(r rune) bool {
	return r != '\n' && r != '\t' && (plaintext.Deceives(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError || unicode.IsSpace(r) && r != ' ')
}

// A reader collects the steps of a line.
type reader struct {
	line
	text string
	at   uint // where the last step ends
}

// statement adds a statement; false if it is not understood.
func (r *reader) statement(s *syntax.Stmt) bool {
	if len(s.Comments) > 0 || s.Negated || s.Coprocess || s.Disown {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return r.simple(s, cmd)
	case *syntax.BinaryCmd:
		if len(s.Redirs) > 0 || cmd.X == nil || cmd.Y == nil || cmd.X.Background || cmd.Y.Background {
			return false
		}
		switch cmd.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe, syntax.PipeAll:
			return r.statement(cmd.X) && r.statement(cmd.Y)
		}
	}
	return false
}

func (r *reader) simple(s *syntax.Stmt, cmd *syntax.CallExpr) bool {
	if len(cmd.Args) == 0 {
		return false
	}
	var made step
	from, to := cmd.Args[0].Pos().Offset(), uint(0)
	written := func(n syntax.Node) string {
		from, to = min(from, n.Pos().Offset()), max(to, n.End().Offset())
		return r.source(n)
	}
	for _, a := range cmd.Assigns {
		made.assigns = append(made.assigns, written(a))
	}
	for _, w := range cmd.Args {
		written(w)
		made.words = append(made.words, r.word(w))
	}
	for _, d := range s.Redirs {
		if d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc || d.Hdoc != nil || d.Word == nil {
			return false
		}
		made.redirects = append(made.redirects, written(d))
	}
	r.gap(from)
	r.at = to
	r.steps = append(r.steps, made)
	return true
}

// gap adds what stands between the last step and an offset, without blanks and lines that go on.
func (r *reader) gap(to uint) {
	r.between = append(r.between, strings.NewReplacer("\\\n", "", " ", "", "\t", "").Replace(r.text[r.at:to]))
}

// source returns a node as it is written.
func (r *reader) source(n syntax.Node) string {
	return r.text[n.Pos().Offset():n.End().Offset()]
}

// word reads a word. Quoted characters that would mean something without quotes get a backslash, so that the texts of two words
// are equal only if a shell understands them alike.
func (r *reader) word(w *syntax.Word) word {
	var b strings.Builder
	quoted := func(text string) {
		for _, c := range text {
			if strings.ContainsRune("\\*?[]~!^#=", c) || c <= ' ' {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		}
	}
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "$`{") {
				return r.asWritten(w)
			}
			for rest := p.Value; rest != ""; {
				plain, after, escape := strings.Cut(rest, `\`)
				b.WriteString(plain)
				if rest = after; !escape {
					break
				}
				_, size := utf8.DecodeRuneInString(rest)
				if size == 0 {
					return r.asWritten(w) // a backslash at the end
				}
				quoted(rest[:size])
				rest = rest[size:]
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return r.asWritten(w)
			}
			quoted(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return r.asWritten(w)
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "$`\\") {
					return r.asWritten(w)
				}
				quoted(lit.Value)
			}
		default:
			return r.asWritten(w)
		}
	}
	return word{text: b.String(), plain: true}
}

// asWritten is a word that is compared by how it is written.
func (r *reader) asWritten(w *syntax.Word) word { return word{text: r.source(w)} }
