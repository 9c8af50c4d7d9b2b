package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// A call is a tool call of the turn that has not ended.
type call struct {
	report    agent.CallReport
	kind      string
	title     string
	tool      string // the tool's name, where the agent gives one
	status    string
	result    json.RawMessage // rawOutput
	text      string          // of content
	texts     []string        // its parts
	changes   []change        // of content
	started   bool            // its ToolStart is emitted
	titled    bool            // Args are of the title
	asks      int             // permissions for it that nobody has answered
	asked     time.Time       // when the first permission was asked; zero: never
	unnamed   bool            // it was asked for without an id, and not announced
	announced string          // the command that the agent had announced, if it asked for another one; see does
	allowed   string          // what was allowed, as does says it; "" nothing
	grants    []string        // the files that it named when it was allowed, and those that people were told of since; nil: none is compared
	refused   string          // why it was not allowed, or ""
	refusedAt time.Time       // when the agent was told that
	goesOn    bool            // the agent has said since then that it is doing it, or has done it
	guessed   bool            // result is no word of the agent's; see agent.ToolEnd.Guess
	told      []string        // once goOn has ended it: the files that its end, and late ones, have named, without those in open
	open      []string        // once goOn has ended it: the files that had not changed
	since     time.Time       // when the line came by which it may have begun; zero while it certainly has not
}

// kindNames are the names of package agent for ACP's kinds of calls. A kind that is missing here may write anything.
var kindNames = map[string]string{
	"read": "read", "edit": "edit", "delete": "delete", "search": "search", "execute": "shell", "fetch": "fetch",
}

// rawName returns a name for the tool of a call, by which agent.ToolNamed finds its kind. A title is generic text of the agent's: it
// decides only where the agent gives no kind, or says what of the tools that write nothing of their own the kind "other" stands for.
func rawName(name, title, kind string) string {
	if name != "" {
		return name
	}
	byKind := kindNames[kind]
	switch byTitle := agent.ToolNamed(title); {
	case byTitle == "other":
	case kind == "", byTitle == "mcp", byTitle == "task", kind == "other" && (byTitle == "todo" || byTitle == "question"):
		return title
	case byKind != "" && agent.WritesOf(byTitle) == agent.WritesOf(byKind):
		return title // a finer name of the same
	}
	if byKind != "" {
		return byKind
	}
	if title != "" && kind != "" && len(title) <= maxTitle {
		return title
	}
	return unknownTool
}

const (
	nowhere      = "Something" // behind "edit": a call that named no file, and so may have written any
	maxTitle     = 60          // bytes of a title that may stand for a tool's name
	maxCallTitle = 4 << 10     // bytes that are kept of a title
	unknownTool  = "unknown"
)

// toolCall takes in a tool_call, a tool_call_update or the toolCall of a request. fresh says that it is a tool_call.
func (d *decoder) toolCall(dst []agent.Event, u jsontext.Value, fresh bool) []agent.Event {
	o := u.Object(nil)
	id := o.Get("toolCallId").Name()
	if id == "" { // an update is about the latest call without an id
		id = d.idOfOwn(fresh || d.nameless == 0)
	}
	return d.takeIn(dst, d.adopted(id, o, fresh), o, fresh)
}

// takeIn takes in what a message says of the call with an id.
func (d *decoder) takeIn(dst []agent.Event, id string, o jsontext.Object, fresh bool) []agent.Event {
	c := d.calls[id]
	if c == nil {
		if d.ended[id] && !fresh {
			return d.late(dst, id, o)
		}
		if d.earlier[id] && !fresh { // its turn has ended, and so has the call
			d.unknown[lateUpdate]++
			return dst
		}
		delete(d.ended, id)
		delete(d.earlier, id)
		delete(d.passed, id)
		c = &call{report: agent.CallReport{ID: id}, status: "pending"}
		d.calls[id] = c
		d.order = append(d.order, id)
	}
	d.learn(c, o)
	return d.progress(d.swapped(dst, c), c)
}

// idOfOwn returns an id for a call of which the agent gives none: that of the latest one, or another.
func (d *decoder) idOfOwn(another bool) string {
	if another {
		d.nameless++
	}
	id := fmt.Sprintf("call-without-id-%d", d.nameless)
	delete(d.earlier, id)
	return id
}

