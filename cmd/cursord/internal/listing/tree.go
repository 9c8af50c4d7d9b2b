package listing

import (
	"cmp"
	"slices"
	"strings"

	"cursord/sessions"
)

// A node is a session in the tree of forks, and what stands in front of its title.
type node struct {
	session *sessions.Session
	branch  string
}

// tree orders sessions so that each fork follows the session that it was forked from: trees by their latest change, the
// latest first, and the forks of a session by their age. A fork whose session is not in the list begins a tree of its own.
func tree(list []*sessions.Session) []node {
	known := map[string]*sessions.Session{}
	for _, s := range list {
		known[s.ID] = s
	}
	forks := map[string][]*sessions.Session{}
	var roots []*sessions.Session
	for _, s := range list {
		if s.ForkedFrom != nil && known[s.ForkedFrom.SessionID] != nil && !inCircle(s, known) {
			forks[s.ForkedFrom.SessionID] = append(forks[s.ForkedFrom.SessionID], s)
		} else {
			roots = append(roots, s)
		}
	}
	var out []node
	type grown struct {
		nodes  []node
		latest sessions.Time
	}
	var trees []grown
	for _, root := range roots {
		var g grown
		var grow func(s *sessions.Session, branch string)
		grow = func(s *sessions.Session, branch string) {
			g.nodes = append(g.nodes, node{s, branch})
			if s.UpdatedAt.After(g.latest.Time) {
				g.latest = s.UpdatedAt
			}
			slices.SortFunc(forks[s.ID], func(a, b *sessions.Session) int {
				return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), strings.Compare(a.ID, b.ID))
			})
			for i, f := range forks[s.ID] {
				grow(f, below(branch, i == len(forks[s.ID])-1))
			}
		}
		grow(root, "")
		trees = append(trees, g)
	}
	slices.SortStableFunc(trees, func(a, b grown) int { return b.latest.Compare(a.latest.Time) })
	for _, g := range trees {
		out = append(out, g.nodes...)
	}
	return out
}

// placesOf returns the place of each session among those of its workspace, from 1; list has the latest first.
func placesOf(list []*sessions.Session) map[string]int {
	places, in := map[string]int{}, map[string]int{}
	for _, s := range list {
		in[s.Workspace]++
		places[s.ID] = in[s.Workspace]
	}
	return places
}

// inCircle reports whether a session is forked from itself, by way of others; a file that was imported may say so.
func inCircle(s *sessions.Session, known map[string]*sessions.Session) bool {
	seen := map[string]bool{}
	for at := s; at != nil && at.ForkedFrom != nil; at = known[at.ForkedFrom.SessionID] {
		if seen[at.ID] {
			return true
		}
		seen[at.ID] = true
	}
	return false
}

var goesOn = strings.NewReplacer("├", "│", "└", " ")

// below returns the branch of a fork of a session with a branch; last if no other fork of it follows.
func below(branch string, last bool) string {
	const deepest = 20
	line := []rune(goesOn.Replace(branch))
	line = line[:min(len(line), 2*(deepest-1))]
	if last {
		return string(line) + "└ "
	}
	return string(line) + "├ "
}
