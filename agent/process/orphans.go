package process

import (
	"os"
	"slices"
	"time"
)

// KillOrphans kills this user's processes that have mark, a "KEY=value", in their environment: those left by a killed daemon
// that gave its agents the mark by Request.Env. It repeats until it finds none, for some two seconds at most, and returns
// how many there were. On Windows there are none, because agents end with their daemon.
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

// An Info describes a process that an agent, or one of its commands, has started.
type Info struct {
	ID      int
	Command string // its command line, cut
}

// Survivors lists this user's processes that have mark, a "KEY=value", in their environment: processes that have left the
// group of a run with the mark in Request.Env. It is empty where the system does not show environments.
func Survivors(mark string) (list []Info) {
	for _, pid := range marked(mark) {
		list = append(list, Info{ID: pid, Command: shortCommand(commandLine(pid))})
	}
	return list
}

// Orphans lists the processes that have mark, a "KEY=value", in their environment and whose parent neither has it nor is
// this process: what a command has put into the background and left there when its shell ended. It is empty where the system
// does not show environments. It takes some milliseconds.
func Orphans(mark string) (pids []int) {
	all := marked(mark)
	if len(all) == 0 {
		return nil
	}
	for _, p := range relatives() {
		if slices.Contains(all, p.pid) && p.parent != os.Getpid() && !slices.Contains(all, p.parent) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// shortCommand cuts a command line to a length that people recognise.
func shortCommand(line string) string {
	const most = 80
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return line
}
