package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A Child is a started program with everything in its group, and our ends of its pipes.
type Child struct {
	Cmd    *exec.Cmd
	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File
	Exited chan Exit // one value, once the leader has ended and the rest of its group was killed

	group group      // constant once started
	mu    sync.Mutex // guards gone, and the group's number against being another's
	gone  bool       // the group is no more
}

// Start starts cmd as the leader of a new group. A thread of its own starts it and waits for it: where the
// system ends a child together with the thread that started it, that thread must not end before the child.
func Start(cmd *exec.Cmd) (*Child, error) {
	p := &Child{Cmd: cmd, Exited: make(chan Exit, 1)}
	theirs, err := p.pipes()
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if err != nil {
		p.Close()
		return nil, err
	}
	cmd.SysProcAttr = sysProcAttr()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.group = newGroup(cmd.Process)
		}
		started <- err
		if err != nil {
			return
		}
		p.wait()
		p.Exited <- ExitOf(cmd.ProcessState)
	}()
	if err := <-started; err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Run runs cmd as the leader of a new group, which is killed when ctx ends, and in any case once the leader has ended.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = sysProcAttr()
	runtime.LockOSThread() // as in Start
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	g := newGroup(cmd.Process)
	stop := context.AfterFunc(ctx, g.kill)
	err := cmd.Wait()
	stop()
	g.kill()
	g.close()
	return err
}

// killTime is how long a killed group may take to be gone: a process ends only once the call it is in has returned.
const killTime = 2 * time.Second

// wait waits for the leader and ends what is left of its group, while the group's number is still its own where the
// system allows that. Once it returns none of them writes a file any more.
func (p *Child) wait() {
	ended := awaitExit(p.Cmd.Process.Pid)
	if !ended {
		p.Cmd.Wait()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.group.kill()
	if ended {
		p.Cmd.Wait()
	}
	p.group.await(killTime)
	p.group.close()
	p.gone = true
}

// pipes makes the pipes and returns the child's ends.
func (p *Child) pipes() (theirs []*os.File, err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs = append(theirs, in)
	p.Cmd.Stdin, p.Stdin = in, out
	for _, end := range []struct {
		ours   **os.File
		theirs *io.Writer
	}{{&p.Stdout, &p.Cmd.Stdout}, {&p.Stderr, &p.Cmd.Stderr}} {
		in, out, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		theirs = append(theirs, out)
		*end.ours, *end.theirs = in, out
	}
	return theirs, nil
}

// Feed writes the prompt and closes stdin. An agent that does not read is no error; its end unblocks the write, at the
// latest when stdin is closed.
func (p *Child) Feed(prompt string) {
	io.WriteString(p.Stdin, prompt)
	p.Stdin.Close()
}

// Interrupt, Terminate and Kill send INT, TERM and KILL to the group, or what comes nearest on Windows. Once it is gone they do nothing.
func (p *Child) Interrupt() { p.signal(group.interrupt) }
func (p *Child) Terminate() { p.signal(group.terminate) }
func (p *Child) Kill()      { p.signal(group.kill) }

func (p *Child) signal(send func(group)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		send(p.group)
	}
}

// Close closes our ends of the pipes.
func (p *Child) Close() {
	for _, f := range []*os.File{p.Stdin, p.Stdout, p.Stderr} {
		if f != nil {
			f.Close()
		}
	}
}