// adopted returns the id under which the decoder has a call of the agent's. The agent may have asked for it without an id, and announces it with one now.
func (d *decoder) adopted(id string, o jsontext.Object, fresh bool) string {
	if own := d.adopts[id]; own != "" && !(fresh && d.ended[own]) {
		return own
	}
	delete(d.adopts, id)
	own := d.idOfOwn(false)
	c := d.calls[own]
	if !fresh || id == own || d.calls[id] != nil || c == nil || !c.unnamed {
		return id
	}
	now := &call{report: agent.CallReport{ID: id}}
	if d.learn(now, o); now.name() != c.name() || now.does(d.dir) != c.does(d.dir) || !slices.Equal(now.report.Call(d.dir).Paths, c.report.Call(d.dir).Paths) {
		return id
	}
	d.adopts[id], c.unnamed = own, false
	return own
}

// learn adds what a message says of a call: each member that is there replaces the one before.
func (d *decoder) learn(c *call, o jsontext.Object) {
	if s := o.Text("title"); s != "" {
		c.title = plaintext.Cut(s, maxCallTitle)
	}
	if s := o.Text("kind"); s != "" {
		c.kind = s
	}
	if s := o.Text("status"); s != "" {
		c.status = s
		c.goesOn = c.goesOn || c.refused != "" && (s == "in_progress" || s == "completed" && len(changesOf(o.Get("content"))) > 0)
	}
	switch args := o.Get("rawInput"); {
	case isEmpty(args):
	case args.IsObject():
		c.input(args.Copy())
	default:
		c.input(append(append([]byte(`{"arguments":`), args.Copy()...), '}'))
	}
	if r := o.Get("rawOutput"); !r.IsNull() && !(r.IsObject() && len(r.Object(nil)) == 0) {
		c.result = r.Copy()
	}
	for l := range o.Get("locations").Elements() {
		c.addPath(l.Get("path").Text())
	}
	for item := range o.Get("content").Elements() {
		if item.Get("type").Text() == "diff" {
			c.addPath(item.Get("path").Text())
		}
	}
	if all := changesOf(o.Get("content")); len(all) > 0 {
		c.changes = all
	}
	if all := textsOf(o.Get("content")); len(all) > 0 {
		c.texts, c.text = all, strings.Join(all, "")
	}
	if s := o.Text("name"); s != "" {
		c.tool = s
	}
	c.report.RawName = rawName(c.tool, c.title, c.kind)
	c.report.Title = c.title
	if agent.ToolNamed(c.report.RawName) == "shell" && (len(c.report.Args) == 0 || c.titled) {
		if command, ok := quotedCommand(c.title); ok {
			c.titled = true
			c.report.Args = json.RawMessage(append(append([]byte(`{"command":`), jsontext.Quote(command)...), '}'))
		}
	}
}

func (c *call) addPath(path string) {
	if path != "" && !slices.Contains(c.report.Paths, path) && len(c.report.Paths) < maxPaths {
		c.report.Paths = append(c.report.Paths, path)
	}
}

// quotedCommand returns the command of a title that is nothing but a command in backquotes.
func quotedCommand(title string) (string, bool) {
	inner, ok := strings.CutPrefix(title, "`")
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, "`")
	return inner, ok && inner != "" && !strings.Contains(inner, "`")
}

// name returns the call's name in the words of package agent.
func (c *call) name() string { return agent.ToolNamed(c.report.RawName) }

// writes returns what the call may write.
func (c *call) writes() agent.Writes {
	return (&agent.Call{Name: c.name(), RawName: c.report.RawName}).Writes()
}

// progress emits what the call's state now says.
func (d *decoder) progress(dst []agent.Event, c *call) []agent.Event {
	over := c.status == "completed" || c.status == "failed"
	if over {
		if c.asks > 0 {
			return dst // its end is told once the question is closed
		}
		return d.finish(dst, c, c.status == "failed")
	}
	if c.started || c.asks > 0 {
		return dst
	}
	running := c.status == "in_progress"
	switch c.writes() {
	case agent.WritesNamed:
		if path := c.report.Call(d.dir).Paths; len(path) > 0 {
			return d.start(dst, c, time.Time{})
		}
	case agent.WritesNothing:
		if running || len(c.report.Args) > 0 || len(c.report.Paths) > 0 {
			return d.start(dst, c, time.Time{})
		}
	default:
		if c.refused != "" && !c.goesOn {
			return dst
		}
		switch dst = d.before(dst); {
		case running:
			return d.start(dst, c, time.Time{})
		case c.since.IsZero() && len(c.report.Args) > 0:
			c.since = d.now()
		}
	}
	return dst
}

