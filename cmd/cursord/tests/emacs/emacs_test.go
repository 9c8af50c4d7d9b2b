//go:build unix

package emacs

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var everyEmacs = flag.Bool("every-emacs", false, "run each test with all of the Emacsen that are there")

// anEmacs runs a test with one of the installed Emacsen. They are releases of one version, so each gets a share of the tests, by
// the tests' names. With -every-emacs it runs the test with all.
func anEmacs(t *testing.T, test func(t *testing.T, bin string)) {
	all := world.EditorsFound(t, "emacs-[0-9]*", "emacs")
	if !*everyEmacs {
		name := fnv.New32a()
		_, _ = name.Write([]byte(t.Name()))
		one := name.Sum32() % uint32(len(all))
		all = all[one : one+1]
	}
	withEmacsen(t, all, test)
}

// eachEmacs runs a test with all installed Emacsen, at the same time.
func eachEmacs(t *testing.T, test func(t *testing.T, bin string)) {
	withEmacsen(t, world.EditorsFound(t, "emacs-[0-9]*", "emacs"), test)
}

func withEmacsen(t *testing.T, all []string, test func(t *testing.T, bin string)) {
	for _, bin := range all {
		t.Run(filepath.Base(bin), func(t *testing.T) {
			t.Parallel()
			test(t, bin)
		})
	}
}

// An emacs is an Emacs with the package; the test drives it as "emacsclient --eval" does.
type emacs struct {
	t      *testing.T
	w      *world.World
	socket string
	gone   chan struct{}
	kill   func()
}

// emacsInit keeps errors from asking for keys, and keeps all messages.
const emacsInit = `(progn
  (setq inhibit-startup-screen t inhibit-message nil message-log-max t use-short-answers t make-backup-files nil
        create-lockfiles nil auto-save-default nil ring-bell-function #'ignore
        server-name (getenv "EMACS_SOCKET"))
  (require 'cursord)
  (require 'cursord-session)
  (require 'json)
  (defun test-json (value)
    (json-encode (list :v value))))`

// emacsEnv is the environment of an Emacs of a world.
func emacsEnv(w *world.World, socket string) []string {
	return w.Env("LC_ALL=C.UTF-8", "TERM=screen-256color", "EMACS_SOCKET="+socket, "XDG_RUNTIME_DIR="+w.Dir)
}

// fewCollections keeps Emacs from collecting garbage after each 800 KB, which takes a third of its time.
const fewCollections = "--eval=(setq gc-cons-threshold (* 64 1024 1024))"

// emacsArgs are the arguments that load the compiled package and then run init, an expression.
func emacsArgs(t *testing.T, bin, init string) []string {
	t.Helper()
	lisp := compiledEmacs(t, bin)
	if init == "" {
		init = "nil"
	}
	return []string{"-Q", fewCollections, "-L", lisp, "--eval", emacsInit, "--eval", init}
}

// startEmacs starts an Emacs without a terminal in the workspace, with env added to its environment. It runs init, an
// expression, once the package is loaded.
func startEmacs(w *world.World, t *testing.T, bin, init string, env ...string) *emacs {
	t.Helper()
	e := &emacs{t: t, w: w, socket: freeName(w, "emacs"), gone: make(chan struct{})}
	args := append([]string{"--fg-daemon=" + e.socket}, emacsArgs(t, bin, init)...)
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Env = w.Root, append(emacsEnv(w, e.socket), env...)
	out, err := os.Create(e.socket + ".out")
	require.NoError(t, err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	go func() {
		_ = cmd.Wait()
		close(e.gone)
	}()
	e.kill = func() {
		_ = cmd.Process.Kill()
		<-e.gone
	}
	t.Cleanup(e.kill)
	e.starts()
	return e
}

// freeName returns an unused file name in the world's folder.
func freeName(w *world.World, name string) string {
	for i := 1; ; i++ {
		path := filepath.Join(w.Dir, name+strconv.Itoa(i))
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			if _, err := os.Lstat(path + ".out"); os.IsNotExist(err) {
				return path
			}
		}
	}
}

// starts waits until Emacs takes expressions, and goes to the workspace.
func (e *emacs) starts() {
	e.t.Helper()
	if !world.Comes(4*world.Patience, func() bool {
		conn, err := net.Dial("unix", e.socket)
		if err == nil {
			conn.Close()
			return true
		}
		select {
		case <-e.gone:
			said, _ := os.ReadFile(e.socket + ".out")
			e.t.Fatalf("Emacs has ended:\n%s", said)
		default:
		}
		return false
	}) {
		said, _ := os.ReadFile(e.socket + ".out")
		e.t.Fatalf("Emacs does not start:\n%s", said)
	}
	e.eval(fmt.Sprintf(`(progn (find-file %q) nil)`, e.w.Root+"/"))
}

var clientQuote = strings.NewReplacer("&", "&&", " ", "&_", "\n", "&n", "-", "&-")

