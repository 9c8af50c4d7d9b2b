package acp

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// permission has a person decide about a tool call.
func (t *turn) permission(dst []agent.Event, id, params jsontext.Value) ([]agent.Event, []byte) {
	about := params.Get("toolCall", "tool_call")
	callID, fresh := t.dec.askedFor(about)
	before := t.dec.announcedOf(callID)
	if c := t.dec.calls[callID]; c != nil {
		c.grants = nil // a person is asked about the files that it names now
	}
	dst = t.recheck(t.dec.takeIn(dst, callID, about.Object(nil), fresh))
	t.dec.asked(callID, before)
	c, open := t.dec.calls[callID]
	if !open { // it is over already, as the request says
		c = &call{report: agent.CallReport{ID: callID}}
		t.dec.learn(c, about.Object(nil))
	}
	c.unnamed = fresh && about.Get("toolCallId").Name() == ""
	r := c.shown(t.dec.dir)
	a := &ask{id: id.Copy(), kind: r.Kind, call: callID, shown: r, said: c.saysMore()}
	p := optionsOf(params.Get("options"))
	r.Options = p.options
	if c.writes() != agent.WritesNamed { // why the agent asks
		r.Detail = strings.TrimSpace(c.said() + r.Detail)
		r.Whole = r.Whole && len(a.said) == 0
	}
	if open && !c.started {
		call := c.report.Call(t.dec.dir)
		r.Call, dst = &call, t.dec.boundary(dst)
	}
	return t.ask(dst, a, []agent.ApprovalRequested{r}, p)
}

// askedFor returns the id of the call that a permission is asked for, and whether the call is a new one: the agent gives no id, or that of a call
// which has ended.
func (d *decoder) askedFor(about jsontext.Value) (id string, fresh bool) {
	if id = about.Get("toolCallId").Name(); id == "" {
		id = d.idOfOwn(d.calls[d.idOfOwn(false)] == nil)
	}
	if own := d.adopts[id]; own != "" {
		id = own
	}
	delete(d.earlier, id) // it is used again
	return id, d.calls[id] == nil
}

// shown is what a person is asked about the call. Detail has what the other members do not say; Whole is true if there is no such thing.
func (c *call) shown(dir string) agent.ApprovalRequested {
	call := c.report.Call(dir)
	r := agent.ApprovalRequested{
		Kind: agent.ApprovalPermission, CallID: call.ID, Title: call.Title, Command: call.Command, Paths: call.Paths, Dir: elsewhere(jsontext.Value(call.Args), dir),
	}
	if call.Command == "" && (call.Name == "shell" || call.RawName == unknownTool) {
		r.Title = plaintext.OneLine("", c.title)
	}
	if r.Title == "" {
		r.Title = "Use a tool"
	}
	if c.misleads(call.Command) {
		r.Detail = "The agent's title of it: " + plaintext.Visible(c.title, "") + "\n"
	}
	if c.announced != "" {
		r.Detail += "The agent had announced another command: " + plaintext.Visible(c.announced, "") + "\n"
	}
	if c.writes() == agent.WritesNamed { // it may be what the call writes
		r.Detail = c.said() + r.Detail
	}
	r.Detail = strings.TrimSpace(r.Detail + unsaid(&call, r.Dir, dir) + c.unsaidChanges())
	r.Whole = r.Command != "" && r.Detail == ""
	return r
}

// said has the texts of the call's content, each on lines of its own.
func (c *call) said() string {
	var b strings.Builder
	for _, text := range c.texts {
		b.WriteString(plaintext.Visible(strings.TrimSpace(text), "\n\t") + "\n")
	}
	return b.String()
}

// saysMore returns the texts of the call's content that say more than its command.
func (c *call) saysMore() []string {
	command := c.report.Call("").Command
	return slices.DeleteFunc(slices.Clone(c.texts), func(text string) bool { return repeats(text, command) })
}

