package process

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// How long one look waits, in all, for programs that are just being started.
const (
	startPauses = 20
	startPause  = 200 * time.Microsecond
)

// marked returns the processes of this user that have the mark in their environment.
func marked(mark string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	starting := startPauses
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := "/proc/" + entry.Name()
		info, err := os.Stat(dir)
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
			continue
		}
		env, err := os.ReadFile(dir + "/environ")
		for ; err == nil && len(env) == 0 && starting > 0 && hasProgram(dir); starting-- {
			time.Sleep(startPause) // it is becoming another program, whose environment is not visible yet
			env, err = os.ReadFile(dir + "/environ")
		}
		if err != nil {
			continue
		}
		if holds(env, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// holds reports whether an environment, in the system's form, has a mark.
func holds(env []byte, mark string) bool {
	return bytes.Contains(slices.Concat([]byte{0}, env, []byte{0}), []byte("\x00"+mark+"\x00"))
}

// ancestorSteps is how many ancestors Descends looks at.
const ancestorSteps = 16

// Descends reports whether a process of this user, or one of its nearest ancestors, has mark, a "KEY=value", in its
// environment: whether a run with the mark in Request.Env has started it. It returns false where the system does not show
// environments, and for a process that has removed its environment and left its parents.
func Descends(pid int, mark string) bool {
	for range ancestorSteps {
		if pid <= 1 || pid == os.Getpid() {
			return false
		}
		r, ok := relativeOf(pid)
		if !ok {
			return false
		}
		if env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ"); err == nil && holds(env, mark) {
			return true
		}
		pid = r.parent
	}
	return false
}

// commandLine returns the command line of a process with single blanks, at most its first 64 KiB; "" if it has ended.
func commandLine(pid int) string {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	defer file.Close()
	line, _ := io.ReadAll(io.LimitReader(file, maxCommandLine))
	return strings.Join(strings.FieldsFunc(string(line), func(c rune) bool { return c == 0 || unicode.IsSpace(c) }), " ")
}

const maxCommandLine = 64 << 10

// hasProgram reports whether a process runs a program: it is no process of the kernel and has not ended.
func hasProgram(dir string) bool {
	_, err := os.Readlink(dir + "/exe")
	return err == nil
}