// ask evaluates code and returns its printed value, or the error.
func (e *emacs) ask(code string) (string, error) {
	e.t.Helper()
	conn, err := net.Dial("unix", e.socket)
	require.NoError(e.t, err)
	defer conn.Close()
	require.NoError(e.t, conn.SetDeadline(time.Now().Add(world.Patience)))
	_, err = fmt.Fprintf(conn, "-dir %s/ -current-frame -eval %s \n", clientQuote.Replace(e.w.Root), clientQuote.Replace(code))
	require.NoError(e.t, err)
	var printed strings.Builder
	r := bufio.NewReader(conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			if printed.Len() == 0 {
				return "", fmt.Errorf("%w: no answer to %s", err, code)
			}
			return printed.String(), nil
		}
		verb, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch verb {
		case "-print", "-print-nonl":
			printed.WriteString(clientUnquote(text))
		case "-error":
			return "", fmt.Errorf("%s", clientUnquote(text))
		}
	}
}

func clientUnquote(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '&' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case '_':
			b.WriteByte(' ')
		case 'n':
			b.WriteByte('\n')
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// eval evaluates code in the selected window's buffer and returns its value, in JSON's types. %q in it makes strings that
// Emacs Lisp reads as well, as long as they are plain.
func (e *emacs) eval(code string, args ...any) any {
	e.t.Helper()
	if len(args) > 0 {
		code = fmt.Sprintf(code, args...)
	}
	// Both the printed text and its JSON are ASCII. Errors are caught, because the server waits for seconds after one.
	out, err := e.ask("(with-current-buffer (window-buffer) (encode-coding-string (condition-case err (test-json " + code +
		") (error (json-encode (list :failed (error-message-string err))))) 'utf-8))")
	require.NoError(e.t, err)
	text := unprin1(out)
	var v struct {
		V      any
		Failed string
	}
	require.NoError(e.t, json.Unmarshal([]byte(text), &v), "%s", text)
	if v.Failed != "" {
		e.t.Fatalf("%s\nin %s\nmessages:\n%s", v.Failed, code, e.messages())
	}
	return v.V
}

// unprin1 reads a unibyte string as Emacs prints it.
func unprin1(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), `"`), `"`)
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if s[i] >= '0' && s[i] <= '7' {
			n, err := strconv.ParseUint(s[i:i+3], 8, 8)
			if err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		if s[i] == 'n' {
			b = append(b, '\n')
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

// until waits until an expression is true.
func (e *emacs) until(what, code string, args ...any) {
	e.t.Helper()
	code = "(and (progn " + code + ") t)"
	e.poll(what, func() bool { return e.eval(code, args...) == true })
}

func (e *emacs) poll(what string, fits func() bool) {
	e.t.Helper()
	e.pollFor(world.Patience, what, fits)
}

// untilIn waits like until, for limit.
func (e *emacs) untilIn(limit time.Duration, what, code string, args ...any) {
	e.t.Helper()
	code = "(and (progn " + code + ") t)"
	e.pollFor(limit, what, func() bool { return e.eval(code, args...) == true })
}

func (e *emacs) pollFor(most time.Duration, what string, fits func() bool) {
	e.t.Helper()
	if !world.Comes(most, fits) {
		e.t.Fatalf("waited in vain for %s\nmessages:\n%s\nlog:\n%s\nbuffers: %v\nchat:\n%.3000s", what, e.messages(),
			e.buffer("*cursord-log*"), e.eval(`(vconcat (mapcar #'buffer-name (buffer-list)))`), e.buffer(chatName))
	}
}

// buffer is a buffer's text; "(absent)" if it is not there.
func (e *emacs) buffer(name string) string {
	e.t.Helper()
	return e.eval(`(if (get-buffer %q) (with-current-buffer %q (save-restriction (widen) (buffer-substring-no-properties 1 (point-max)))) "(absent)")`, name, name).(string)
}

// untilBuffer waits until a buffer's text is as wanted.
func (e *emacs) untilBuffer(name, want string) {
	e.t.Helper()
	var have string
	defer func() {
		if e.t.Failed() {
			e.t.Logf("%s is\n%s", name, have)
		}
	}()
	e.poll("the text of "+name, func() bool { have = e.buffer(name); return have == want })
}

// keys types keys, as "kbd" names them, in the selected window.
func (e *emacs) keys(keys string) {
	e.t.Helper()
	e.eval(`(progn (execute-kbd-macro (kbd %q)) nil)`, keys)
}

func (e *emacs) messages() string {
	out, err := e.ask(`(encode-coding-string (with-current-buffer (messages-buffer) (buffer-string)) 'utf-8)`)
	if err != nil {
		return err.Error()
	}
	return unprin1(out)
}

// quiet requires that Emacs has shown no error.
func (e *emacs) quiet() {
	e.t.Helper()
	require.NotRegexp(e.t, `(?i)error|wrong type|void|invalid|\[jsonrpc\]`, e.messages())
}
