package attribution

import (
	"bytes"
	"slices"
	"strings"

	"cursord/diffs"
)

// A Look is a content that a path was seen to have.
type Look struct {
	Content diffs.Content
	At      int64 // the beginning of the look
	Person  bool  // an editor reports that a person saved this content
	Within  bool  // the text came after the beginning of a call that names the path, so the call may have written it
	Ended   int   // how many calls that name the path had ended by then; set by the ledger
}

// A Story is the evidence about a path since it was last taken into review.
type Story struct {
	Last    *diffs.Content // the content taken in last; nil if unknown
	Agents  bool           // Last was taken in as an agent's, so it may contain the first edit already
	Looks   []Look         // looks since then, the oldest first: at the beginnings of calls, and at reports of editors
	Reports []Report       // reports of ended calls, in the order of their ends
	Disk    diffs.Content  // the present content
	Saves   int            // how many saves of the path were seen while the calls were open; 0 also if nobody counted
	Late    bool           // the disk was changed after the last of the calls had ended
}

// A Step is one text in a path's story, and the author who made it out of the text before.
type Step struct {
	Content diffs.Content
	By      *diffs.Source // nil: a person
}

// Chain orders the evidence about a path into successive texts, each by one author. The first text is the content before,
// and has no author. known is false if that content is unknown; then the only step is an agent's.
//
// For a call that reports both texts of its edit the chain is last → before → after: the first step is a person's (or that of
// [Report.Beside]), the second the agent's. A text on the disk that is newer than the last report is not in the chain, because the
// next reader of the file finds it. A call that does not report its result has left the text on the disk. If more saves were
// seen while such a call was open, or after its end, than calls and editors account for, the author is unknown (via
// "unknown").
func Chain(s Story) (steps []Step, known bool) {
	c := chain{agents: s.Agents, disk: s.Disk, looks: slices.Clone(s.Looks)}
	explained := len(s.Reports)
	for _, l := range s.Looks {
		if l.Person {
			explained++
		}
	}
	for i := len(c.looks) - 2; i >= 0; i-- { // a save may be seen before it is reported
		c.looks[i].Person = c.looks[i].Person || c.looks[i+1].Person && same(c.looks[i].Content, c.looks[i+1].Content)
	}
	c.saves, c.crowded = s.Saves, s.Saves > explained || s.Late
	if s.Last != nil {
		c.begin(*s.Last)
	}
	reports := slices.Clone(s.Reports)
	for len(reports) > 0 {
		i := c.next(reports)
		r := reports[i]
		c.others = besides(reports[:i+1])
		if c.silent == 0 {
			c.beside = c.others
		}
		reports = slices.Delete(reports, i, i+1)
		c.edit(r, reports)
	}
	for _, l := range c.looks {
		if l.Person {
			c.step(l.Content, nil)
		}
	}
	return c.steps, c.known
}

type chain struct {
	steps  []Step
	known  bool // steps begins with the content before
	agents bool // as in Story
	looks  []Look
	disk   diffs.Content
	beside *diffs.Source // the possible author of changes before the next report
	others *diffs.Source // the same, as the reports say

	silent  int  // how many calls so far have neither a reported result nor a change that was seen
	saves   int  // as in Story
	crowded bool // somebody else has saved the path too
}

func (c *chain) begin(first diffs.Content) { c.steps, c.known = []Step{{Content: first}}, true }

// now returns the latest text; nil if none is known.
func (c *chain) now() *diffs.Content {
	if len(c.steps) == 0 {
		return nil
	}
	return &c.steps[len(c.steps)-1].Content
}

// step appends a text, unless it equals the latest.
func (c *chain) step(to diffs.Content, by *diffs.Source) {
	now := c.now()
	switch {
	case now == nil:
		c.begin(to)
	case !same(*now, to):
		if to.Exists && to.Target == "" && to.Mode == 0 {
			to.Mode = now.Mode // reports do not give modes
		}
		c.steps = append(c.steps, Step{to, by})
	}
}

// comparedMax is the most reports that are ordered by their texts. In practice fewer calls write one file at a time.
const comparedMax = 8

// next returns the index of the report that comes next: the report whose edit began with the latest text, else the first to
// end of those that did not begin with another report's result.
func (c *chain) next(reports []Report) int {
	if len(reports) == 1 {
		return 0
	}
	now := c.now()
	if now != nil && isText(*now) {
		if i := slices.IndexFunc(reports, func(r Report) bool { return r.Before != nil && reads(now.Data, *r.Before) }); i >= 0 {
			return i
		}
	}
	if len(reports) > comparedMax {
		return 0
	}
	return max(0, slices.IndexFunc(reports, func(r Report) bool {
		return !slices.ContainsFunc(reports, func(other Report) bool { return r.follows(other) })
	}))
}

