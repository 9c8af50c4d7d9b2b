package ask

import (
	"context"
	"fmt"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
)

const (
	stallTick     = time.Second      // the time between two looks for news
	stallTicks    = 10               // after this many ticks without news it asks the daemon for the reason, and again after as many
	stallPatience = 20 * time.Second // the longest wait for a daemon that cannot write its database
	stallGrace    = 3 * time.Second  // the same after a cancel
)

// A stall is a turn without news while the daemon cannot write its database, as on a full disk. The daemon stores the end of
// a turn before it reports it.
type stall struct {
	client *rpc.Client
	f      *view.Follower
	asked  chan string // gets what the daemon says is wrong with its database, or ""
	news   uint64      // the count of notifications at the last tick
	silent int         // ticks since then
	since  time.Time   // the stall began; the zero time without one
	grace  bool        // the turn was cancelled
}

func newStall(client *rpc.Client, f *view.Follower) *stall {
	return &stall{client: client, f: f, asked: make(chan string, 1)}
}

// tick is called every stallTick. An agent is often silent, so the daemon is seldom asked, unless its database is known to
// be the reason or the turn was cancelled.
func (s *stall) tick(ctx context.Context) {
	if news := s.f.News.Load(); news != s.news {
		s.news, s.silent, s.since = news, 0, time.Time{}
		return
	}
	if s.silent++; s.silent%stallTicks != 0 && s.since.IsZero() && !s.grace {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(ctx, stallPatience)
		defer cancel()
		var status api.Status
		if s.client.Call(ctx, "daemon/status", nil, &status) == nil {
			select {
			case s.asked <- status.Storage.Trouble:
			default: // another answer waits
			}
		}
	}()
}

// answered takes the daemon's trouble with its database and tells people that the run waits. It returns an error after the
// longest wait.
func (s *stall) answered(trouble string) error {
	if trouble == "" || s.f.News.Load() != s.news {
		s.since = time.Time{}
		return nil
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	waited, patience, what := time.Since(s.since), stallPatience, fmt.Sprintf("nothing was heard of the turn for %v", stallPatience)
	if s.grace {
		patience, what = stallGrace, "the turn was cancelled"
	}
	if waited < patience {
		s.f.Waits(fmt.Sprintf("… waiting for the database, which takes no changes (%d s, Ctrl-C ends it)", int(waited/time.Second)))
		return nil
	}
	return &rpc.Error{
		Message: what + ", and the database takes no changes: " + term.Clean(trouble),
		Data: rpc.ErrorData{
			Kind: api.KindStorage,
			Hint: `free disk space, or check the disk; the daemon then stores what it kept of the turn: "cursord sessions" shows it`,
		},
	}
}
