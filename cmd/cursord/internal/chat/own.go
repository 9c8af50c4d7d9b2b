package chat

import (
	"context"
	"os"
	"os/exec"
)

// An execMsg lends the terminal to a program until it ends.
type execMsg struct{ command *exec.Cmd }

// own returns a function that runs a command of cursord on the terminal.
func own(name string) func(c *Chat, ctx context.Context, args []string) error {
	return func(c *Chat, ctx context.Context, args []string) error {
		return c.own(ctx, append([]string{name, "--workspace", c.Params.Workspace}, args...)...)
	}
}

func (c *Chat) own(ctx context.Context, args ...string) error {
	cmd, err := c.program(ctx, args...)
	if err != nil {
		return err
	}
	return c.lend(cmd)
}

// program returns a command of cursord that writes to the terminal.
func (c *Chat) program(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if c.terminal != nil {
		ctx = c.terminal.ctx
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd, nil
}

// lend runs a command on the terminal.
func (c *Chat) lend(cmd *exec.Cmd) error {
	if c.script != nil { // its lines are not for the command
		if cmd.Run() != nil {
			return &StoppedError{statusFailed}
		}
		return nil
	}
	cmd.Stdin = os.Stdin
	if c.terminal != nil {
		c.lent = true
		c.terminal.feed.post(&execMsg{cmd})
		return nil
	}
	_ = cmd.Run() // the command prints its own errors
	c.View.done()
	return nil
}