// edit appends the steps up to a report's edit, and the edit. later has the reports after r.
func (c *chain) edit(r Report, later []Report) {
	before, after, known := c.texts(r)
	if !known {
		c.unreported(r, len(later) == 0)
		return
	}
	if now := c.now(); c.agents && now != nil && before != nil && !same(*now, *before) && len(c.steps) == 1 {
		if has, had := remains(*now, *before, after); has > 0 && has > had {
			return // the edit was taken in before it was reported
		}
	}
	c.dropTorn(before, after)
	split := c.split(r, before, after, later)
	if now := c.now(); c.silent > 0 && c.beside != nil && now != nil && before != nil && c.changes(c.looks[:split], *before) > c.silent {
		c.beside = perhaps(*c.beside)
	}
	for _, l := range c.looks[:split] {
		by := c.author(l)
		if before == nil && by == nil && l.begins(after, later) {
			by = perhaps(r.Source) // half of the agent's text, or a person's save from which the agent went on
		}
		c.step(l.Content, by)
	}
	c.looks = c.looks[split:]
	switch now := c.now(); {
	case before == nil && now == nil && r.LeavesEmpty && !r.Deleted:
		c.begin(diffs.Content{}) // the tool has created the file
	case before == nil: // the last text seen is the best guess
	case now == nil:
		c.begin(*before)
	case !c.stale(*before):
		c.step(*before, c.beside)
	}
	if c.now() == nil {
		c.steps = []Step{{after, &r.Source}}
		return
	}
	c.step(after, &r.Source)
}

func (c *chain) author(l Look) *diffs.Source {
	if l.Person {
		return nil
	}
	return c.beside
}

// begins reports whether a look found the beginning of after, or of a later report's result. It ignores looks that an editor
// reported.
func (l Look) begins(after diffs.Content, later []Report) bool {
	if l.Person || !l.Within || !isText(l.Content) || len(l.Content.Data) == 0 {
		return false
	}
	begins := func(text []byte) bool { return bytes.HasPrefix(text, l.Content.Data) }
	return isText(after) && begins(after.Data) || slices.ContainsFunc(later, func(r Report) bool {
		return r.After != nil && begins(inFormOf(l.Content.Data, *r.After))
	})
}

// texts returns a report's texts in the file's form. before is nil if the report lacks it; known is false if it lacks after.
func (c *chain) texts(r Report) (before *diffs.Content, after diffs.Content, known bool) {
	now := c.now()
	link := now != nil && now.Target != "" // the agent reports the file that the link leads to
	switch {
	case r.Deleted:
	case r.After != nil && c.disk.Target == "":
		form := c.form(r)
		after = diffs.Content{Exists: true, Data: inFormOf(form.Data, *r.After), Mode: form.Mode}
	case r.LeavesEmpty && !c.crowded && isText(c.disk) && len(c.disk.Data) == 0:
		after = c.disk
	default:
		return nil, after, false
	}
	switch {
	case link:
		before = now
	case r.Before != nil && *r.Before == "" && c.absent():
		before = now // the agent reports a missing file as an empty one
	case r.Before != nil:
		form := c.disk
		if now != nil {
			form = *now
		} else if len(c.looks) > 0 {
			form = c.looks[0].Content
		}
		for _, l := range c.looks { // a look found exactly this text
			if isText(l.Content) && string(l.Content.Data) == *r.Before {
				form = l.Content
			}
		}
		first, _, _ := strings.Cut(*r.Before, "\n")
		if isText(c.disk) && len(c.disk.Data) > 0 && !bytes.HasPrefix(c.disk.Data, []byte(byteOrderMark)) &&
			!bytes.HasPrefix(form.Data, []byte(byteOrderMark+first)) && !reads(form.Data, *r.Before) {
			form.Data = bytes.TrimPrefix(form.Data, []byte(byteOrderMark)) // the mark is gone; the agent may not have noticed it
		}
		before = &diffs.Content{Exists: true, Data: inFormOf(form.Data, *r.Before), Mode: form.Mode}
		keeps := strings.Contains(*r.Before, "\r") || r.After != nil && strings.Contains(*r.After, "\r") // then its line ends can be trusted
		switch {
		case keeps && r.After != nil && string(c.disk.Data) == *r.After && !reads(form.Data, *r.Before):
			before.Data = []byte(*r.Before)
		case isText(form) && isText(after) && !keeps:
			before.Data = withFreshEnds(before.Data, form.Data, after.Data)
		}
		if c.cut(before.Data, after.Data) || now != nil && !related(*before, *now) && !related(after, c.disk) {
			return nil, after, false // the report is about another file, or about only a part of this one
		}
	}
	return before, after, true
}

