//go:build unix && !linux

package agent

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// marked returns the processes of this user that have the mark in their environment, as far as ps shows it: the system
// hides the environment of its own programs. The mark must have no spaces.
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

// commandOf returns the command line of a process, cut; "" if it has ended.
func commandOf(pid int) string {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return shortCommand(strings.TrimSpace(string(out)))
}

// parentsOf returns the parents of those processes that still run.
func parentsOf(pids []int) map[int]int {
	parents := map[int]int{}
	if len(pids) == 0 {
		return parents
	}
	var list []string
	for _, pid := range pids {
		list = append(list, strconv.Itoa(pid))
	}
	out, err := exec.Command("ps", "-o", "pid=,ppid=", "-p", strings.Join(list, ",")).Output()
	if err != nil {
		return parents
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		pid, err := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if err == nil && err2 == nil {
			parents[pid] = parent
		}
	}
	return parents
}
