package agent

import (
	"os"
	"slices"
)

// Orphans lists the processes that have mark, a "KEY=value", in their environment and whose parent neither has it nor is
// the present process: what a command has put in the background, and left there when its shell ended. Where the system
// does not tell there are none. It takes some milliseconds.
func Orphans(mark string) (pids []int) {
	all := marked(mark)
	for pid, parent := range parentsOf(all) {
		if parent != os.Getpid() && !slices.Contains(all, parent) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}