// absent reports whether the file did not exist when the call began, and nobody was seen to create an empty one.
func (c *chain) absent() bool {
	now := c.now()
	return now != nil && !now.Exists && len(c.looks) > 0 && !c.looks[0].Content.Exists &&
		!slices.ContainsFunc(c.looks, func(l Look) bool { return l.Content.Exists && len(l.Content.Data) == 0 })
}

// form returns the text whose line ends and mode the agent's edit has: the first look that found the edit's result, else the
// disk, unless somebody is writing it at the moment.
func (c *chain) form(r Report) diffs.Content {
	text := *r.After
	for _, l := range c.looks {
		if isText(l.Content) && reads(l.Content.Data, text) && r.Before != nil && !reads(l.Content.Data, *r.Before) {
			return l.Content
		}
	}
	if isText(c.disk) && (reads(c.disk.Data, text) || bytes.IndexByte(c.disk.Data, '\n') >= 0) {
		return c.disk
	}
	for _, l := range slices.Backward(c.looks) {
		if isText(l.Content) && bytes.IndexByte(l.Content.Data, '\n') >= 0 {
			return l.Content
		}
	}
	if now := c.now(); now != nil && isText(*now) {
		return *now
	}
	return c.disk
}

// cut reports whether a report has only the beginnings of the two texts, and therefore does not give the rest.
func (c *chain) cut(before, after []byte) bool {
	now := c.now()
	begins := func(text, whole []byte) bool {
		return len(text) < len(whole) && len(text) > 0 && string(whole[:len(text)]) == string(text)
	}
	return now != nil && begins(before, now.Data) && begins(after, c.disk.Data) && string(now.Data[len(before):]) == string(c.disk.Data[len(after):])
}

// dropTorn drops looks that found a half-written file.
func (c *chain) dropTorn(before *diffs.Content, after diffs.Content) {
	prev := c.now()
	kept := c.looks[:0]
	for i, l := range c.looks {
		said := before != nil && prev != nil && same(*before, *prev)
		half := torn(l.Content, prev, after, said) || before != nil && torn(l.Content, prev, *before, false) ||
			i+1 < len(c.looks) && torn(l.Content, prev, c.looks[i+1].Content, false) || torn(l.Content, prev, c.disk, false)
		if half && !l.Person && !(before != nil && same(l.Content, *before)) {
			continue
		}
		kept = append(kept, l)
		prev = &kept[len(kept)-1].Content
	}
	c.looks = kept
}

// split returns how many looks came before the edit. A look that found a later call's result, or the disk's present content,
// came after it.
func (c *chain) split(r Report, before *diffs.Content, after diffs.Content, later []Report) int {
	from := before
	if from == nil {
		from = c.now()
	}
	i := slices.IndexFunc(c.looks, func(l Look) bool {
		switch {
		case r.precedes(l):
			return true
		case from != nil && same(l.Content, *from):
			return false
		case !l.Person && (same(l.Content, c.disk) || leftBy(later, l.Content)):
			return true
		case from == nil:
			return same(l.Content, after)
		}
		return holds(l.Content, *from, after)
	})
	if i < 0 {
		return len(c.looks)
	}
	return i
}

// stale reports whether the agent read a text from before the last look, so that its edit overwrote the text of that look.
func (c *chain) stale(before diffs.Content) bool {
	n := len(c.steps) - 1
	now := c.steps[n].Content
	if n == 0 || c.steps[n].By != nil || same(before, now) {
		return false
	}
	for i := n - 1; i >= 0; i-- {
		if same(c.steps[i].Content, before) {
			return true
		}
		if c.steps[i+1].By != nil {
			break
		}
	}
	earlier := c.steps[n-1].Content
	if !isText(earlier) || !isText(now) || !isText(before) || holds(before, earlier, now) {
		return false
	}
	// A text with lines that no look has found is newer than the looks.
	return !slices.ContainsFunc(diffs.LineEdits(string(now.Data), string(before.Data)), func(e diffs.LineEdit) bool { return e.Text != "" })
}
