// Package term has what commands know of the terminal: its size, keys, signals, colours and pager. It also formats numbers,
// times and tables, and makes text of others harmless. It keeps no state but the number of bytes that were read from terminals; whoever sets a
// terminal's mode restores it.
package term

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"cursord/agent/plaintext"
)

// IsTerminal reports whether a reader or writer is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Agrees asks a question on w and reads a line of in. It reports whether the answer is "y" or "yes".
func Agrees(in io.Reader, w io.Writer, question string) bool {
	fmt.Fprintf(w, "%s? [y/N, then Enter] ", question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// A Palette colours text, or leaves it unchanged if false.
type Palette bool

// PaletteOf returns the palette for w. Only terminals get colours, and not if NO_COLOR is set or TERM is "dumb".
func PaletteOf(w io.Writer) Palette {
	if !IsTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	return Palette(ok && enableEscapes(f))
}

func (p Palette) Paint(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p Palette) Bold(s string) string   { return p.Paint("1", s) }
func (p Palette) Dim(s string) string    { return p.Paint("2", s) }
func (p Palette) Red(s string) string    { return p.Paint("31", s) }
func (p Palette) Green(s string) string  { return p.Paint("32", s) }
func (p Palette) Yellow(s string) string { return p.Paint("33", s) }
func (p Palette) Cyan(s string) string   { return p.Paint("36", s) }

// ShellWord makes s harmless and quotes it if a shell would split or expand it.
func ShellWord(s string) string {
	s = Clean(s)
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Count returns "1 hunk", "2 hunks".
func Count(n int, noun string) string {
	return plaintext.Count(n, noun)
}

// Abridge cuts s to about n bytes, and ends a cut text in ….
func Abridge(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if i >= n {
			return s[:i] + "…"
		}
	}
	return s
}
