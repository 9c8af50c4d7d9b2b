// Package clock gives times of events that can be compared even if somebody sets the system's clock in between.
//
// Its moments are Unix ns by a clock that was right when the process began and has only gone on since. Files bear the
// times of the clock that people set: Moment says at which moment that was.
package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Lag is how far the times of files may lag behind the clock: a file system's clock goes on in ticks.
const Lag = 10 * time.Millisecond

const (
	jump    = 5 * time.Millisecond // what is less is no jump
	kept    = 64                   // of how many jumps something is known
	glances = 4                    // at a clock that seems to have jumped: between reading the two a process may be stopped
)

// ahead is for tests: by how much the clock is ahead at a time of the machine's own, Unix ns. To be set before anything else.
var ahead func(unix int64) time.Duration

// A span is a time in which nobody has set the clock.
type span struct {
	from, to int64 // moments between which it may have been so; of the latest, to is not known
	lead     int64 // how far the clock is ahead of the moments
}

var (
	start = time.Now()
	seen  atomic.Int64           // the last moment at which the clock was as in the latest span
	spans atomic.Pointer[[]span] // oldest first; not changed once it is there
	mu    sync.Mutex             // held to replace spans
)

// At returns the moment of a time that this process has got from time.Now.
func At(t time.Time) int64 { return start.UnixNano() + int64(t.Sub(start)) }

// Now returns the present moment.
func Now() int64 {
	unix, now := read()
	if s := spans.Load(); s == nil || jumped(unix, now, *s) {
		return look()
	}
	seen.Store(now)
	return now
}

// Shown returns a time of the machine's as the clock shows it, which is the same but in tests.
func Shown(unix int64) int64 {
	if ahead == nil {
		return unix
	}
	return unix + int64(ahead(unix))
}

// Moment returns the moment at which the clock showed a time, Unix ns: the latest, if it has shown that more than once.
func Moment(unix int64) int64 {
	Now()
	return Known(unix)
}

// Known is Moment as far as is known since the last call of Now: for many at once.
func Known(unix int64) int64 {
	list := spans.Load()
	if list == nil {
		Now()
		list = spans.Load()
	}
	return find(*list, unix, seen.Load())
}

func find(list []span, unix, now int64) int64 {
	last := len(list) - 1
	if last == 0 {
		return unix - list[0].lead
	}
	skipped := unix - list[last].lead // so it is ahead of us
	for i := last; i >= 0; i-- {
		s := &list[i]
		to := s.to
		if i == last {
			to = now
		}
		switch m := unix - s.lead; {
		case m > to+int64(Lag):
		case i == 0 || m >= s.from-int64(Lag):
			return m
		default:
			skipped = s.from
		}
	}
	return skipped
}

func read() (unix, now int64) {
	t := time.Now()
	return Shown(t.UnixNano()), At(t)
}

func jumped(unix, now int64, list []span) bool {
	off := unix - now - list[len(list)-1].lead
	return off > int64(jump) || off < -int64(jump)
}

// look takes in that the clock has jumped, if it has.
func look() int64 {
	mu.Lock()
	defer mu.Unlock()
	old := spans.Load()
	var now, lead int64
	for i := range glances {
		var unix int64
		unix, now = read()
		if old != nil && !jumped(unix, now, *old) {
			seen.Store(now)
			return now
		}
		if i == 0 || unix-now > lead { // what is read late makes it less
			lead = unix - now
		}
	}
	var list []span
	if old != nil {
		list = append(list, (*old)[max(0, len(*old)-kept):]...)
		list[len(list)-1].to = now
	} else if lead > -int64(jump) && lead < int64(jump) {
		lead = 0 // as it is: moments are what files bear
	}
	list = append(list, span{from: seen.Load(), lead: lead})
	seen.Store(now)
	spans.Store(&list)
	return now
}
