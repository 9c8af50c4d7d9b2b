package fake

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// shells are the commands that run in the background.
type shells struct {
	mu    sync.Mutex
	open  []*shell
	ended chan *shell // made with the first shell
	gone  bool        // the agent ends: no more are started
}

type shell struct {
	call    string // the id of the call that began it
	command string
	cmd     *exec.Cmd
	group   bool
}

// background begins a command that the agent does not wait for, and says so.
func (s *stream) background(d *directive) error {
	sh := &shell{command: d.Command, cmd: s.command(d.Command), group: d.Group}
	if d.Group {
		sh.cmd.SysProcAttr = ownGroup()
	}
	args := sprintJSON(`{"command":%s,"workingDirectory":"","block_until_ms":0}`, d.Command)
	id := s.started("shellToolCall", args)
	sh.call = id
	if err := s.shells.start(sh); err != nil {
		return fmt.Errorf("background: %w", err)
	}
	s.completed("shellToolCall", id, args, sprintJSON(`{"success":{"command":%s,"workingDirectory":%s,"exitCode":0,"signal":"","stdout":"","stderr":"","executionTime":0}`,
		d.Command, s.run.dir)+s.besideShell(true)+"}")
	return s.out.Flush()
}

func (f *shells) start(sh *shell) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return nil
	}
	if f.ended == nil {
		f.ended = make(chan *shell)
	}
	if err := sh.cmd.Start(); err != nil {
		return err
	}
	f.open = append(f.open, sh)
	go func() {
		sh.cmd.Wait()
		f.ended <- sh
	}()
	return nil
}

func (f *shells) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open)
}

func (f *shells) remove(sh *shell) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = slices.DeleteFunc(f.open, func(other *shell) bool { return other == sh })
}

// endShells ends what runs in the background, for good.
func (s *stream) endShells() int {
	s.shells.mu.Lock()
	defer s.shells.mu.Unlock()
	s.shells.gone = true
	n := len(s.shells.open)
	for _, sh := range s.shells.open {
		if sh.group {
			killGroup(sh.cmd.Process)
		} else {
			sh.cmd.Process.Kill()
		}
	}
	s.shells.open = nil
	return n
}

// exit does nothing: print mode ends with its script.
func (s *stream) exit() {}

// question asks nobody: print mode makes up the answer.
func (s *stream) question(d *directive) {
	var options []string
	for i, label := range d.Options {
		options = append(options, sprintJSON(`{"id":%s,"label":%s}`, fmt.Sprintf("o%d", i+1), label))
	}
	args := sprintJSON(`{"questions":[{"id":"q1","prompt":%s,"options":[`+strings.Join(options, ",")+`]}]}`, d.Text)
	s.completed("askQuestionToolCall", s.started("askQuestionToolCall", args), args,
		sprintJSON(`{"success":{"text":%s}}`, "Questions skipped by the user, continue with the information you already have"))
}

// finish ends the turn: the last message, and the result once nothing is in the background any more. A shell that ends
// begins another turn, which wake plays; it reports whether the script has ended there.
func (s *stream) finish(wake func() (ended bool, err error)) error {
	s.last()
	if err := s.out.Flush(); err != nil {
		return err
	}
	var over <-chan time.Time
	for s.run.build.has(traitWaits) && !s.run.single && s.shells.count() > 0 {
		if over == nil && s.run.patient >= 0 {
			over = time.After(s.run.patient)
		}
		select {
		case sh := <-s.shells.ended:
			s.shells.remove(sh)
			if !s.run.build.has(traitNotifies) {
				continue
			}
			s.segment.Reset()
			// Nobody has published the members behind the subtype: these are likely ones.
			s.line(`{"type":"system","subtype":"task_notification","task_id":%s,"status":"completed","exit_code":%s,"summary":%s,"session_id":%s}`,
				sh.call, rawNumber(int64(sh.cmd.ProcessState.ExitCode())), "Background command ended: "+sh.command, s.run.session)
			ended, err := wake()
			if ended || err != nil {
				return err
			}
			s.last()
			if err := s.out.Flush(); err != nil {
				return err
			}
			over = nil
		case <-over:
			s.line(`{"type":"system","subtype":"background_shell_timeout","timeout_ms":%s,"aborted_count":%s,"session_id":%s}`,
				rawNumber(s.run.patient.Milliseconds()), rawNumber(int64(s.endShells())), s.run.session)
		}
	}
	if s.run.ending.Load() {
		select {} // the signal has ended the shells, and ends the agent without a result
	}
	s.endShells()
	return s.result()
}
