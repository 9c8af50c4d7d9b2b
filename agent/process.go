package agent

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A process is a started agent with everything in its group, and our ends of its pipes.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	exited chan exit // one value, once the leader has ended and the rest of its group was killed

	group group      // constant once started
	mu    sync.Mutex // guards gone, and the group's number against being another's
	gone  bool       // the group is no more
}

// startProcess starts cmd as the leader of a new group. A thread of its own starts it and waits for it: where the
// system ends a child together with the thread that started it, that thread must not end before the child.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan exit, 1)}
	theirs, err := p.pipes()
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if err != nil {
		p.close()
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
		p.exited <- exitOf(cmd.ProcessState)
	}()
	if err := <-started; err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// killTime is how long a killed group may take to be gone: a process ends only once the call it is in has returned.
const killTime = 2 * time.Second

// wait waits for the leader and ends what is left of its group, while the group's number is still its own where the
// system allows that. Once it returns none of them writes a file any more.
func (p *process) wait() {
	ended := awaitExit(p.cmd.Process.Pid)
	if !ended {
		p.cmd.Wait()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.group.kill()
	if ended {
		p.cmd.Wait()
	}
	p.group.await(killTime)
	p.group.close()
	p.gone = true
}

// pipes makes the pipes and returns the child's ends.
func (p *process) pipes() (theirs []*os.File, err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs = append(theirs, in)
	p.cmd.Stdin, p.stdin = in, out
	for _, end := range []struct {
		ours   **os.File
		theirs *io.Writer
	}{{&p.stdout, &p.cmd.Stdout}, {&p.stderr, &p.cmd.Stderr}} {
		in, out, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		theirs = append(theirs, out)
		*end.ours, *end.theirs = in, out
	}
	return theirs, nil
}

// feed writes the prompt and closes stdin. An agent that does not read is no error; its end unblocks the write, at the
// latest when stdin is closed.
func (p *process) feed(prompt string) {
	io.WriteString(p.stdin, prompt)
	p.stdin.Close()
}

func (p *process) interrupt() { p.signal(group.interrupt) }
func (p *process) terminate() { p.signal(group.terminate) }
func (p *process) kill()      { p.signal(group.kill) }

func (p *process) signal(send func(group)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		send(p.group)
	}
}

func (p *process) close() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			f.Close()
		}
	}
}
