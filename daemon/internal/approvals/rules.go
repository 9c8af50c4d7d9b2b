package approvals

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/daemon/config"
	"cursord/daemon/internal/allow"
	"cursord/daemon/internal/wire"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// MaxRules is the most rules that are stored with a workspace.
const MaxRules = 1000

// Rules are what the agents of a workspace need not ask: those stored with it, and those of the configuration. One goroutine at a
// time may use them.
type Rules struct {
	root   string
	stored []storedRule
}

type storedRule struct {
	n    uint64
	rule allow.Rule // the zero one, which allows nothing, if this build does not understand the command

	Command   string        `json:"command"`
	CreatedAt sessions.Time `json:"createdAt"`
}

// A Rule is one of Rules for people. N is the number of a stored one; one of the configuration has 0, and perhaps a folder.
type Rule struct {
	N         uint64
	Command   string
	Exact     bool // without more arguments
	Folder    string
	CreatedAt sessions.Time
}

// NewRules returns the rules of the workspace root that have the records. damaged is told of records that cannot be read.
func NewRules(root string, records []sessions.Numbered, damaged func(n uint64, err error)) *Rules {
	r := &Rules{root: root}
	for _, rec := range records {
		one := storedRule{n: rec.N}
		if err := json.Unmarshal(rec.Data, &one); err != nil {
			damaged(rec.N, err)
			continue
		}
		one.rule, _ = allow.Always(one.Command)
		r.stored = append(r.stored, one)
	}
	return r
}

// Offer adds the option to make a rule of a command to its approval. None can be made of a command that is not understood, or whose
// rule would say nothing of what runs, such as "sudo".
func (r *Rules) Offer(a *sessions.Approval) {
	if rule, can := r.of(a.Command); can {
		withFolder(a, rule.Exact())
	}
}

func (r *Rules) of(command string) (rule allow.Rule, can bool) {
	rule, err := allow.Always(command)
	return rule, err == nil && !rule.RunsAny() && len(r.stored) < MaxRules
}

// Add adds the rule for a command, and returns what the store is to have; nil if there is one like it or none can be made; see Offer.
func (r *Rules) Add(command string) sessions.Op {
	rule, can := r.of(command)
	if !can || slices.ContainsFunc(r.stored, func(have storedRule) bool { return have.Command == command }) {
		return nil
	}
	add := storedRule{n: 1, rule: rule, Command: command, CreatedAt: sessions.Now()}
	if len(r.stored) > 0 {
		add.n = r.stored[len(r.stored)-1].n + 1
	}
	r.stored = append(r.stored, add)
	return sessions.PutRule{N: add.n, Data: wire.Encode(add)}
}

// Remove removes a stored rule, and returns what the store is to do; nil if there is none with this number.
func (r *Rules) Remove(n uint64) sessions.Op {
	i := slices.IndexFunc(r.stored, func(have storedRule) bool { return have.n == n })
	if i < 0 {
		return nil
	}
	r.stored = slices.Delete(r.stored, i, i+1)
	return sessions.DropRule{N: n}
}

// Allow returns the text of the rule that allows a command, and whether there is one. The stored rules come first.
func (r *Rules) Allow(command string, of []config.Approve) (rule string, allowed bool) {
	var rules []allow.Rule
	var names []string
	for _, s := range r.stored {
		rules, names = append(rules, s.rule), append(names, s.Command)
	}
	for _, c := range of {
		if r.covers(c) {
			rules, names = append(rules, c.Rule), append(names, c.Command)
		}
	}
	i := allow.First(command, rules)
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// covers reports whether a rule of the configuration holds in this workspace.
func (r *Rules) covers(c config.Approve) bool {
	if c.Folder == "" {
		return true
	}
	_, inside := paths.Within(c.Folder, r.root)
	return inside || c.Folder == r.root
}

// List returns the rules that hold in the workspace, the stored ones first.
func (r *Rules) List(of []config.Approve) []Rule {
	list := []Rule{}
	for _, s := range r.stored {
		list = append(list, Rule{N: s.n, Command: s.Command, Exact: s.rule.Exact(), CreatedAt: s.CreatedAt})
	}
	for _, c := range of {
		if r.covers(c) {
			list = append(list, Rule{Command: c.Command, Folder: c.Folder})
		}
	}
	return list
}

// About says in words for people what is asked, on one line.
func About(a *sessions.Approval) string {
	text := a.Title
	if a.Command != "" {
		text = a.Command
	} else if unsaid := slices.DeleteFunc(slices.Clone(a.Paths), func(p string) bool { return slices.Contains(strings.Fields(a.Title), p) }); len(unsaid) > 0 {
		text = fmt.Sprintf("%s: %s", a.Title, strings.Join(unsaid, ", "))
	}
	if kind := titles[a.Kind]; kind != "" && a.Kind != sessions.ApprovalPermission && text != kind {
		text = fmt.Sprintf("%s: %s", kind, text)
	}
	return plaintext.Joined(text) // one line must not look like one command
}
