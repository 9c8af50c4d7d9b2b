package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/endpoint"
)

const (
	logPoll    = 200 * time.Millisecond
	logOlder   = 2        // files that are put aside, .1 being the latest
	logLineMax = 64 << 10 // longer ones are shown in pieces
)

func logsCommand() *cobra.Command {
	var follow, asJSON bool
	var last int
	c := &cobra.Command{
		Use:   "logs",
		Short: "Show the log of the daemon in the background",
		Long: `Show the log of the daemon in the background: its last lines, and with --follow what comes, also from the daemons after
this one. It needs no daemon and starts none. A daemon in the foreground ("cursord serve") logs to its terminal instead.`,
		Args: func(c *cobra.Command, args []string) error {
			if last < 0 {
				return errors.New("-n must not be negative")
			}
			return takes(0, 0)(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			dirs, err := endpoint.FindDirs()
			if err != nil {
				return err
			}
			show := newLogScreen(c.OutOrStdout(), asJSON)
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			t, err := openLogTail(dirs.Log(), last)
			if err != nil {
				return err
			}
			defer t.close()
			if t.file == nil && !follow {
				fmt.Fprintf(c.ErrOrStderr(), "no log yet (%s)\n", term.Clean(dirs.Log()))
				return nil
			}
			for {
				if err := t.read(show); err != nil || !follow {
					return err
				}
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(logPoll):
				}
			}
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show what comes, until Ctrl-C")
	c.Flags().IntVarP(&last, "lines", "n", 50, "begin with the last `N` lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print the lines as they are in the file: as JSON")
	return c
}

// A logTail reads a log that is put aside when it grows too big, and goes on in the new one.
type logTail struct {
	path  string
	first [][]byte // lines of the past, to be shown first
	file  *os.File // nil while there is none
	part  []byte   // of a line whose end is not written yet
}

// openLogTail opens the log behind its last n lines, which it keeps.
func openLogTail(path string, n int) (*logTail, error) {
	t := &logTail{path: path}
	for i := 0; i <= logOlder && len(t.first) < n; i++ {
		f, err := endpoint.OpenRegular(t.name(i), os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		lines, part, err := lastLines(f, n-len(t.first))
		if i == 0 {
			t.file, t.part = f, part
		} else if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		t.first = append(lines, t.first...)
	}
	if n == 0 {
		f, err := endpoint.OpenRegular(path, os.O_RDONLY, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			t.file = f
			if _, err := f.Seek(0, io.SeekEnd); err != nil {
				return nil, errors.Join(err, t.close())
			}
		}
	}
	return t, nil
}

func (t *logTail) name(older int) string {
	if older == 0 {
		return t.path
	}
	return fmt.Sprintf("%s.%d", t.path, older)
}

func (t *logTail) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// lastLines returns the last n lines that f has, and what follows the last newline. It leaves f at its end.
func lastLines(f *os.File, n int) (lines [][]byte, part []byte, err error) {
	r := bufio.NewReaderSize(f, logLineMax)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
			lines = append(lines, bytes.Clone(line))
			if len(lines) > 2*n+16 {
				lines = slices.Clone(lines[len(lines)-n:])
			}
		case errors.Is(err, io.EOF):
			return lines[max(len(lines)-n, 0):], bytes.Clone(line), nil
		default:
			return nil, nil, err
		}
	}
}

// read shows the lines that are there and were not shown.
func (t *logTail) read(show *logScreen) error {
	for _, line := range t.first {
		show.line(line)
	}
	t.first = nil
	for {
		if t.file == nil {
			f, err := endpoint.OpenRegular(t.path, os.O_RDONLY, 0)
			if errors.Is(err, fs.ErrNotExist) {
				return show.err
			}
			if err != nil {
				return err
			}
			t.file = f
		}
		// What was put aside gets no more lines; so look for that first.
		next, err := t.successor()
		if err != nil {
			return err
		}
		if err := t.rest(show); err != nil {
			return err
		}
		if next == "" || show.err != nil {
			return show.err
		}
		if err := t.file.Close(); err != nil {
			return err
		}
		t.file, t.part = nil, nil
		if t.file, err = endpoint.OpenRegular(next, os.O_RDONLY, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// successor returns the file that follows the present one, "" while that is the newest.
func (t *logTail) successor() (string, error) {
	own, err := t.file.Stat()
	if err != nil {
		return "", err
	}
	newer := t.path
	for i := 0; i <= logOlder; i++ {
		info, err := os.Stat(t.name(i))
		if errors.Is(err, fs.ErrNotExist) && i == 0 {
			return "", nil // between two files
		}
		if err == nil && os.SameFile(own, info) {
			if i == 0 {
				return "", nil
			}
			return newer, nil
		}
		newer = t.name(i)
	}
	return t.path, nil // moved away by somebody
}

// rest shows what the present file has.
func (t *logTail) rest(show *logScreen) error {
	if pos, err := t.file.Seek(0, io.SeekCurrent); err != nil {
		return err
	} else if info, err := t.file.Stat(); err == nil && info.Size() < pos { // emptied
		t.part = nil
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(buf)
		t.part = append(t.part, buf[:n]...)
		for {
			end := bytes.IndexByte(t.part, '\n')
			if end < 0 && len(t.part) > logLineMax {
				end = len(t.part) - 1
			}
			if end < 0 {
				break
			}
			show.line(t.part[:end+1])
			t.part = t.part[end+1:]
		}
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A logScreen prints lines of the log, for people unless they are wanted as they are.
type logScreen struct {
	w       io.Writer
	raw     bool
	palette term.Palette
	err     error // of writing
}

func newLogScreen(w io.Writer, raw bool) *logScreen {
	return &logScreen{w: w, raw: raw, palette: term.PaletteOf(w)}
}

func (s *logScreen) line(line []byte) {
	if s.err != nil {
		return
	}
	text := string(line)
	if s.raw && json.Valid(line) {
		text = string(term.PlainJSON(line))
	} else if !s.raw {
		text = s.readable(bytes.TrimRight(line, "\r\n")) + "\n"
	}
	_, s.err = io.WriteString(s.w, text)
}

// readable makes a line for people of one that is JSON; others, such as a crash's, stay as they are.
func (s *logScreen) readable(line []byte) string {
	d := json.NewDecoder(bytes.NewReader(line))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return term.Clean(string(line))
	}
	var when, level, msg string
	var rest []string
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return term.Clean(string(line))
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		switch key {
		case "time":
			when = text
			if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
				when = t.Local().Format("2006-01-02 15:04:05.000")
			}
		case "level":
			level = text
		case "msg":
			msg = text
		default:
			if text == "" || strings.ContainsAny(text, " \n\"=") {
				text = fmt.Sprintf("%q", text)
			}
			rest = append(rest, fmt.Sprint(key, "=", text))
		}
	}
	name := fmt.Sprintf("%-5s", level)
	switch level {
	case "ERROR":
		name = s.palette.Red(name)
	case "WARN":
		name = s.palette.Yellow(name)
	}
	out := s.palette.Dim(term.Clean(when)) + " " + name + " " + term.Clean(msg)
	if len(rest) > 0 {
		out += " " + s.palette.Dim(term.Clean(strings.Join(rest, " ")))
	}
	return out
}
