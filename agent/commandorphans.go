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
	for _, p := range relatives() {
		if slices.Contains(all, p.pid) && p.parent != os.Getpid() && !slices.Contains(all, p.parent) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