// repeats reports whether a text says no more than a command. cursor-agent, which gives the command of a question as its title, has as the text "Not in
// allowlist: " and those parts of the command that its user has not allowed for good.
func repeats(text, command string) bool {
	text = strings.TrimSpace(text)
	parts, reason := strings.CutPrefix(text, "Not in allowlist")
	if !reason || parts != "" && !strings.HasPrefix(parts, ":") {
		return strings.Trim(text, "`") == strings.Trim(strings.TrimSpace(command), "`")
	}
	has := wordsOf(command)
	return !slices.ContainsFunc(wordsOf(parts), func(word string) bool { return !slices.Contains(has, word) })
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:;|&()<>\"'`", r) })
}

// textsOf returns the texts of a call's contents, and in place of what has no text its kind.
func textsOf(content jsontext.Value) (all []string) {
	for item := range content.Elements() {
		if item.Get("type").Text() != "content" {
			continue
		}
		if text := blockText(item.Get("content")); text != "" {
			all = append(all, strings.Clone(text))
		}
	}
	return all
}

// blockText returns the text of a content block. If it has none, that is what it is, such as "(image image/png)".
func blockText(block jsontext.Value) string {
	resource := block.Get("resource")
	text := cmp.Or(block.Get("text").Text(), resource.Get("text").Text())
	kind := block.Get("type").Text()
	if text != "" || kind == "text" || kind == "" {
		return text
	}
	words := kind
	for _, v := range []jsontext.Value{block.Get("mimeType"), block.Get("uri"), resource.Get("mimeType"), resource.Get("uri")} {
		words += " " + v.Text()
	}
	return "(" + plaintext.OneLine("", words) + ")"
}

// maxShown is how many bytes of an argument a person is shown, except of those of commands.
const maxShown = 4 << 10

// misleads reports whether the title has a command in backquotes that is not the one of the arguments.
func (c *call) misleads(command string) bool {
	if c.title == plaintext.Cut("`"+command+"`", maxCallTitle) {
		return false
	}
	return strings.HasPrefix(c.title, "`") || command != "" && strings.Contains(c.title, "`")
}

