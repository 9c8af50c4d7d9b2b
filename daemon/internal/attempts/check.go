// Package attempts has what is particular to attempts, sessions that were begun with the same prompt to choose between: the check of what
// an attempt has made, and the list that has the attempts beside each other.
package attempts

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/agent/plaintext"
	"cursord/agent/process"
	"cursord/agent/program"
)

const (
	endMax    = 64 << 10               // bytes kept of each end of a command's output
	tailLines = 20                     // of the output, for people
	tailMax   = 4 << 10                // of these lines, in bytes
	drainTime = 500 * time.Millisecond // for what is left in the pipes of a command that has ended
)

// A Checker is the driver of turns that are checks. In place of an agent it runs Request.Prompt, a command line for the system's
// shell, where an agent's commands would run: in the same tree and namespace, with the same marks in the environment, so that the same
// is refused to its processes. All of them end with the run. Request.ToolTimeout bounds it.
//
// The command is one call of the shell in the events. The Outcome's result is the end of its output. It fails with
// failure.KindCheck if the command does not end with exit code 0.
type Checker struct{}

// Run is agent.Driver's.
func (Checker) Run(ctx context.Context, req agent.Request, emit func([]agent.Event)) agent.Outcome {
	if req.Ready != nil {
		select {
		case <-req.Ready:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return agent.Outcome{Status: agent.Cancelled}
	}
	if req.Sandbox == "enabled" {
		return agent.Outcome{Status: agent.Failed, Failure: &failure.Error{
			Kind: failure.KindCheck, Message: "the check was not run: the agent has worked in its sandbox, and a check would run outside of it",
			Hint: "run it yourself, or begin attempts with --sandbox disabled",
		}}
	}
	call := agent.Call{ID: "check", Name: "shell", RawName: "attempt_check", Title: plaintext.FirstLine(req.Prompt, plaintext.MaxTitle), Command: req.Prompt}
	emit([]agent.Event{agent.ToolStart{Call: call}})
	var said output
	code, why := run(ctx, req, &said)
	call.Output = said.text()
	out := agent.Outcome{Status: agent.Completed}
	if text := tail(call.Output); text != "" {
		out.Result = &text
	}
	state := agent.CallCompleted
	if code >= 0 {
		call.ExitCode = &code
	}
	switch {
	case ctx.Err() != nil:
		out.Status, state, call.Error = agent.Cancelled, agent.CallFailed, "cancelled"
	case why != "":
		out.Status, state, call.Error = agent.Failed, agent.CallFailed, why
		out.Failure = &failure.Error{
			Kind: failure.KindCheck, Message: fmt.Sprintf("%s: %s", plaintext.FirstLine(req.Prompt, 200), why),
			Hint: `"cursord attempts" shows the end of its output; to run it again: cursord attempts --check`,
		}
	}
	emit([]agent.Event{agent.ToolEnd{Call: call, State: state}})
	return out
}

// run runs the command. why says why that was no success; code is its exit code, -1 if there is none.
func run(ctx context.Context, req agent.Request, said *output) (code int, why string) {
	cmd := shell(req.Prompt)
	cmd.Dir = req.Dir
	cmd.Env = append(append(program.Environment(req.Base), "PWD="+req.Dir), req.Env...)
	if req.Enter != nil {
		if err := req.Enter(cmd); err != nil {
			return -1, err.Error()
		}
	}
	p, err := process.Start(cmd)
	if err != nil {
		return -1, err.Error()
	}
	defer p.Close()
	family := process.NewFamily(p.Cmd.Process.Pid, req.Mark)
	p.Stdin.Close()
	var reads sync.WaitGroup
	for _, from := range []io.Reader{p.Stdout, p.Stderr} {
		reads.Go(func() { io.Copy(said, from) })
	}
	limit := time.NewTimer(req.ToolTimeout)
	defer limit.Stop()
	stopped := ""
	var end process.Exit
	for ended := false; !ended; {
		select {
		case end = <-p.Exited:
			ended = true
		case <-ctx.Done():
			stopped = "cancelled"
		case <-limit.C:
			stopped = fmt.Sprintf("ended after %v, the most that attempt_check_timeout allows", req.ToolTimeout)
		}
		if stopped != "" && !ended {
			family.Look()
			p.Kill()
			end = <-p.Exited
			ended = true
		}
	}
	family.End()
	late := time.Now().Add(drainTime) // a process that nobody finds may hold the pipes
	p.Stdout.SetReadDeadline(late)
	p.Stderr.SetReadDeadline(late)
	reads.Wait()
	switch {
	case stopped != "":
		return -1, stopped
	case end.Signal != "":
		return -1, end.String()
	case end.Code != 0:
		return end.Code, end.String()
	}
	return 0, ""
}

// shell returns the command that runs a command line. Where the shell can do that, both outputs go one way, in their order.
func shell(line string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.Command("cmd", "/D", "/C", line)
	}
	return exec.Command("/bin/sh", "-c", "exec 2>&1\n"+line)
}

// output keeps both ends of what a command prints.
type output struct {
	mu    sync.Mutex
	first []byte // guarded by mu
	last  []byte // guarded by mu; at most twice endMax
	lost  int64  // guarded by mu; bytes between them
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	room := min(endMax-len(o.first), n)
	o.first = append(o.first, p[:room]...)
	o.last = append(o.last, p[room:]...)
	if over := len(o.last) - endMax; over > endMax {
		o.last = o.last[:copy(o.last, o.last[over:])]
		o.lost += int64(over)
	}
	return n, nil
}

// text returns what was kept, without colours and what no text can hold.
func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, lost := o.last, o.lost
	if over := len(last) - endMax; over > 0 {
		last, lost = last[over:], lost+int64(over)
	}
	text := string(o.first)
	if lost > 0 {
		text += fmt.Sprintf("\n… %d bytes left out …\n", lost)
	}
	text = plaintext.StripANSI(text + string(last))
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// tail returns the last lines of an output. Of a line that was written over, it has what stood there in the end.
func tail(text string) string {
	lines := strings.Split(strings.TrimRight(text, " \r\n\t"), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		lines[i] = strings.Clone(l[strings.LastIndexByte(l, '\r')+1:])
	}
	return plaintext.CutFront(strings.Join(lines, "\n"), tailMax)
}
