// Package run has the parts of "cursord run" beside the turn itself: its input, the format and destination of its output,
// and its last lines.
package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/daemon/pictures"
	"cursord/rpc"
)

// patience is the time for which stdin is read before people are told that the command waits for it.
const patience = 2 * time.Second

// Asked returns the prompt of a command line, and the context that goes with it. Before it reads stdin it calls mayRead: a command
// that is refused takes nothing of what others are to read.
func Asked(
	args, files, images []string, stdin io.Reader, errOut io.Writer, mayRead func() error,
) (prompt string, with []rpc.Context, err error) {
	named, err := NameFiles("--file", files)
	if err != nil {
		return "", nil, err
	}
	pictures, err := nameImages(images)
	if err != nil {
		return "", nil, err
	}
	prompt, piped, err := readPrompt(args, stdin, errOut, mayRead)
	if err != nil {
		return "", nil, err
	}
	if with = append(named, pictures...); piped != nil {
		with = append(with, *piped)
	}
	return prompt, with, nil
}

// readPrompt returns the prompt: the argument, or stdin if the argument is - or absent. With an argument, piped stdin is
// returned as context, else nil. If stdin does not end, errOut says so.
func readPrompt(args []string, stdin io.Reader, errOut io.Writer, mayRead func() error) (prompt string, piped *rpc.Context, err error) {
	given := len(args) > 0 && args[0] != "-"
	if !given && len(args) == 0 && term.IsTerminal(stdin) {
		return "", nil, misuse.Errorf("no PROMPT: give it as an argument or on stdin")
	}
	if given {
		prompt = args[0]
	}
	text := ""
	if !given || HasInput(stdin) {
		if err := mayRead(); err != nil {
			return "", nil, err
		}
		if text, err = readAll(stdin, errOut); err != nil {
			return "", nil, err
		}
	}
	if !given {
		prompt, text = text, ""
	}
	if strings.TrimSpace(prompt) == "" {
		return "", nil, misuse.Errorf("the prompt is empty: give it as PROMPT or on stdin")
	}
	if text != "" {
		piped = &rpc.Context{Kind: "text", Text: &text, Title: "stdin"}
	}
	return prompt, piped, nil
}

// SayRead says how much of stdin goes along with a prompt, because in a loop of a shell that was not meant for the agent.
func SayRead(w io.Writer, with []rpc.Context) {
	for _, c := range with {
		if c.Kind == "text" {
			fmt.Fprintf(w, "with %s of stdin (\"</dev/null\" leaves it out)\n", term.Size(int64(len(*c.Text))))
		}
	}
}

// HasInput reports whether stdin is a pipe, a socket or a file: neither a terminal nor the null device.
func HasInput(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice == 0 && !info.IsDir()
}

// readAll reads stdin, up to one byte more than a message can hold: the daemon refuses that.
func readAll(stdin io.Reader, errOut io.Writer) (string, error) {
	late := time.AfterFunc(patience, func() {
		term.PrintFolded(errOut, "cursord: reading the standard input, which has not ended yet; \"</dev/null\" leaves it out\n")
	})
	raw, err := io.ReadAll(io.LimitReader(stdin, rpc.MaxMessage+1))
	if !late.Stop() && err == nil && len(raw) == 0 {
		fmt.Fprintln(errOut, "cursord: the standard input was empty")
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("the standard input cannot be read: %w", err)
	case !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0:
		return "", errors.New("the standard input is not text in UTF-8; name files with --file or --image instead")
	}
	return string(raw), nil
}

// nameImages returns the context for images. A relative path counts from the current directory.
func nameImages(list []string) ([]rpc.Context, error) {
	var out []rpc.Context
	for _, path := range list {
		abs, err := absolute("--image", path)
		if err != nil {
			return nil, err
		}
		if err := pictures.Check("--image", abs); err != nil {
			return nil, misuse.Errorf("%v", err)
		}
		out = append(out, rpc.Context{Kind: "image", Path: &abs})
	}
	return out, nil
}

var withLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+):(\d+)(?:-(\d+))?$`) })

// NameFiles returns the context for files that a person has given with a flag: PATH, PATH:LINE or PATH:FROM-TO. Lines count
// from 1, and TO is included. A relative path counts from the current directory. If a file has the whole name, such as
// "a:1", that file is meant.
func NameFiles(flag string, list []string) ([]rpc.Context, error) {
	var out []rpc.Context
	for _, arg := range list {
		path, from, to := arg, 0, 0
		if _, err := os.Lstat(arg); err != nil {
			if m := withLines().FindStringSubmatch(arg); m != nil {
				path = m[1]
				var err1, err2 error
				from, err1 = strconv.Atoi(m[2])
				if to = from; m[3] != "" {
					to, err2 = strconv.Atoi(m[3])
				}
				if err1 != nil || err2 != nil || from < 1 || to < from || to > maxLine {
					return nil, misuse.Errorf("%s is %q; its lines must be a line or a range such as 2-5, counted from 1", flag, arg)
				}
			}
		}
		abs, err := absolute(flag, path)
		if err != nil {
			return nil, err
		}
		c := rpc.Context{Kind: "file", Path: &abs}
		if err := checkFile(flag, path, abs, to); err != nil {
			return nil, err
		}
		if from > 0 {
			c.Range = &api.Range{Start: api.Position{Line: from - 1}, End: api.Position{Line: to}}
		}
		out = append(out, c)
	}
	return out, nil
}

const maxLine = 1<<31 - 1 // the largest number in LSP

func absolute(flag, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if !utf8.ValidString(abs) {
		return "", misuse.Errorf("%s: the name %q is not UTF-8, and no prompt can hold it: rename the file, or make a link to it with another name", flag, path)
	}
	return abs, nil
}

// checkFile returns an error if a file does not exist, is no regular file, cannot be read, or has no line number last; 0 is none.
func checkFile(flag, path, abs string, last int) error {
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return misuse.Errorf("%s: %s is not there", flag, term.Clean(path))
	case err != nil:
		return misuse.Errorf("%s: %s cannot be opened: %v", flag, term.Clean(path), err)
	case !info.Mode().IsRegular():
		return misuse.Errorf("%s: %s is no file: name the files that matter, or a folder in the prompt", flag, term.Clean(path))
	}
	f, err := os.Open(abs)
	if err != nil {
		return misuse.Errorf("%s: %s cannot be opened: %v", flag, term.Clean(path), err)
	}
	defer f.Close()
	if last == 0 {
		return nil
	}
	lines, end := 0, byte('\n')
	b := make([]byte, 64<<10)
	for lines < last {
		n, err := f.Read(b)
		if n > 0 {
			lines += bytes.Count(b[:n], []byte{'\n'})
			end = b[n-1]
		}
		if errors.Is(err, io.EOF) {
			if end != '\n' {
				lines++
			}
			if lines < last {
				return misuse.Errorf("%s: %s has no line %d; it ends with line %d", flag, term.Clean(path), last, lines)
			}
			return nil
		}
		if err != nil {
			return misuse.Errorf("%s: %s cannot be read: %v", flag, term.Clean(path), err)
		}
	}
	return nil
}
