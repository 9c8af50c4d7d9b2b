package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/mattn/go-isatty"
)

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// A palette colours text, or leaves it as it is.
type palette bool

// paletteOf returns the palette for what is written to w: colours are for terminals whose user wants them.
func paletteOf(w io.Writer) palette {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	return palette(ok && enableEscapes(f))
}

func (p palette) paint(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p palette) bold(s string) string   { return p.paint("1", s) }
func (p palette) dim(s string) string    { return p.paint("2", s) }
func (p palette) red(s string) string    { return p.paint("31", s) }
func (p palette) green(s string) string  { return p.paint("32", s) }
func (p palette) yellow(s string) string { return p.paint("33", s) }
func (p palette) cyan(s string) string   { return p.paint("36", s) }

// clean makes one harmless line of text that somebody else wrote: control characters, which could move a terminal's
// cursor or change its state, and characters that turn the direction of writing are shown, not obeyed.
func clean(s string) string { return neutral(s, "") }

// cleanText is clean for text of several lines.
func cleanText(s string) string { return neutral(s, "\n\t") }

func neutral(s, keep string) string {
	bad := func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune(keep, r) || unicode.Is(unicode.Bidi_Control, r)
	}
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !bad(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r) // its picture
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// count returns "1 hunk", "2 hunks".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
