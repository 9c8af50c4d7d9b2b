package snapshot

import "context"

// The last scan of a turn looks at all files, because the system tells no watch of some changes (package treewatch). Between the agent's last
// word and the end of its process nothing else is to be done, so that look begins at the last word, and what it finds is noted in the watch.
// The scan then looks at what has changed since, as any other.

// An ahead is a look at all files before the last scan.
type ahead struct {
	done  chan struct{}
	whole bool // all were looked at; only once done
}

// LookAhead begins to look at all files, unless it has, if nothing is at work any more that calls have begun. If something is, or if a call
// or another scan follows, an earlier look does not count: something may have been written since of which no watch tells.
func (s *Snapshot) LookAhead(quiet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !quiet {
		s.ahead = nil
	}
	if !quiet || !s.listed || s.shift != nil || s.sight.watch == nil || s.ahead != nil {
		return
	}
	a, v, files := &ahead{done: make(chan struct{})}, s.sight, s.files.clone()
	s.ahead, s.littered = a, s.littered || files.base.len() > largeTree
	s.aheads.Go(func() {
		defer close(a.done)
		ctx, cancel := context.WithTimeout(context.Background(), LastScanTime)
		defer cancel()
		names, stats, _, whole := s.glance(ctx, nil, &files, v, nil, nil)
		for i, name := range names {
			if _, same := files.is(name, stats[i]); !same {
				v.watch.Touch(name)
			}
		}
		a.whole = whole
	})
}

// sawAll reports whether all files were looked at ahead of the last scan. It waits for that.
func (s *Snapshot) sawAll(ctx context.Context) bool {
	s.mu.Lock()
	a := s.ahead
	s.mu.Unlock()
	if a == nil {
		return false
	}
	select {
	case <-a.done:
		return a.whole
	case <-ctx.Done():
		return false
	}
}
