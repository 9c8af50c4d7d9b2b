//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// marked returns the processes of this user that have the mark in their environment, as far as ps shows it; the system hides
// the environment of its own programs. The mark must not have spaces.
func marked(mark string) (pids []int) {
	out, err := exec.Command("ps", "-E", "-ww", "-U", strconv.Itoa(os.Getuid()), "-o", "pid=,command=").Output()
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		pid, err := strconv.Atoi(words[0])
		if err != nil || pid == os.Getpid() {
			continue
		}
		if slices.Contains(words[1:], mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// commandLine returns the command line of a process with single blanks; "" if it has ended.
func commandLine(pid int) string {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(out)), " ")
}
