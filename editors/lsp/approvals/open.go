package approvals

import (
	"cmp"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

// Open are a folder's pending approvals. The zero value has none.
type Open struct {
	list []*Asked
	puts int // how many questions have been put
}

// An Asked is a pending approval with what the editor shows of it.
type Asked struct {
	*sessions.Approval
	Request string // the id of the question that the editor shows; "" if it shows none
	Due     bool   // the question is to be put once the user does nothing
	Again   bool   // it is due once more when the user has typed on
	Stays   bool   // it has been closed or cannot be put: something that stays tells of it until it is answered

	Ended *sessions.Approval // how it ended; nil while it is pending
	put   int                // the latest of its puts
}

// Add adds a pending approval, whose question is due; nil if it is there already.
func (o *Open) Add(a *sessions.Approval) *Asked {
	if o.Get(a.ID) != nil {
		return nil
	}
	one := &Asked{Approval: a, Due: true}
	o.list = append(o.list, one)
	slices.SortStableFunc(o.list, func(a, b *Asked) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), strings.Compare(a.ID, b.ID))
	})
	return one
}

// Remove removes an approval that is not pending any more, and returns it with its end; nil if it was not there.
func (o *Open) Remove(ended *sessions.Approval) *Asked {
	one := o.Get(ended.ID)
	if one != nil {
		one.Ended = ended
	}
	o.list = slices.DeleteFunc(o.list, func(a *Asked) bool { return a == one })
	return one
}

// Get returns the pending approval with an id, or nil.
func (o *Open) Get(id string) *Asked {
	if i := slices.IndexFunc(o.list, func(one *Asked) bool { return one.ID == id }); i >= 0 {
		return o.list[i]
	}
	return nil
}

// All returns the pending approvals, the first one asked first.
func (o *Open) All() []*Asked { return slices.Clone(o.list) }

// Staying returns the first of those of which something that stays tells; nil if there is none.
func (o *Open) Staying() *Asked {
	if i := slices.IndexFunc(o.list, func(one *Asked) bool { return one.Stays && one.Request == "" }); i >= 0 {
		return o.list[i]
	}
	return nil
}

// Put notes that the question is put.
func (o *Open) Put(one *Asked) {
	o.puts++
	one.put, one.Due, one.Again = o.puts, false, false
}

// Next returns those that the editor does not show, the one first that was put the longest ago.
func (o *Open) Next() []*Asked {
	list := slices.DeleteFunc(o.All(), func(one *Asked) bool { return one.Request != "" })
	slices.SortStableFunc(list, func(a, b *Asked) int { return cmp.Compare(a.put, b.put) })
	return list
}

// Close notes that the question was closed without an answer. The first time it is due again when the user has typed on: they may have
// typed it away. With remind, or later, it only stays.
func (one *Asked) Close(remind bool) {
	one.Request, one.Again, one.Stays = "", !one.Stays && !remind, true
}

// Typed makes the questions due that somebody may have typed away.
func (o *Open) Typed() {
	for _, one := range o.list {
		one.Due, one.Again = one.Due || one.Again, false
	}
}

// Ended says for people how an approval ended, behind "it".
func Ended(a *sessions.Approval) string {
	const most = 60 // characters of an answer
	switch {
	case a == nil || a.Status == sessions.ApprovalWithdrawn:
		return "the agent does not wait for it any more"
	case a.Status == sessions.ApprovalExpired:
		return "nobody had answered in time, and the agent was told no"
	case a.Answer == nil || a.Answer.OptionID == noAnswer:
		return "it had been ended without an answer"
	case a.Answer.Rule != "":
		return "it was already allowed by the rule " + plaintext.FirstLine(plaintext.InFull(a.Answer.Rule), most)
	}
	said := a.Answer.Text
	if o := a.Option(a.Answer.OptionID); o != nil {
		said = o.Label
	}
	return "it was already answered with " + plaintext.FirstLine(plaintext.InFull(said), most)
}

// A Choice is an entry of a menu about what agents ask. Option is "" for the one that puts the question.
type Choice struct{ Title, Approval, Option string }

// Choices returns the menu of the pending approvals. An answer that does not refuse is there only if its line shows all of what is asked
// and of the answer, or the reader has that before them: seen says so. The first choice answers nothing.
func (o *Open) Choices(seen func(*Asked) bool) (list []Choice) {
	for _, one := range o.list {
		line, whole := About(one.Approval)
		list = append(list, Choice{"See what the agent asks: " + line, one.ID, ""})
		for _, action := range Actions(one.Approval) {
			id := Chosen(one.Approval, action.Title)
			o := one.Option(id)
			if id == noAnswer || o != nil && (o.Kind.Rejects() || whole && !cut(*o) || seen(one)) {
				list = append(list, Choice{"Answer the agent: " + action.Title + ": " + line, one.ID, id})
			}
		}
	}
	return list
}
