package approvals

import (
	"cmp"
	"slices"
	"strings"

	"cursord/sessions"
)

// Open are a folder's pending approvals. The zero value has none.
type Open struct{ list []*Asked }

// An Asked is a pending approval with what the editor shows of it.
type Asked struct {
	*sessions.Approval
	Request string // the id of the question that the editor shows; "" if it shows none
	Due     bool   // the question is to be put once the user does not type
	Stays   bool   // it has been closed or cannot be put: something that stays tells of it until it is answered
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

// Remove removes an approval that is not pending any more, and returns it; nil if it was not there.
func (o *Open) Remove(id string) *Asked {
	one := o.Get(id)
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

// Close notes that the question was closed without an answer. The first time it is due again at the next pause in typing: the user
// may have typed it away. With remind, or later, it only stays.
func (one *Asked) Close(remind bool) {
	one.Request, one.Due, one.Stays = "", !one.Stays && !remind, true
}

// A Choice is an entry of a menu about what agents ask. Option is "" for the one that puts the question.
type Choice struct{ Title, Approval, Option string }

// Choices returns the menu of the pending approvals. An answer that does not refuse is there only if its line shows all of what is asked
// and of the answer; the first choice answers nothing.
func (o *Open) Choices() (list []Choice) {
	for _, one := range o.list {
		line, whole := About(one.Approval)
		list = append(list, Choice{"See what the agent asks: " + line, one.ID, ""})
		for _, action := range Actions(one.Approval) {
			id := Chosen(one.Approval, action.Title)
			if o := one.Option(id); o != nil && (o.Kind.Rejects() || whole && !cut(*o)) {
				list = append(list, Choice{"Answer the agent: " + action.Title + ": " + line, one.ID, id})
			}
		}
	}
	return list
}