// unsaid lists the arguments that are not in a call's command, paths or folder, one a line. It cuts long values, except those of
// commands.
func unsaid(call *agent.Call, elsewhere, dir string) string {
	var b strings.Builder
	had := map[string]bool{}
	for k, v := range jsontext.Value(call.Args).Members() {
		key, text := string(k), v.Text()
		twice := had[key]
		had[key] = true
		switch {
		case isEmpty(v), !twice && harmless(key, v):
			continue
		case twice:
		case slices.Contains(commandKeys, key) && text != "" && text == call.Command,
			slices.Contains(folderKeys, key) && text != "" && (folder(text, dir) == filepath.Clean(dir) || folder(text, dir) == filepath.Clean(elsewhere)),
			strings.Contains(strings.ToLower(key), "path") && slices.Contains(call.Paths, text):
			continue
		}
		line := plaintext.Visible("With "+key+": "+string(v), "")
		if left := len(line) - maxShown; left > 0 && call.Name != "shell" {
			line = fmt.Sprintf("%s… (%d more bytes)", plaintext.Cut(line, maxShown), left)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

var (
	commandKeys = []string{"command", "cmd"}
	folderKeys  = []string{"workingDirectory", "working_directory", "cwd"}
)

func isEmpty(v jsontext.Value) bool {
	s := string(v)
	return v.IsNull() || s == `""` || s == "[]" || s == "{}"
}

// harmless reports whether an argument changes nothing about what a command does.
func harmless(key string, v jsontext.Value) bool {
	_, number := v.Int()
	_, is := v.Bool()
	switch key {
	case "description", "explanation", "toolCallId":
		return v.IsString()
	case "timeout", "timeoutMs", "timeout_ms", "block_until_ms", "blockUntilMs", "hardTimeout":
		return number
	case "isBackground", "is_background":
		return is
	case "timeoutBehavior":
		return strings.HasPrefix(v.Text(), "TIMEOUT_BEHAVIOR_")
	}
	return false
}

// elsewhere returns the folder in which the arguments of a call have a command run, if it is not dir.
func elsewhere(args jsontext.Value, dir string) string {
	for _, key := range folderKeys {
		if other := args.Get(key).Text(); other != "" && folder(other, dir) != filepath.Clean(dir) {
			return absolute(other, dir)
		}
	}
	return ""
}

func absolute(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func folder(name, dir string) string { return filepath.Clean(absolute(name, dir)) }

const (
	maxOptions = 50
	maxParts   = 20 // questions of one request
)

// optionsOf reads the options of a permission. An option of an unknown kind is left out: nobody could tell what it allows. So are all of those that
// share an id, also with one that is left out: the agent could take a no for a yes.
func optionsOf(list jsontext.Value) (p part) {
	kinds := map[string]agent.OptionKind{
		"allow_once": agent.AllowOnce, "allow_always": agent.AllowAlways, "reject_once": agent.RejectOnce, "reject_always": agent.RejectAlways,
	}
	times := map[string]int{noID: 2} // ours
	for v := range list.Elements() {
		times[sameID(v.Get("optionId"))]++
	}
	refusable := false
	for v := range list.Elements() {
		o := v.Object(nil)
		id := o.Get("optionId")
		option := agent.ApprovalOption{ID: id.Name(), Label: plaintext.Joined(o.Text("name")), Kind: kinds[o.Text("kind")]}
		if option.ID == "" || option.Kind == "" || times[sameID(id)] > 1 || len(p.options) == maxOptions {
			continue
		}
		if option.Label == "" {
			option.Label = option.ID
		}
		option.Label += plainly(option.Label, option.Kind)
		refusable = refusable || option.Kind == agent.RejectOnce
		p.offer(option, id)
	}
	if !refusable {
		p.offer(agent.ApprovalOption{ID: noID, Label: "Reject", Kind: agent.RejectOnce}, nil)
	}
	return p
}

// plainly returns what an option's label lacks where its words do not say what the option does, or say the opposite.
func plainly(label string, kind agent.OptionKind) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(label, "’", "'")), func(r rune) bool { return r != '\'' && !unicode.IsLetter(r) })
	has := func(list ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
	}
	no := has("no", "not", "don't", "never", "reject", "deny", "refuse", "disallow", "forbid", "block", "decline", "skip", "cancel", "stop", "abort")
	yes := has("yes", "allow", "accept", "approve", "permit", "grant", "always", "run", "ok", "okay", "proceed", "continue", "trust")
	switch {
	case kind == agent.AllowOnce || kind == agent.AllowAlways:
		if no || !yes {
			return " (a yes)"
		}
	case !no:
		return " (a no)"
	}
	return ""
}

// sameID returns the same for ids that an agent may take for the same, such as 5, 5.0 and "5".
func sameID(id jsontext.Value) string {
	name := id.Name()
	if n, err := strconv.ParseFloat(name, 64); err == nil {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return name
}

const changed = "the agent changed it after a person was asked"

// recheck takes back the permissions for calls that the agent has changed since: a person would say yes to what is no longer so.
func (t *turn) recheck(dst []agent.Event) []agent.Event {
	var stale []*ask
	t.mu.Lock()
	t.asks = slices.DeleteFunc(t.asks, func(a *ask) bool {
		c := t.dec.calls[a.call]
		is := a.kind == agent.ApprovalPermission && c != nil && (!reflect.DeepEqual(c.shown(t.dec.dir), a.shown) || !slices.Equal(c.saysMore(), a.said))
		if is {
			stale = append(stale, a)
		}
		return is
	})
	t.mu.Unlock()
	for _, a := range stale {
		if p := a.parts[0]; p.answer == nil {
			dst = append(dst, agent.ApprovalWithdrawn{ID: p.approval})
		}
		dst = append(dst, agent.Notice{Text: "The agent changed what it had asked for, and was told no: " + plaintext.OneLine("", a.shown.Title)})
		dst = t.dec.answered(dst, a.call, changed)
		t.p.write(result(jsontext.Value(a.id), outcomeResult{outcome{Outcome: "cancelled"}}))
	}
	return dst
}
