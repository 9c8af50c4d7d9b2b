package diffs

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"cursord/diffs/history"
	"cursord/diffs/internal/between"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// This file keeps a review's history in step with the present content. An accept changes no content, so the history knows an
// accepted change as it knows a pending one.

// A past is the present content from before a step.
type past struct {
	body  history.Body
	path  string
	lines []weave.Atom // of a text

	pending *history.Pending // of an agent's step that may change the file as a whole
	removed map[uint64]int32 // of an agent's step: the edits that removed lines, which are pending, by id
}

// present returns the present content in the terms of the history.
func (r *Review) present() past {
	p := past{path: r.isPath, body: history.Body{Kind: history.Text, Mode: r.isMode}}
	switch w := r.whole; {
	case !r.is:
		p.body = history.Body{}
	case w == nil:
		for i := range r.weave.Atoms {
			if a := &r.weave.Atoms[i]; a.On(weave.Current) {
				p.lines = append(p.lines, *a)
			}
		}
	case r.limits.kind(w.now) == Modified:
		for _, l := range linetext.Split(w.now.text) {
			p.lines = append(p.lines, weave.Atom{Text: l})
		}
	default:
		p.body = history.Body{Kind: history.Opaque, Data: []byte(w.now.text), Link: w.now.link, Mode: r.isMode}
	}
	return p
}

