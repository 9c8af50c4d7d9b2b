package process

import (
	"os"
	"slices"
	"time"
)

// KillOrphans kills this user's processes that have mark, a "KEY=value", in their environment: what a daemon that was
// killed has left behind, if it gave the mark to its agents with Request.Env. It looks again until it finds none, for at
// most some two seconds, and returns how many there were. On Windows there are none: agents end with their daemon.
func KillOrphans(mark string) (killed int) {
	seen := map[int]bool{}
	for range 40 {
		pids := marked(mark)
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			seen[pid] = true
			killTree(pid)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return len(seen)
}

// An Info is about a process, one that an agent, or a command of it, started.
type Info struct {
	ID      int
	Command string // its command line, cut
}

// Survivors lists this user's processes that have mark, a "KEY=value", in their environment: what a run leaves behind that
// has left its process group, if the mark was in Request.Env. Where the system does not tell there are none.
func Survivors(mark string) (list []Info) {
	for _, pid := range marked(mark) {
		list = append(list, Info{ID: pid, Command: shortCommand(commandLine(pid))})
	}
	return list
}

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

// shortCommand cuts a command line to what people recognise it by.
func shortCommand(line string) string {
	const most = 80
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return line
}
