package agent

import "time"

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