// start emits a call's ToolStart; said is when it began, if that is known better than by the coming of the event.
func (d *decoder) start(dst []agent.Event, c *call, said time.Time) []agent.Event {
	c.started, c.since = true, time.Time{}
	return append(d.boundary(dst), agent.ToolStart{Call: c.report.Call(d.dir), Said: said})
}

// finish emits a call's ToolEnd. A command of which nothing said that it ran has no ToolStart: it may have begun at any time.
func (d *decoder) finish(dst []agent.Event, c *call, failed bool) []agent.Event {
	refused := c.refused
	if refused != "" && d.ranAllTheSame(c, failed) {
		refused = ""
	}
	if end := c.report.End(d.dir, c.result, failed, ""); len(end.Call.Paths) == 0 && end.Call.Writes() == agent.WritesNamed {
		c.report.RawName = c.name() + nowhere
	}
	if !c.started {
		dst = d.boundary(dst)
		if refused == "" && c.writes() != agent.WritesAnything {
			dst = d.start(dst, c, time.Time{})
		}
	}
	result := c.result
	if len(result) == 0 && c.text != "" {
		result = append(append([]byte(`{"output":`), jsontext.Quote(c.text)...), '}')
	}
	end := c.report.End(d.dir, result, failed, refused)
	end.Guess = c.guessed
	if c.refused != "" {
		end.Call.Denials = nil // nobody needs to be told how to allow what a person has refused
		end.Asked, end.Refused = c.asked, d.aloneSince(c)
	}
	d.changes(&end, c)
	dst = append(d.close(dst, c), end)
	if refused != "" && !c.asked.IsZero() {
		c.told = append(c.told, changedPaths(&end)...)
		if d.passed[c.report.ID] == nil {
			d.passed[c.report.ID] = c
		}
	}
	if c.refused != "" && refused == "" {
		dst = append(dst, agent.Notice{Text: "The agent " + c.did() + " this although it was refused: " + end.Call.Title})
	}
	return dst
}

// changes names the files that a call may have written, without contents: the disk has them. A refused one may have written those that have
// changed since the agent asked for it.
func (d *decoder) changes(end *agent.ToolEnd, c *call) {
	if end.Call.Writes() != agent.WritesNamed || end.State == agent.CallRejected && !d.wroteSinceAsked(c) {
		return
	}
	end.Call.Changes = nil
	if end.State == agent.CallCompleted {
		for _, p := range end.Call.Paths {
			d.written[d.absolute(p)] = d.changedAt(end.Call.Name, p)
		}
	}
	for _, p := range end.Call.Paths {
		change := agent.FileChange{Path: p}
		if agent.Removes(end.Call.Name) {
			_, err := os.Lstat(d.absolute(p))
			change.Deleted = d.apart && end.State == agent.CallCompleted || !d.apart && os.IsNotExist(err)
		}
		end.Call.Changes = append(end.Call.Changes, change)
	}
}

func (d *decoder) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.dir, path)
}

func (d *decoder) close(dst []agent.Event, c *call) []agent.Event {
	id := c.report.ID
	if c.writes() == agent.WritesAnything {
		d.quiet = d.now().Add(-tick)
	}
	c.changes = nil
	delete(d.calls, id)
	d.order = slices.DeleteFunc(d.order, func(other string) bool { return other == id })
	d.ended[id] = true
	return dst
}

// inCall reports whether a call is open that runs.
func (d *decoder) inCall() bool {
	for _, c := range d.calls {
		if c.started {
			return true
		}
	}
	return false
}

// inCommand reports whether a call is open that may have started processes.
func (d *decoder) inCommand() bool {
	for _, c := range d.calls {
		if c.started && c.writes() == agent.WritesAnything {
			return true
		}
	}
	return false
}

// openTitles lists the calls that run, for people.
func (d *decoder) openTitles() (titles []string) {
	for _, id := range d.order {
		if c := d.calls[id]; c.started {
			titles = append(titles, c.report.Call(d.dir).Title)
		}
	}
	return titles
}
