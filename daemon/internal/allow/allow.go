// Package allow says which commands a person has allowed for good: rules, each the beginning of a command line. It reads rules
// and commands as a shell does. A command that is not understood completely matches no rule.
//
// A rule and a command match if they are the same line, word for word, except that the last simple command of the line may have
// more words. These must be plain: no substitution, no expansion of a variable or of braces. Each pipe, list, assignment, redirection and
// substitution of the command must be in the rule. An exact rule takes no more words.
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
	steps []step
	exact bool
}

// A step is a simple command of a line.
type step struct {
	join       string // how it follows the one before: "", ";", "&&", "||", "|" or "|&"
	background bool   // "&" ends the list that ends with it
	assigns    []string
	words      []word
	redirects  []string
}

// A word is a word as the shell understands it. Two words with one text are the same word.
type word struct {
	text  string
	plain bool // nothing in it is substituted
}

// Parse reads a rule. The error completes "the rule …".
func Parse(text string) (Rule, error) {
	steps, err := read(text)
	if err != nil {
		return Rule{}, err
	}
	return Rule{steps: steps}, nil
}

// Always is Parse for a command that a person has allowed for good. The rule is exact if more words could name another command, or belong to
// another file: the last command of the line sets a variable, is redirected, or is a program that runs what its arguments name.
func Always(command string) (Rule, error) {
	r, err := Parse(command)
	r.exact = len(r.steps) > 0 && r.steps[len(r.steps)-1].runsArguments()
	return r, err
}

// Exact reports whether the rule allows no more words than its own.
func (r Rule) Exact() bool { return r.exact }

var (
	// runners run the command that begins behind their options.
	runners = append([]string{
		"bash", "builtin", "command", "dash", "doas", "env", "eval", "exec", "fish", "ksh", "nice", "nohup", "npx", "setsid", "sh", "stdbuf", "strace", "sudo", "time",
		"timeout", "uvx", "xargs", "zsh",
	}, interpreters...)
	interpreters = []string{"lua", "node", "perl", "php", "python", "python3", "ruby"}
	// anywhere are those whose command may also stand behind other words, such as find's -exec.
	anywhere = []string{"find", "parallel", "script", "ssh", "su", "watch"}
	// hosts run, with some arguments, a command that these name: in another environment, for an option, or in a language of their own.
	hosts = []string{
		".", "[", "ack", "alias", "ar", "at", "awk", "batch", "bundle", "busybox", "bwrap", "capsh", "chroot", "chrt", "conda", "coproc", "crontab", "dbus-run-session",
		"deno", "docker", "emacs", "entr", "ex", "expect", "fakeroot", "fd", "fdfind", "firejail", "flatpak", "flock", "fzf", "gawk", "gdb", "gosu", "hash",
		"hyperfine", "ionice", "ip", "ksu", "kubectl", "less", "lldb", "ltrace", "man", "mawk", "more", "nc", "ncat", "nix", "nix-shell", "nsenter", "numactl", "nvim",
		"perf", "pkexec", "podman", "poetry", "printf", "prlimit", "psql", "rg", "rsync", "run0", "runuser", "scp", "screen", "sed", "setarch", "setpriv", "sftp", "sg",
		"socat", "source", "split", "sqlite3", "start-stop-daemon", "systemd-run", "tar", "taskset", "tclsh", "test", "tini", "tmux", "toybox", "trap", "unbuffer",
		"unshare", "uv", "valgrind", "vi", "view", "vim", "xvfb-run", "zip",
	}
	// tools have commands of their own, which the next word names. Those in open run what a later word names.
	tools = []string{"bun", "cargo", "cmake", "git", "go", "gradle", "hg", "jj", "just", "make", "mvn", "ninja", "npm", "pip", "pnpm", "rake", "svn", "task", "yarn"}
	open  = []string{"bisect", "config", "difftool", "dlx", "exec", "filter-branch", "help", "mergetool", "rebase", "run", "submodule", "tool", "worktree", "x"}
)

// runsArguments reports whether a command could run any other one if more words followed.
func (s step) runsArguments() bool {
	name := path.Base(s.words[0].text)
	is := func(lists ...[]string) bool {
		return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, name) })
	}
	switch {
	case !s.words[0].plain || len(s.assigns) > 0 || len(s.redirects) > 0:
		return true
	case is(tools, interpreters): // python3 FILE has the file do what it does
		if len(s.words) < 2 || !s.words[1].plain || isOption(s.words[1].text) {
			return true
		}
		return slices.Contains(open, s.words[1].text) && (len(s.words) == 2 || name == "git") // npm run build has named what runs
	}
	return is(runners, anywhere, hosts) || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld.so")
}

