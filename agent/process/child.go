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

// A Child is a started program, all processes in its group, and our ends of its pipes.
type Child struct {
	Cmd    *exec.Cmd
	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File
	Exited chan Exit // gets one value, once the leader has ended and the rest of its group is killed

	group group      // constant once started
	mu    sync.Mutex // guards gone, so that no signal goes to another group that got the same number
	gone  bool       // the group no longer exists
}

// Start starts cmd as the leader of a new group. It starts the child in a thread of its own and waits for it there, because
// Linux kills the child when the thread that started it ends.
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

// Run runs cmd as the leader of a new group. The group is killed when ctx ends, and in any case once the leader has ended.
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

// killTime bounds the wait for a killed group: a process ends only after its present system call.
const killTime = 2 * time.Second

// wait waits for the leader and kills the rest of its group. Where the system allows it, it does so while no other group can
// have the number. After it, none of the processes writes a file.
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

// Feed writes the prompt and closes stdin. It is no error if the agent does not read: its end, or the closing of stdin,
// unblocks the write.
func (p *Child) Feed(prompt string) {
	io.WriteString(p.Stdin, prompt)
	p.Stdin.Close()
}

// Interrupt, Terminate and Kill send INT, TERM and KILL to the group, or the nearest equivalent on Windows. Once the group
// is gone they do nothing.
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
