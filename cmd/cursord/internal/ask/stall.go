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
	stallTick     = time.Second      // how often a run looks whether it has heard anything
	stallTicks    = 10               // after so many without news, and again after as many, it asks the daemon why
	stallPatience = 20 * time.Second // how long it waits for a daemon that can store nothing
	stallGrace    = 3 * time.Second  // the same, once the turn was cancelled
)

// A stall is that a run hears nothing of its turn, and the daemon can store nothing, as on a full disk: the end of a turn is
// told only when it is stored.
type stall struct {
	client *rpc.Client
	f      *view.Follower
	asked  chan string // gets what the daemon says is wrong with its database, or ""
	news   uint64      // how much had been heard of the turn at the last tick
	silent int         // ticks since then
	since  time.Time   // the stall began; the zero time without one
	grace  bool        // the turn was cancelled
}

func newStall(client *rpc.Client, f *view.Follower) *stall {
	return &stall{client: client, f: f, asked: make(chan string, 1)}
}

// tick is called every stallTick. A silent agent is nothing unusual, so the daemon is seldom asked, unless it is known that
// its database is the reason or the turn was cancelled.
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

// answered takes what is wrong with the database, shows people that the run waits, and returns an error once it has waited
// long enough.
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
