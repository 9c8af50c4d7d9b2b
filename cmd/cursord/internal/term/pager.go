package term

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"unicode/utf8"
)

// DefaultPager shows colours, ends if the text fits the screen, and leaves the text there.
const DefaultPager = "less -FRX"

// Page writes a text; on a terminal through the user's pager if the text is longer than the screen.
func Page(out io.Writer, text string) error {
	if f, ok := out.(*os.File); ok && IsTerminal(out) {
		if columns, rows, known := ScreenSize(f); known && screenRows(text, columns) >= rows {
			if command := pagerCommand(os.LookupEnv); command != "" && runPager(command, f, text) {
				return nil
			}
		}
	}
	_, err := io.WriteString(out, text)
	return err
}

// pagerCommand returns the user's pager, or "" for none.
func pagerCommand(lookup func(string) (string, bool)) string {
	if term, _ := lookup("TERM"); term == "dumb" {
		return ""
	}
	switch pager, set := lookup("PAGER"); {
	case !set:
		return DefaultPager
	case strings.TrimSpace(pager) == "cat":
		return ""
	default:
		return strings.TrimSpace(pager)
	}
}

// runPager shows a text in a pager and waits for its end. It returns false if the pager does not exist.
func runPager(command string, out *os.File, text string) bool {
	const notFound = 127 // a shell's exit status
	pager := UserCommand(command)
	pager.Stdout, pager.Stderr = out, os.Stderr
	pager.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		pager.Env = append(pager.Env, "LESS=FRX") // a PAGER that is just "less" shows colours, too
	}
	in, err := pager.StdinPipe()
	if err != nil {
		return false
	}
	// Ctrl-C is for the pager, which may use it for something else than to end.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if pager.Start() != nil {
		return false
	}
	_, _ = io.WriteString(in, text) // fails where the user has seen enough
	_ = in.Close()
	var exit *exec.ExitError
	err = pager.Wait()
	return !errors.As(err, &exit) || exit.ExitCode() != notFound
}

// UserCommand returns a program that the user named in a variable, perhaps with options, given more arguments.
func UserCommand(command string, args ...string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := strings.Fields(command)
		return exec.Command(words[0], append(words[1:], args...)...)
	}
	return exec.Command("sh", append([]string{"-c", command + ` "$@"`, command}, args...)...)
}

// screenRows counts the lines that a text fills on a terminal.
func screenRows(text string, columns int) int {
	const tab = 8
	rows := 0
	for line := range strings.Lines(text) {
		width := 0
		for line = strings.TrimSuffix(line, "\n"); line != ""; {
			r, n := utf8.DecodeRuneInString(line)
			switch {
			case r == '\x1b':
				if n = strings.IndexByte(line, 'm') + 1; n == 0 { // a colour, as no others are in what is printed
					n = len(line)
				}
			case r == '\t':
				width += tab - width%tab
			default:
				width++
			}
			line = line[n:]
		}
		rows += max(1, (width+columns-1)/columns)
	}
	return rows
}