// RunsAny reports whether the words that the rule takes behind its own could name any other command: those of "sudo" and "env -i" could,
// but not those of "sudo make", which are make's.
func (r Rule) RunsAny() bool {
	if len(r.steps) == 0 {
		return false
	}
	for _, w := range r.steps[len(r.steps)-1].words {
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

// Allows reports whether a command is the rule's, perhaps with more words at its end if the rule is not exact.
func (r Rule) Allows(command string) bool {
	steps, err := read(command)
	return err == nil && r.allows(steps)
}

// First returns the index of the first rule that allows a command, or -1.
func First(command string, rules []Rule) int {
	if len(rules) == 0 {
		return -1
	}
	steps, err := read(command)
	if err != nil {
		return -1
	}
	return slices.IndexFunc(rules, func(r Rule) bool { return r.allows(steps) })
}

func (r Rule) allows(steps []step) bool {
	if len(r.steps) == 0 || len(steps) != len(r.steps) {
		return false
	}
	last := len(steps) - 1
	for i, have := range steps {
		want := r.steps[i]
		if have.join != want.join || have.background != want.background ||
			!slices.Equal(have.assigns, want.assigns) || !slices.Equal(have.redirects, want.redirects) ||
			len(have.words) < len(want.words) || (i < last || r.exact) && len(have.words) > len(want.words) {
			return false
		}
		for n, w := range have.words {
			if n < len(want.words) && w != want.words[n] || n >= len(want.words) && !w.plain {
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
func read(line string) (steps []step, err error) {
	switch {
	case len(line) > MaxCommand:
		return nil, errLong
	case !utf8.ValidString(line) || strings.ContainsFunc(line, unclear):
		return nil, errUnclear
	}
	defer func() {
		if recover() != nil { // a fault of the parser
			steps, err = nil, errSyntax
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, errSyntax
	}
	if len(file.Last) > 0 {
		return nil, errComplex // a comment
	}
	r := reader{line: line}
	for i, s := range file.Stmts {
		join := ""
		if i > 0 {
			join = ";"
		}
		if !r.statement(s, join) {
			return nil, errComplex
		}
	}
	if len(r.steps) == 0 {
		return nil, errEmpty
	}
	return r.steps, nil
}

// unclear reports whether a person may not see what the character does.
func unclear(r rune) bool {
	return r != '\n' && r != '\t' && (plaintext.Deceives(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError || unicode.IsSpace(r) && r != ' ')
}

// A reader collects the steps of a line.
type reader struct {
	line  string
	steps []step
}

// statement adds a statement; false if it is not understood.
func (r *reader) statement(s *syntax.Stmt, join string) bool {
	if len(s.Comments) > 0 || s.Negated || s.Coprocess || s.Disown {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return r.simple(s, cmd, join)
	case *syntax.BinaryCmd:
		if len(s.Redirs) > 0 || cmd.X == nil || cmd.Y == nil || cmd.X.Background || cmd.Y.Background {
			return false
		}
		switch cmd.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe, syntax.PipeAll:
		default:
			return false
		}
		if !r.statement(cmd.X, join) || !r.statement(cmd.Y, cmd.Op.String()) {
			return false
		}
	default:
		return false
	}
	r.steps[len(r.steps)-1].background = s.Background
	return true
}

func (r *reader) simple(s *syntax.Stmt, cmd *syntax.CallExpr, join string) bool {
	if len(cmd.Args) == 0 {
		return false
	}
	made := step{join: join, background: s.Background}
	for _, a := range cmd.Assigns {
		made.assigns = append(made.assigns, r.source(a))
	}
	for _, w := range cmd.Args {
		made.words = append(made.words, r.word(w))
	}
	for _, d := range s.Redirs {
		if d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc || d.Hdoc != nil || d.Word == nil {
			return false
		}
		made.redirects = append(made.redirects, r.source(d))
	}
	r.steps = append(r.steps, made)
	return true
}

// source returns a node as it is written.
func (r *reader) source(n syntax.Node) string {
	return r.line[n.Pos().Offset():n.End().Offset()]
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