// sum returns a sum of the content.
func (p *past) sum() string {
	h := sha256.New()
	h.Write([]byte{byte(p.body.Kind)})
	h.Write(p.body.Data)
	for i := range p.lines {
		h.Write([]byte(weave.TrimEnd(p.lines[i].Text) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Wakes reports whether the file held a content before a person's changes, so that its lines are known again if the person brings it back.
func (r *Review) Wakes(c Content) bool {
	back := r.Copy()
	back.Observe(c, nil)
	is := back.present()
	return r.past.Wakes(is.sum())
}

// HeldLast reports whether an edit has removed the file, and it held this text then.
func (r *Review) HeldLast(c Content) bool {
	return !r.is && isLines(r.limits, c) && r.past.HeldLast(linetext.Split(string(c.Data)))
}

// follow has the history take the step from a content to the present one, made by edit n or, for 0, by a person or a decision.
func (r *Review) follow(before past, who history.Who, n int32) {
	r.followLent(before, who, n, nil)
}

// followLent is follow for a content that was brought from elsewhere; lent, if given, knows its edits.
func (r *Review) followLent(before past, who history.Who, n int32, lent *lender) {
	after := r.present()
	step := history.Step{
		Who: who, Was: before.body, Is: after.body, WasPath: before.path, IsPath: after.path,
		Edits: between.Edits(r.weave.Atoms, before.lines, after.lines, before.removed, n), Sum: after.sum, Before: before.sum,
		BodyBy: editOf(n, r.op), ModeBy: editOf(n, r.chmod), MoveBy: editOf(n, r.renamed), Pending: before.pending,
	}
	if who == history.Person {
		step.BodyBy = 0 // also if what an edit has made of the file is still pending
	}
	if lent != nil {
		lent.lend(r, &step)
	}
	if step.Who == history.Person && len(step.Edits) > 0 {
		old := linetext.Known(weave.Texts(before.lines))
		common := old
		for _, e := range step.Edits {
			for _, gone := range e.Removed {
				common -= linetext.Known([]string{gone.Text})
			}
		}
		if linetext.Replaced(old, linetext.Known(weave.Texts(after.lines)), common) {
			step.Doubt = doubtful(after.lines)
		}
	}
	if r.past.ToNote() {
		r.past = r.past.Note(r.first(before.lines))
	}
	r.past = r.past.Take(step)
	if step.Who == history.Person {
		r.past = r.past.Place(r.tombstones())
	}
}

// tombstones returns the lines that are pending as removed, and between which settled lines they are.
func (r *Review) tombstones() (dead []history.Tombstone) {
	first, line, open := 0, 0, 0
	for _, a := range r.weave.Atoms {
		switch {
		case a.Del != 0:
			dead = append(dead, history.Tombstone{Text: a.Text, Del: a.Del, First: first})
			continue
		case a.Ins == 0:
			for ; open < len(dead); open++ {
				dead[open].Last = line
			}
			first = line + 1
		}
		line++
	}
	for ; open < len(dead); open++ {
		dead[open].Last = line
	}
	return dead
}

// editOf returns an edit or, for 0, the one that a hunk of kind file is of.
func editOf(n int32, op fileOp) int32 {
	if n == 0 && op.ID != 0 && len(op.Edits) > 0 {
		return op.Edits[len(op.Edits)-1]
	}
	return n
}

// History returns the stored form of what the review knows of the edits of its present content, pending or accepted; nil if
// that is nothing. Edits without a time get now, in ms since 1970.
func (r *Review) History(now int64) []byte {
	r.past = r.past.Stamp(now)
	return r.past.Marshal()
}

// RestoreHistory takes back what History has returned. If it is nil, as with the reviews of older versions, or does not fit the
// content, the review goes on with what is pending as its history. It returns an error in the second case.
func (r *Review) RestoreHistory(data []byte) error {
	present := r.present()
	past, err := history.Unmarshal(data, len(present.lines))
	if r.past = past; len(data) == 0 || err != nil {
		r.past = r.pendingHistory()
	}
	return err
}

// pendingHistory returns the history that what is pending stands for.
func (r *Review) pendingHistory() *history.File {
	f, line, stays := &history.File{Groups: 1}, 0, false
	for i := range r.weave.Atoms {
		switch a := &r.weave.Atoms[i]; {
		case a.Del != 0:
			f.Bury(line, history.Dead{Text: strings.Clone(a.Text), Del: a.Del, DelGroup: f.Groups})
			stays = false
			continue
		case a.Ins != 0 && r.is:
			f.Runs = append(f.Runs, history.Run{From: line, To: line + 1, Author: history.Author{By: a.Ins, Group: f.Groups}})
			stays = false
		case !stays:
			f.Groups++
			stays = true
		}
		line++
	}
	for _, op := range []struct {
		fileOp
		was history.Op
	}{
		{r.unknown, history.Op{Lost: true}},
		{r.op, history.Op{Was: r.baselineBody()}},
		{r.chmod, history.Op{Aspect: history.TheMode, Was: history.Body{Mode: r.wasMode}}},
		{r.renamed, history.Op{Aspect: history.ThePath, Path: r.wasPath}},
	} {
		switch op.was.By = editOf(0, op.fileOp); {
		case op.was.By == 0:
		case op.ID == r.op.ID && r.whole != nil && r.whole.touched:
			f.Touched = append(f.Touched, op.was.By)
		default:
			f.Ops = append(f.Ops, op.was)
		}
	}
	if f.Empty() {
		return nil
	}
	return f
}

// baselineBody returns what the baseline holds in the terms of the history.
func (r *Review) baselineBody() history.Body {
	b := r.body(weave.Baseline)
	switch {
	case !r.was:
		return history.Body{}
	case r.limits.kind(b) == Modified:
		return history.Body{Kind: history.Text, Mode: r.wasMode}
	}
	return history.Body{Kind: history.Opaque, Data: []byte(b.text), Link: b.link, Mode: r.wasMode}
}

// Edited returns the sessions whose edits the history knows, and when the latest of these edits was made, in ms since 1970.
func (r *Review) Edited() (sessions []string, at int64) {
	for n := range r.past.Edits() {
		at = max(at, r.past.When(n))
		for _, src := range r.sources.of([]int32{n}) {
			sessions = append(sessions, src.SessionID)
		}
	}
	slices.Sort(sessions)
	return slices.Compact(sessions), at
}

// ForgetHistory drops the history.
func (r *Review) ForgetHistory() { r.past = nil }

// A lender knows the edits that a content is made of which another review has.
type lender struct {
	from   *Review
	wrote  map[string][]Source
	killed map[string][]Source
}

// ObserveFrom is Observe by a person who has accepted changes of another review of the file, whose edits the history gets: that of a copy which
// only the agent writes. It need not last: once the accept is taken back, what was pending is pending again.
func (r *Review) ObserveFrom(now Content, from *Review) (changed bool) {
	l := &lender{from: from, wrote: map[string][]Source{}, killed: map[string][]Source{}}
	for i, a := range from.present().lines {
		by, _ := from.past.Of(i)
		if src, known := l.source(by); known && a.Ins == 0 {
			l.wrote[weave.TrimEnd(a.Text)] = append(l.wrote[weave.TrimEnd(a.Text)], src)
		}
	}
	if from.past != nil {
		for _, g := range from.past.Dead {
			for _, d := range g.Lines {
				if src, known := l.source(d.Del); known {
					l.killed[weave.TrimEnd(d.Text)] = append(l.killed[weave.TrimEnd(d.Text)], src)
				}
			}
		}
	}
	return r.observeFrom(now, l)
}

// source returns whose an edit is. In the other review, no change is a person's.
func (l *lender) source(n int32) (src Source, known bool) {
	of := l.from.sources.of([]int32{n})
	if len(of) == 0 {
		return src, false
	}
	if src = of[0]; src.Via == ViaUnknown {
		src.Via = ViaTool
	}
	return src, true
}

// lend says which edits made a step.
func (l *lender) lend(r *Review, step *history.Step) {
	take := func(m map[string][]Source, text string) int32 {
		list := m[weave.TrimEnd(text)]
		if len(list) == 0 {
			return 0
		}
		m[weave.TrimEnd(text)] = list[1:]
		return r.sources.edit(list[0])
	}
	step.Who = history.Decision
	for i := range step.Edits {
		e := &step.Edits[i]
		for j := range e.Removed {
			if e.Removed[j].By == 0 {
				e.Removed[j].By = take(l.killed, e.Removed[j].Text)
			}
		}
		for j := range e.Added {
			if e.Added[j].By == 0 {
				e.Added[j].By = take(l.wrote, e.Added[j].Text)
			}
		}
	}
	op := func(a history.Aspect, by *int32) {
		if *by != 0 || l.from.past == nil {
			return
		}
		for _, o := range l.from.past.Ops {
			if src, known := l.source(o.By); o.Aspect == a && known {
				*by = r.sources.edit(src)
			}
		}
	}
	op(history.TheBody, &step.BodyBy)
	op(history.TheMode, &step.ModeBy)
	op(history.ThePath, &step.MoveBy)
}
