package daemon

import "time"

// wordTime is how long the word of a running agent, that it is about to write a file, may be on its way to us. Until then
// what has just been written is nobody's.
const wordTime = 250 * time.Millisecond

// explained reports whether agents would have said by now that they would make a change of that time, Unix ns.
func (t *worktree) explained(when int64) bool {
	if when > time.Now().Add(saidMax).UnixNano() {
		return true // the clock was set back since: nothing will ever tell
	}
	for _, h := range t.hearings {
		if when+int64(wordTime) > h.UpTo().UnixNano() {
			return false
		}
	}
	return true
}
