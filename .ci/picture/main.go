// Command picture runs a program in a terminal and draws what it left there: FROM is what the first line of the picture begins
// with, TO what the line behind the last one begins with. It writes light.svg and dark.svg into DIR.
//
//	picture DIR FROM TO PROGRAM [ARG...]
package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

const (
	columns, rows   = 108, 200
	advance, height = 7.8, 18 // of a character, in pixels
	fontSize        = 13
	margin          = 18
)

// A theme has the colours of a terminal by their numbers; the defaults beside them.
type theme struct {
	foreground, background string
	colours                [16]string
}

var themes = map[string]theme{
	"light": {"#1f2328", "#f6f8fa", [16]string{
		"#24292f", "#cf222e", "#116329", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#57606a",
		"#656d76", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f"}},
	"dark": {"#e6edf3", "#0d1117", [16]string{
		"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
		"#8b949e", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"}},
}

// bold is vt10x's bit in a Glyph's Mode, which it does not export.
const bold = 1 << 2

func main() {
	log.SetFlags(0)
	if len(os.Args) < 5 {
		log.Fatal("usage: picture DIR FROM TO PROGRAM [ARG...]")
	}
	lines, err := screen(os.Args[4:])
	if err != nil {
		log.Fatal(err)
	}
	lines, err = between(lines, os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	for name, t := range themes {
		if err := os.WriteFile(filepath.Join(os.Args[1], name+".svg"), t.draw(lines), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// screen returns the lines that a program leaves on a terminal.
func screen(command []string) ([][]vt10x.Glyph, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return nil, err
	}
	said, err := io.ReadAll(terminal)
	if err != nil && !errors.Is(err, syscall.EIO) { // Linux says so when the program has ended
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, said)
	}
	// vt10x knows no faint text. Terminals draw it in grey.
	said = bytes.ReplaceAll(said, []byte("\x1b[2m"), []byte("\x1b[90m"))
	emulator := vt10x.New(vt10x.WithSize(columns, rows))
	if _, err := emulator.Write(said); err != nil {
		return nil, err
	}
	lines := make([][]vt10x.Glyph, rows)
	for y := range lines {
		for x := range columns {
			lines[y] = append(lines[y], emulator.Cell(x, y))
		}
	}
	return lines, nil
}

func text(line []vt10x.Glyph) string {
	var b strings.Builder
	for _, g := range line {
		b.WriteRune(g.Char)
	}
	return strings.TrimRight(b.String(), " ")
}

func between(lines [][]vt10x.Glyph, from, to string) ([][]vt10x.Glyph, error) {
	begins := func(with string) func([]vt10x.Glyph) bool {
		return func(line []vt10x.Glyph) bool { return strings.HasPrefix(text(line), with) }
	}
	first := slices.IndexFunc(lines, begins(from))
	if first < 0 {
		return nil, fmt.Errorf("no line begins with %q", from)
	}
	count := slices.IndexFunc(lines[first:], begins(to))
	if count < 0 {
		return nil, fmt.Errorf("no line behind it begins with %q", to)
	}
	for count > 1 && text(lines[first+count-1]) == "" {
		count--
	}
	return lines[first : first+count], nil
}

// draw returns an SVG in which each line is a text, and each run of one look in it a tspan that is as wide as it has to be,
// whatever the font.
func (t theme) draw(lines [][]vt10x.Glyph) []byte {
	var b bytes.Buffer
	wide, high := columns*advance+2*margin, len(lines)*height+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img">`+"\n", wide, high, wide, high)
	fmt.Fprintf(&b, `<style>text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.b{font-weight:bold}</style>`+"\n", fontSize)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", t.background)
	for y, line := range lines {
		line = line[:len([]rune(text(line)))]
		base := margin + y*height + height - 5
		var runs bytes.Buffer
		for x := 0; x < len(line); {
			end := x + 1
			for end < len(line) && line[end].FG == line[x].FG && line[end].BG == line[x].BG && line[end].Mode&bold == line[x].Mode&bold {
				end++
			}
			left, width := margin+float64(x)*advance, float64(end-x)*advance
			if line[x].BG != vt10x.DefaultBG {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, base-height+5, width, height, t.colour(line[x].BG))
			}
			class := ""
			if line[x].Mode&bold != 0 {
				class = ` class="b"`
			}
			var said strings.Builder
			for _, g := range line[x:end] {
				said.WriteRune(g.Char)
			}
			fmt.Fprintf(&runs, `<tspan x="%.1f" textLength="%.1f" fill="%s"%s>%s</tspan>`, left, width, t.colour(line[x].FG), class, html.EscapeString(said.String()))
			x = end
		}
		fmt.Fprintf(&b, `<text y="%d" xml:space="preserve">%s</text>`+"\n", base, &runs)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (t theme) colour(c vt10x.Color) string {
	switch {
	case c == vt10x.DefaultFG:
		return t.foreground
	case c == vt10x.DefaultBG:
		return t.background
	case c.ANSI():
		return t.colours[c]
	}
	log.Fatalf("colour %d is none of the 16 that themes have", c)
	return ""
}
