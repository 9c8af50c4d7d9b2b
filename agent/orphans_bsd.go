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
