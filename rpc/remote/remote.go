// Package remote connects to the daemon of another machine: it runs "cursord stdio" there by ssh, and changes paths in
// messages if folders have other paths there. It owns the ssh process while a connection uses it.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"cursord/rpc/join"
)

// endLimit is how long a program on the other machine may go on after the end of its output.
const endLimit = 6 * time.Second

// A Host is another machine whose cursord is used.
type Host struct {
	Name    string   // in ssh's form: [USER@]HOST
	SSH     []string // the command, with the user's options; at least one word
	Program string   // cursord there, in the form for that machine's shell
	Paths   PathMap  // from here to there
	// Asks lets ssh ask the person at this terminal for a password.
	Asks bool
}

// Access returns the way to the user's daemon on that machine, by "cursord stdio" there. version is the version in the
// answer to initialize.
func (h *Host) Access(version string) join.Access {
	a := join.Access{
		Version:   version,
		Dial:      func(context.Context) (io.ReadWriteCloser, error) { return h.dial() },
		Handshake: func() (string, json.RawMessage) { return join.AliveMethod, nil },
		Silent:    func() string { return h.Name + " does not answer" },
		Stopped:   func() bool { return false }, // the cursord on the other machine checks that
		Starting:  func() bool { return true },
		Hint:      fmt.Sprintf("run %q in a terminal to see what is wrong; it must not ask for anything", strings.Join(append(h.SSH[:len(h.SSH):len(h.SSH)], h.Name, h.Program, "version"), " ")),
	}
	if len(h.Paths) > 0 {
		a.Outward, a.Inward = h.Paths.message, h.Paths.back().sorted().message
	}
	return a
}

// command returns ssh's command line. The user's own options come first: of two with the same name, ssh takes the first.
func (h *Host) command() []string {
	args := append(append([]string(nil), h.SSH...), "-T", "-o", "ServerAliveInterval=15")
	if !h.Asks {
		args = append(args, "-o", "BatchMode=yes")
	}
	return append(args, "--", h.Name, h.Program+" stdio")
}

func (h *Host) dial() (*sshConn, error) {
	args := h.command()
	cmd := exec.Command(args[0], args[1:]...)
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), in.Close())
	}
	c := &sshConn{host: h.Name, cmd: cmd, in: in, out: out, ended: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &c.said
	cmd.WaitDelay = time.Second // a connection that ssh shares may keep stderr open
	err = cmd.Start()
	stdin.Close()
	stdout.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("cannot run ssh: %w", err)
	}
	go func() {
		c.err = cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// An sshConn is the standard input and output of a program on another machine.
type sshConn struct {
	host  string
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	said  lastWords
	ended chan struct{}
	err   error // of the process; valid once ended is closed
}

// Read returns, at the end, an error that says why ssh has ended.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err == nil || n > 0 {
		return n, nil
	}
	select {
	case <-c.ended:
	case <-time.After(endLimit): // the program has closed its output and goes on
		return 0, err
	}
	why := c.said.String()
	exit := (*exec.ExitError)(nil)
	switch {
	case errors.As(c.err, &exit) && exit.ExitCode() == 127:
		why = strings.TrimSpace("cursord is not found there: install it, or say where it is with --remote-program or the key remote_program. " + why)
	case why == "" && c.err != nil:
		why = c.err.Error()
	case why == "":
		why = "the program there has ended"
	}
	return 0, fmt.Errorf("ssh to %s has ended: %s", c.host, why)
}

func (c *sshConn) Write(p []byte) (int, error)        { return c.in.Write(p) }
func (c *sshConn) SetWriteDeadline(t time.Time) error { return c.in.SetWriteDeadline(t) }

// CloseWrite lets the program there end by itself.
func (c *sshConn) CloseWrite() error { return c.in.Close() }

func (c *sshConn) Close() error {
	// After CloseWrite it is closed already, and the process may have ended.
	_ = c.in.Close()
	_ = c.cmd.Process.Kill()
	<-c.ended
	return c.out.Close()
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

func (l *lastWords) Write(p []byte) (int, error) {
	const enough = 2 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if extra := len(l.text) - enough; extra > 0 {
		l.text = append(l.text[:0], l.text[extra:]...)
	}
	return len(p), nil
}

// String returns the text on one line.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.Join(bytes.Fields(l.text), []byte(" "))), "")
}
