package diffs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// undoRewind takes a rewind back: exactly, if nothing has happened since, and with what a person has changed in other lines
// since.
func (r *Review) undoRewind(d Decision) error {
	old, then, err := d.Rewound.load()
	if err != nil {
		return err
	}
	now := r.Current()
	old.rev, old.weave.Next = max(old.rev, r.rev), max(old.weave.Next, r.weave.Next)
	if r.shape().sum() != d.After || !bytes.Equal(now.Data, then) {
		if err := old.catchUp(r, string(then)); err != nil {
			return err
		}
	}
	*r = *old
	return nil
}

// redoRewind makes a rewind again that was undone. The lines that it brings get the ids that they had, because the decisions that followed it
// know them by these.
func (r *Review) redoRewind(d Decision) (Decision, error) {
	redone := r.Copy()
	again, _, err := redone.takeBack(d.Rewound.Undone, d.Rewound.All)
	if err != nil || d.Size() > 0 && again.Size() == 0 {
		return again, ErrOvertaken
	}
	if first, _, err := d.Rewound.load(); err == nil {
		last := first.weave.Next
		if _, _, err := first.takeBack(d.Rewound.Undone, d.Rewound.All); err == nil {
			redone.adoptLines(r.weave.Next, first, last)
			redone.adopt(first)
			again.Rewound.State, again.After = withLast(again.Rewound.State, last), redone.shape().sum()
		}
	}
	*r = *redone
	return again, nil
}

func (s *rewound) load() (old *Review, then []byte, err error) {
	base, err := history.Unpack(s.Base)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	now, err := history.Unpack(s.Now)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if then, err = history.Unpack(s.Then); err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if old, err = Unmarshal(s.State, base, now); err != nil {
		return nil, nil, err
	}
	_ = old.RestoreHistory(s.Past) // without it, the lines come back, and nothing says whose they were
	return old, then, nil
}

// catchUp brings what a person has changed since a rewind to the review from before it. then is the text that the rewind left.
func (r *Review) catchUp(since *Review, then string) error {
	var s state
	lines := r.whole == nil && since.whole == nil && r.is && since.is
	if !lines || json.Unmarshal(r.Marshal(), &s) != nil || r.isPath != since.isPath && since.isPath != "" {
		return ErrOvertaken
	}
	known := map[uint64][2]int32{}
	for i := range r.weave.Atoms {
		known[r.weave.Atoms[i].ID] = [2]int32{r.weave.Atoms[i].Ins, r.weave.Atoms[i].Del}
	}
	for i := range since.weave.Atoms {
		if a := &since.weave.Atoms[i]; a.Pending() && known[a.ID] != [2]int32{a.Ins, a.Del} {
			return ErrOvertaken // an agent has written the file since
		}
	}
	now := since.Current()
	merged, ok := mergedEdits(then, string(now.Data), r.weave.Text(weave.Current))
	if !ok {
		return ErrOvertaken
	}
	now.Data = []byte(merged)
	r.Observe(now, nil)
	return nil
}

// mergedEdits applies to a text the edits that make two other texts of it; ok is false if these are of the same lines.
func mergedEdits(text, mine, theirs string) (merged string, ok bool) {
	a, b := LineEdits(text, mine), LineEdits(text, theirs)
	for _, x := range a {
		for _, y := range b {
			if x.From <= y.To && y.From <= x.To {
				return "", false
			}
		}
	}
	all := append(a, b...)
	slices.SortFunc(all, func(x, y LineEdit) int { return x.From - y.From })
	lines := linetext.Split(text)
	var out strings.Builder
	at := 0
	for _, e := range all {
		out.WriteString(strings.Join(lines[at:e.From], ""))
		out.WriteString(e.Text)
		at = e.To
	}
	out.WriteString(strings.Join(lines[at:], ""))
	return out.String(), true
}
