package main

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

	"cursord/daemon"
	"cursord/daemon/endpoint"
)

// A remote is another machine whose cursord is to be used.
type remote struct {
	host    string
	ssh     []string // the command, with options of the user's
	program string   // cursord there, as the shell there takes it
	paths   pathMap  // from here to there
}

// findRemote reads the configuration for what the command line does not say.
func findRemote(host, program string, paths []string) (*remote, error) {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return nil, err
	}
	config, _, err := daemon.LoadConfig(dirs.Config)
	if err != nil {
		return nil, err
	}
	r := &remote{host: host, ssh: config.SSH, program: program}
	if words := strings.Fields(os.Getenv("CURSORD_SSH")); len(words) > 0 {
		r.ssh = words
	}
	if r.program == "" {
		r.program = config.RemoteProgram
	}
	if len(paths) == 0 {
		paths = config.RemotePaths
	}
	r.paths, err = parsePathMap(paths)
	return r, err
}

// access leads to the user's daemon on the other machine, by "cursord stdio" there.
func (r *remote) access() access {
	a := access{
		dial:     func(context.Context) (io.ReadWriteCloser, error) { return r.dial() },
		hello:    func() (string, json.RawMessage) { return aliveMethod, nil },
		silent:   func() string { return r.host + " does not answer" },
		stopped:  func() bool { return false }, // it is for the one there to look
		starting: func() bool { return true },
		hint:     fmt.Sprintf("%q in a terminal shows what is wrong; it must ask nothing", strings.Join(append(r.ssh[:len(r.ssh):len(r.ssh)], r.host, r.program, "version"), " ")),
	}
	if len(r.paths) > 0 {
		a.outward, a.inward = r.paths.message, r.paths.back().sorted().message
	}
	return a
}

// command returns the command line. What the user's own options say counts, being first. Who sits at no terminal cannot
// be asked for a password.
func (r *remote) command() []string {
	args := append(append([]string(nil), r.ssh...), "-T", "-o", "ServerAliveInterval=15")
	if !isTerminal(os.Stderr) {
		args = append(args, "-o", "BatchMode=yes")
	}
	return append(args, "--", r.host, r.program+" stdio")
}

func (r *remote) dial() (*sshConn, error) {
	args := r.command()
	cmd := exec.Command(args[0], args[1:]...)
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), in.Close())
	}
	c := &sshConn{host: r.host, cmd: cmd, in: in, out: out, ended: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &c.said
	cmd.WaitDelay = time.Second // a connection that ssh shares may keep stderr
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
	err   error // of the process; read it once ended is closed
}

// Read's error, at the end, says why ssh has ended.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err == nil || n > 0 {
		return n, nil
	}
	select {
	case <-c.ended:
	case <-time.After(endLimit): // its output is closed, and it goes on
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
	// It is closed already after CloseWrite, and the process may have ended.
	_ = c.in.Close()
	_ = c.cmd.Process.Kill()
	<-c.ended
	return c.out.Close()
}

// lastWords keeps the end of what is written.
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

// String returns it as one line.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.Join(bytes.Fields(l.text), []byte(" "))), "")
}
