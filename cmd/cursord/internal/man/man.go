// Package man writes a manual page of commands, in roff, from the commands' help texts.
package man

import (
	"fmt"
	"io"
	"strings"
)

// A Command is a command's entry in the page.
type Command struct {
	Path    string // such as cursord run
	Use     string // such as cursord run [PROMPT]
	Short   string
	Long    string // "": Short says all
	Example string
	Flags   []Flag
}

// A Flag is a flag of a command.
type Flag struct{ Name, Short, Value, Usage string }

// Page writes a program's page. The first command is the program itself, and the others follow.
func Page(w io.Writer, version string, commands []Command) error {
	p := &page{}
	p.line(".TH CURSORD 1 \"\" %s \"User Commands\"", quoted("cursord "+version))
	for i, c := range commands {
		if i == 0 {
			p.line(".SH NAME")
			p.text(c.Path + " - " + strings.ToLower(c.Short[:1]) + c.Short[1:])
			p.line(".SH SYNOPSIS")
			p.line(".B %s", quoted(c.Path))
			p.line(".I COMMAND")
			p.line("[\\fIARGUMENT\\fR...]")
			p.line(".SH DESCRIPTION")
			p.paragraphs(c.Long)
			p.line(".SH COMMANDS")
			continue
		}
		p.line(".SS %s", quoted(c.Use))
		long := c.Long
		if long == "" {
			long = c.Short + "."
		}
		p.paragraphs(long)
		for _, f := range c.Flags {
			p.flag(f)
		}
		if c.Example != "" {
			p.line(".PP")
			p.line("Examples:")
			p.line(".PP")
			p.line(".nf")
			p.line(".RS")
			for line := range strings.Lines(strings.TrimRight(c.Example, "\n")) {
				p.text(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "  "))
			}
			p.line(".RE")
			p.line(".fi")
		}
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

type page struct{ b strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// text writes a line literally.
func (p *page) text(s string) {
	s = escaped(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	p.line("%s", s)
}

// paragraphs writes a help text. Empty lines separate paragraphs, and an indented paragraph keeps its lines.
func (p *page) paragraphs(text string) {
	for _, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		p.line(".PP")
		asIs := strings.HasPrefix(part, "  ")
		if asIs {
			p.line(".nf")
		}
		for line := range strings.Lines(part) {
			p.text(strings.TrimRight(line, "\n"))
		}
		if asIs {
			p.line(".fi")
		}
	}
}

func (p *page) flag(f Flag) {
	name := `\fB\-\-` + escaped(f.Name) + `\fR`
	if f.Short != "" {
		name = `\fB\-` + escaped(f.Short) + `\fR, ` + name
	}
	if f.Value != "" {
		name += ` \fI` + escaped(f.Value) + `\fR`
	}
	p.line(".TP")
	p.line("%s", name)
	p.text(f.Usage)
}

func escaped(s string) string { return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s) }

func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }
