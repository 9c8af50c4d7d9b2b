package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// builtin is what the fake agent plays when no script is named.
const builtin = `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"{{cwd}}","session_id":"{{session}}","model":"Fake","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"{{prompt}}"}]},"session_id":"{{session}}"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"You asked: "}]},"session_id":"{{session}}","timestamp_ms":{{now_ms}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"{{prompt}}"}]},"session_id":"{{session}}","timestamp_ms":{{now_ms}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"You asked: {{prompt}}"}]},"session_id":"{{session}}"}
{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"result":"You asked: {{prompt}}","session_id":"{{session}}","request_id":"{{session}}","usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":0,"cacheWriteTokens":0}}
`

// builtinScenes is the same for a build that was asked for.
const builtinScenes = `{"fake":"begin"}
{"fake":"say","text":"You asked: {{prompt}}"}
{"fake":"finish"}
`

// A directive is a script line that does something else than being printed.
type directive struct {
	Fake   string          `json:"fake"`
	MS     float64         `json:"ms"`
	Path   string          `json:"path"`
	Text   string          `json:"text"`
	Base64 []byte          `json:"base64"`
	Mode   string          `json:"mode"`
	Argv   []string        `json:"argv"`
	Stdout bool            `json:"stdout"`
	Code   int             `json:"code"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	N      int             `json:"n"`
	Lines  *int            `json:"lines"`
	scene
}

// lines is how many lines belong to the directive.
func (d *directive) lines(otherwise int) int {
	if d.Lines != nil {
		return *d.Lines
	}
	return otherwise
}

// content is the directive's text, or the bytes it gives as base64.
func (d *directive) content() []byte {
	if d.Base64 != nil {
		return d.Base64
	}
	return []byte(d.Text)
}

// A player plays scripts. Its output is flushed after every line, but for those of a repeat, which come
// as fast as the reader takes them.
type player struct {
	run     *invocation
	file    *os.File // what out writes to
	out     *bufio.Writer
	errOut  io.Writer
	repeats int // how many repeats we are in
	voice   voice
	stop    <-chan struct{} // closed when the turn is cancelled
}

// errStopped ends a script whose turn was cancelled.
var errStopped = errors.New("the turn was cancelled")

// pause waits, unless the turn is cancelled.
func (p *player) pause(d time.Duration) error {
	select {
	case <-p.stop:
		return errStopped
	case <-time.After(d):
		return nil
	}
}

func newPlayer(run *invocation, out *os.File, errOut io.Writer) *player {
	p := &player{run: run, file: out, out: bufio.NewWriterSize(out, 1<<16), errOut: errOut}
	p.voice = newStream(run, p.out)
	return p
}

// playFile plays a script and returns the exit status it asks for.
func (p *player) playFile(path string) (int, error) {
	script, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return p.playScript(script, filepath.Dir(path))
}

func (p *player) playBuiltin() (int, error) {
	if p.run.build.chosen {
		return p.playScript([]byte(builtinScenes), "")
	}
	return p.playScript([]byte(builtin), "")
}

func (p *player) playScript(script []byte, dir string) (int, error) {
	lines := bytes.Split(script, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	code, _, err := p.play(lines, dir, 0)
	if flushErr := p.out.Flush(); err == nil {
		err = flushErr
	}
	return code, err
}

// play plays lines of a script in dir, i being the count of the repeat around them. ended says that the script
// asked to exit with code.
func (p *player) play(lines [][]byte, dir string, i int) (code int, ended bool, err error) {
	for n := 0; n < len(lines); n++ {
		select {
		case <-p.stop:
			return 0, false, errStopped
		default:
		}
		line := p.expand(lines[n], i)
		d, parseErr := parseDirective(line)
		if parseErr != nil {
			err = parseErr
		} else if d == nil {
			p.out.Write(line)
			p.out.WriteByte('\n')
			if p.repeats == 0 {
				err = p.out.Flush()
			}
		} else if d.Fake == "repeat" {
			body := lines[n+1 : min(n+1+d.lines(1), len(lines))]
			n += len(body)
			p.repeats++
			for i := 0; i < d.N && err == nil && !ended; i++ {
				code, ended, err = p.play(body, dir, i)
			}
			p.repeats--
			if flushErr := p.out.Flush(); err == nil {
				err = flushErr
			}
		} else if d.Fake == "finish" {
			body := lines[n+1 : min(n+1+d.lines(0), len(lines))]
			n += len(body)
			err = p.voice.finish(func() (bool, error) {
				code, ended, err = p.play(body, dir, i)
				return ended, err
			})
		} else if err = p.out.Flush(); err == nil {
			code, ended, err = p.do(d, dir)
		}
		if err != nil || ended {
			return code, ended, err
		}
	}
	return 0, false, nil
}

// do carries out one directive.
func (p *player) do(d *directive, dir string) (code int, ended bool, err error) {
	path := d.Path
	if path != "" && !filepath.IsAbs(path) && d.Fake != "script" {
		path = filepath.Join(p.run.dir, path)
	}
	switch d.Fake {
	case "write", "delete", "mkdir", "wait", "script", "edit", "later":
		if path == "" {
			return 0, false, fmt.Errorf("%s: no path", d.Fake)
		}
	}
	switch d.Fake {
	case "sleep":
		err = p.pause(time.Duration(d.MS * float64(time.Millisecond)))
	case "write":
		err = writeFile(path, d)
	case "delete":
		err = os.RemoveAll(path)
	case "mkdir":
		err = os.MkdirAll(path, 0o777)
	case "wait":
		for err == nil {
			if _, statErr := os.Lstat(path); statErr == nil {
				break
			}
			err = p.pause(2 * time.Millisecond)
		}
	case "exec":
		err = p.exec(d)
	case "stderr":
		_, err = fmt.Fprintln(p.errOut, strings.TrimSuffix(d.Text, "\n"))
	case "raw":
		p.out.Write(d.content())
		err = p.out.Flush()
	case "script":
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		code, err = p.playFile(path)
		ended = code != 0
	case "ignore-signals":
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
	case "exit":
		p.voice.exit()
		return d.Code, true, nil
	case "hang":
		for err == nil {
			err = p.pause(time.Hour)
		}
	case "begin", "think", "say", "edit", "shell", "background", "question", "plan", "todos", "request", "stop", "later":
		err = p.voice.play(d, path)
	default:
		err = fmt.Errorf("unknown directive %q", d.Fake)
	}
	return code, ended, err
}

// awaitTick returns once the file system's clock, which lags behind by some ms, has reached the present. Otherwise a command's
// first change could bear an earlier time than its call: the call would not explain it for certain.
func awaitTick() error {
	for now := time.Now(); ; time.Sleep(time.Millisecond) {
		f, err := os.CreateTemp("", "tick")
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil || !info.ModTime().Before(now.Truncate(time.Millisecond)) {
			return err
		}
	}
}

// exec runs a program. That it fails is part of the play; that it cannot be started is not.
func (p *player) exec(d *directive) error {
	if len(d.Argv) == 0 {
		return fmt.Errorf("exec: no argv")
	}
	if err := awaitTick(); err != nil {
		return err
	}
	cmd := exec.Command(d.Argv[0], d.Argv[1:]...)
	cmd.Dir = p.run.dir
	cmd.Stdout, cmd.Stderr = p.errOut, p.errOut
	if d.Stdout {
		cmd.Stdout = p.file
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	if err := cmd.Wait(); err != nil {
		fmt.Fprintf(p.errOut, "%s: %v\n", d.Argv[0], err)
	}
	return nil
}

func writeFile(path string, d *directive) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path, d.content(), 0o666); err != nil || d.Mode == "" {
		return err
	}
	mode, err := strconv.ParseUint(d.Mode, 8, 32)
	if err != nil {
		return fmt.Errorf("write: mode %q is not octal", d.Mode)
	}
	return os.Chmod(path, os.FileMode(mode))
}

// parseDirective returns the directive of a line that is an object with a string "fake", and nil for others.
func parseDirective(line []byte) (*directive, error) {
	if !bytes.Contains(line, []byte(`"fake"`)) {
		return nil, nil
	}
	var named struct {
		Fake string `json:"fake"`
	}
	if json.Unmarshal(line, &named) != nil || named.Fake == "" {
		return nil, nil
	}
	var d directive
	if err := json.Unmarshal(line, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", named.Fake, err)
	}
	return &d, nil
}

// expand replaces the names in {{…}} that it knows. Between double quotes the text is escaped as JSON wants it.
func (p *player) expand(line []byte, i int) []byte {
	if !bytes.Contains(line, []byte("{{")) {
		return line
	}
	var out []byte
	quoted := false
	for n := 0; n < len(line); n++ {
		if name, ok := placeholder(line[n:]); ok {
			if value, known := p.value(name, i); known {
				if quoted {
					value = jsonEscape(value)
				}
				out = append(out, value...)
				n += len(name) + len("{{}}") - 1
				continue
			}
		}
		switch {
		case quoted && line[n] == '\\' && n+1 < len(line):
			out = append(out, line[n])
			n++
		case line[n] == '"':
			quoted = !quoted
		}
		out = append(out, line[n])
	}
	return out
}

// placeholder returns the name when b begins with {{name}}.
func placeholder(b []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(b, []byte("{{"))
	if !ok {
		return "", false
	}
	name, _, ok := bytes.Cut(rest, []byte("}}"))
	return string(name), ok && len(name) <= len("session")
}

func (p *player) value(name string, i int) (string, bool) {
	switch name {
	case "cwd":
		return p.run.dir, true
	case "session":
		return p.run.session, true
	case "prompt":
		return p.run.prompt, true
	case "model":
		return p.run.model, true
	case "mode":
		return p.run.mode, true
	case "now_ms":
		return strconv.FormatInt(p.run.now().UnixMilli(), 10), true
	case "now_ns":
		return strconv.FormatInt(p.run.now().UnixNano(), 10), true
	case "i":
		return strconv.Itoa(i), true
	}
	return "", false
}

// jsonEscape returns s as it stands between the quotes of a JSON string.
func jsonEscape(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string cannot fail
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))[1 : b.Len()-2])
}
