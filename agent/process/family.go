package process

import (
	"slices"
	"sync"
	"time"
)

// A Family is the processes that an agent has started and that have left its group: a background command may make a group
// and a session of its own. They are found by their parents, by the groups and sessions of processes that were seen, and by
// the mark in their environment. On Windows a Family is empty, because the job holds all processes.
type Family struct {
	leader int
	own    int    // our own group
	mark   string // "": none
	since  uint64 // when the leader began, in the unit of relative.began; 0: unknown

	mu     sync.Mutex
	groups map[int]bool // guarded by mu; groups of processes that were seen, without the leader's
}

// A relative is what the system says about a process of this user.
type relative struct {
	pid, parent, group, session int
	began                       uint64 // by the system's own clock; 0: unknown
}

// NewFamily returns the family of a leader that was just started. mark, a "KEY=value" in its environment, may be "".
func NewFamily(leader int, mark string) *Family {
	return &Family{leader: leader, own: ownGroup(), mark: mark, groups: map[int]bool{}, since: beginning(leader)}
}

// Look finds the groups that the leader's descendants have made. It cannot find those of a process whose parent has ended,
// so it must be called while the agent lives, and whenever a command is left in the background.
func (f *Family) Look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.find(true)
}

// find returns the processes that have left the group; alive says that the leader still has its number. The mutex must be
// held.
func (f *Family) find(alive bool) (pids []int) {
	for _, p := range f.members(relatives(), alive) {
		if p.group != f.leader && p.group != f.own {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// members picks the family's processes, without the leader, out of all; the mutex must be held.
func (f *Family) members(all []relative, alive bool) (list []relative) {
	is := make([]bool, len(all))
	members := map[int]bool{}
	if alive {
		members[f.leader] = true
	}
	for grown := true; grown; {
		grown = false
		for i, p := range all {
			if is[i] || p.pid == f.leader || p.began < f.since ||
				!members[p.parent] && !f.groups[p.group] && !f.groups[p.session] && (!alive || p.group != f.leader) {
				continue
			}
			is[i], members[p.pid], grown = true, true, true
			list = append(list, p)
			if p.group == f.leader || p.group == f.own {
				continue
			}
			f.groups[p.group] = true
			if members[p.session] {
				f.groups[p.session] = true // not the daemon's session, to which the leader belongs
			}
		}
	}
	return list
}

// A Member is a process of a family.
type Member struct {
	ID, Parent, Group int
	Inner             int    // the number by which it knows itself, and the agent it: another one than ID in a PID namespace
	Line              string // its command line, with single blanks
}

// Running lists the processes that the leader has started, inside and outside of its group, as far as the system shows them. Call
// it while the leader lives.
func (f *Family) Running() []Member { return f.list(true) }

// Left lists the processes that still run after the leader and its group have ended, as far as the system shows them.
func (f *Family) Left() []Member { return f.list(false) }

func (f *Family) list(alive bool) (members []Member) {
	f.mu.Lock()
	list := f.members(relatives(), alive)
	f.mu.Unlock()
	if !alive {
		list = slices.DeleteFunc(list, func(p relative) bool { return p.group == f.leader || p.group == f.own })
	}
	if f.mark != "" {
		for _, pid := range marked(f.mark) {
			if pid != f.leader && !slices.ContainsFunc(list, func(p relative) bool { return p.pid == pid }) {
				list = append(list, relative{pid: pid})
			}
		}
	}
	for _, p := range list {
		members = append(members, Member{ID: p.pid, Parent: p.parent, Group: p.group, Inner: inner(p.pid), Line: commandLine(p.pid)})
	}
	if alive {
		return f.withoutStarters(members)
	}
	return members
}

// withoutStarters leaves out the first process of a PID namespace that the leader has made for the agent, and the agent, which is the first
// that this one has started.
func (f *Family) withoutStarters(list []Member) []Member {
	first := slices.IndexFunc(list, func(m Member) bool { return m.Parent == f.leader && m.Inner == 1 && m.ID != 1 })
	if first < 0 {
		return list
	}
	init, agent := list[first].ID, 0
	for _, m := range list {
		if m.Parent == init && (agent == 0 || m.Inner < agent) {
			agent = m.Inner
		}
	}
	return slices.DeleteFunc(list, func(m Member) bool { return m.ID == init || m.Parent == init && m.Inner == agent })
}

// End ends the family after the leader and its group: by TERM, and after termLeft by KILL. It returns when none of the
// processes runs, at the latest after some two seconds.
func (f *Family) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	const pause, termLeft, most = 20 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second
	named := map[int]bool{}
	for waited := time.Duration(0); waited < most; waited += pause {
		pids := f.find(false)
		if f.mark != "" {
			pids = append(pids, marked(f.mark)...)
		}
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			if waited >= termLeft {
				killTree(pid)
			} else if !named[pid] {
				named[pid] = true
				terminate(pid)
			}
		}
		time.Sleep(pause)
	}
}
