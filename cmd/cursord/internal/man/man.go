// Package man writes a manual page of commands, in roff, from the texts that their help shows.
package man

import (
	"fmt"
	"io"
	"strings"
)

// A Command is what the page says of one.
type Command struct {
	Path    string // cursord run
	Use     string // cursord run [PROMPT]
	Short   string
	Long    string // "": Short says all
	Example string
	Flags   []Flag
}

// A Flag is one that a command takes.
type Flag struct{ Name, Short, Value, Usage string }

// Page writes the page of a program, the first command, with all others behind it.
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

// text writes a line as it is.
func (p *page) text(s string) {
	s = escaped(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	p.line("%s", s)
}

// paragraphs writes a help text: empty lines part paragraphs, and lines that are indented stay as they are.
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
