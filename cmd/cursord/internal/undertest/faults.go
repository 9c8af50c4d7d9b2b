//go:build unix

package undertest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"cursord/daemon"
)

// faults kills a daemon, fails its write, or has it wait for another plan, at the n-th step of its decisions. A file has the plan: "kill n",
// "fail n errno" or "wait n". A new plan restarts the count. A write has two steps: before it, and after half of it. The steps reached are
// appended to a file beside the plan.
type faults struct {
	plan string

	mu      sync.Mutex
	current string
	n       int
}

var errnos = map[string]syscall.Errno{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EACCES": syscall.EACCES}

func (f *faults) step(s daemon.Step) error {
	if s.Name == daemon.StepCommit {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := os.ReadFile(f.plan)
	if err != nil {
		panic(err)
	}
	if plan := string(text); plan != f.current {
		f.current, f.n = plan, 0
	}
	var what, errno string
	at := 0
	_, _ = fmt.Sscan(f.current, &what, &at, &errno)
	if err := f.reach(s.Name, what, at, errno); err != nil || s.Name != "write" {
		return err
	}
	half := len(s.Data) / 2
	return f.reach("half", what, at, errno, func() {
		if _, err := s.File.Write(s.Data[:half]); err != nil {
			panic(err)
		}
	})
}

func (f *faults) reach(name, what string, at int, errno string, first ...func()) error {
	f.n++
	log, err := os.OpenFile(f.plan+".log", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	_, err = fmt.Fprintln(log, name)
	log.Close()
	if err != nil && !errors.Is(err, syscall.EFBIG) { // EFBIG: the test forbids any write
		panic(err)
	}
	if f.n != at {
		return nil
	}
	for _, do := range first {
		do()
	}
	switch what {
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "wait":
		for {
			if now, err := os.ReadFile(f.plan); err == nil && string(now) != f.current {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	}
	return &os.PathError{Op: name, Path: "f", Err: errnos[errno]}
}

// commitFault makes commits of the database fail or wait. The file has the name of an errno, a duration, "hold": until it has not, or "one":
// the next commit goes through, and the file says "hold" then.
func commitFault(plan string) func(daemon.Step) error {
	planned := func() string {
		text, err := os.ReadFile(plan)
		if err != nil {
			panic(err)
		}
		return strings.TrimSpace(string(text))
	}
	return func(s daemon.Step) error {
		if s.Name != daemon.StepCommit {
			return nil
		}
		word := planned()
		if errno, ok := errnos[word]; ok {
			return errno
		}
		if d, err := time.ParseDuration(word); err == nil {
			time.Sleep(d)
		}
		if word == "one" {
			if err := os.WriteFile(plan, []byte("hold"), 0o600); err != nil {
				panic(err)
			}
			return nil
		}
		for word == "hold" {
			time.Sleep(time.Millisecond)
			word = planned()
		}
		return nil
	}
}
