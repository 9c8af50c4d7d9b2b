package review

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/killed"
	"cursord/daemon/internal/survivors"
	"cursord/daemon/internal/watch"
	"cursord/diffs"
	"cursord/sessions"
)

// A desk is a workspace's loop, which stores at once.
type desk struct {
	root  string
	store *sessions.Store
	seq   uint64
}

func (d *desk) Guard(f func()) bool { f(); return false }

func (d *desk) Number() uint64 { d.seq++; return d.seq }

func (d *desk) Commit(c *Commit) error {
	for _, v := range c.Views {
		if v.Diff != nil {
			v.Diff.Rev = d.Number()
		}
	}
	ops := c.Ops
	put := func(diff *sessions.Diff) {
		if diff.Seq = d.Number(); diff.Rev == 0 {
			diff.Rev = diff.Seq
		}
		ops = append(ops, sessions.Put{Object: diff})
	}
	for _, diff := range c.Diffs {
		put(diff)
	}
	for _, v := range c.Views {
		if !slices.ContainsFunc(c.Diffs, func(diff *sessions.Diff) bool { return diff.Path == v.Path }) {
			diff := *v.Published
			put(&diff)
			v.Published = &diff
		}
	}
	c.Numbered()
	err := d.Persist(ops...)
	if c.Stored != nil {
		c.Stored(err)
	}
	return nil
}

func (d *desk) Persist(ops ...sessions.Op) error {
	stored := make(chan error, 1)
	d.store.Submit(d.root, ops, func(err error) { stored <- err })
	return <-stored
}

func (d *desk) WhenStored(then func())                         { then() }
func (d *desk) ForgetClient(api.ClientID)                      {}
func (d *desk) KeepRejections(uint64, []decisionlog.Rejection) {}
func (d *desk) KeepsRejections(uint64) bool                    { return true }
func (d *desk) ForgetRejections(uint64)                        {}

// A story is one file, an agent that writes it, and a person with an editor, a command line and other programs. Each line of the file is
// there once, and its first word says who wrote it: "base", "agent", "mine" or "other".
type story struct {
	t     require.TestingT
	loop  *desk
	setup Setup
	docs  *documents.Set
	r     *Reviewer

	editor, command api.ClientID
	version         int
	text            string   // the editor's
	saved           string   // what the editor last read or wrote
	history         []string // the texts that the editor's undo and redo lead to
	at              int      // the place of text among them
	coming          []api.DocumentEdits
	approved        map[string]bool // lines of the agent that somebody has accepted, or that count as typed
	accepted        map[string]bool // lines that may go, because somebody has accepted that, or another program has removed them

	calm  bool     // nobody has written the file since the latest decision
	lines int      // the number of the last new line
	told  []string // what happened
	steps []step   // of TestStories
}

// newStory begins a story with a file of n lines, open in the editor.
func newStory(t require.TestingT, store *sessions.Store, root string, n int) *story {
	s := &story{t: t, loop: &desk{root: root, store: store}, accepted: map[string]bool{}, approved: map[string]bool{}}
	s.docs = documents.New(func() []documents.Reviewer { return []documents.Reviewer{s.r} })
	limits := watch.DefaultLimits()
	limits.Settle = time.Hour // only requests look
	s.setup = Setup{
		Root: root, StateDir: filepath.Join(root, ".state"), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Store: store, Loop: s.loop, Killed: &killed.Turns{Dir: root},
		Documents: s.docs, Survivors: &survivors.Turns{}, Watching: limits, Settings: func() *config.Config { return &config.Config{HistorySize: 1 << 30} },
		Running: func() int { return 0 }, Polls: func(string) {},
		Damaged: func(what string, err error) { require.NoError(t, err, what) },
	}
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "base %d\n", i)
	}
	s.put(text.String())
	s.starts()
	return s
}

func (s *story) tell(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

func (s *story) path() string { return filepath.Join(s.loop.root, "f") }
func (s *story) uri() string  { return "file://" + s.path() }

func (s *story) disk() string {
	b, err := os.ReadFile(s.path())
	require.NoError(s.t, err)
	return string(b)
}

// put writes the file, long ago by its times.
func (s *story) put(text string) {
	require.NoError(s.t, os.WriteFile(s.path(), []byte(text), 0o644))
	require.NoError(s.t, os.Chtimes(s.path(), time.Time{}, time.Now().Add(-time.Hour)))
}

// starts starts a daemon's reviewer; the editor opens its document there.
func (s *story) starts() {
	var err error
	s.r, err = New(s.setup)
	require.NoError(s.t, err)
	s.editor, s.command = s.docs.NewClient(), s.docs.NewClient()
	if s.history == nil {
		s.text = s.disk()
		s.saved, s.history = s.text, []string{s.text}
	}
	s.version++
	require.NoError(s.t, s.docs.Open(s.editor, s.uri(), s.version, &s.text, false))
	s.r.Wait()
}

// restarts ends the daemon, and starts the next one.
func (s *story) restarts() {
	s.tell("the daemon restarts")
	s.docs.CloseClient(s.editor)
	s.r.Close()
	s.coming = nil
	s.starts()
}

// newLine returns a line that was never there.
func (s *story) newLine(who string) string {
	s.lines++
	return fmt.Sprintf("%s %d\n", who, s.lines)
}

// changed returns text with count of its lines, from the line at, replaced by new lines of somebody.
func (s *story) changed(text string, at, count, add int, who string) string {
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	at = min(at, len(lines))
	var now []string
	for range add {
		now = append(now, s.newLine(who))
	}
	return strings.Join(slices.Replace(slices.Clone(lines), at, min(at+count, len(lines)), now...), "")
}

// agent has the agent change lines of the file.
func (s *story) agent(at, count, add int) {
	s.agentWrites(s.changed(s.disk(), at, count, add, "agent"))
}

func (s *story) agentWrites(text string) {
	require.NoError(s.t, s.r.call(func() {
		r, was, now := s.r, regular(s.disk()), regular(text)
		f := r.shared().files["f"]
		if f != nil {
			_, err := r.refresh(f)
			require.NoError(s.t, err)
			f.Review.Begin(was, nil)
		}
		for l := range strings.Lines(string(was.Data)) {
			s.approved[l] = s.approved[l] || !strings.Contains(string(now.Data), l)
		}
		s.put(string(now.Data))
		src := diffs.Source{SessionID: "s", TurnID: "t", ItemID: fmt.Sprint("i", len(s.told)), Via: diffs.ViaEdit}
		if f == nil {
			f = r.add(r.shared(), "f", r.setup.Large.New(was))
		}
		f.Review.Observe(now, &src)
		f.agents, f.lookedAt = f.Review.Rev(), clock.Now()
		r.save(f)
	}))
	s.calm = false
	s.tell("the agent writes %s", short(s.disk()))
}

func regular(text string) diffs.Content {
	return diffs.Content{Exists: true, Data: []byte(text), Mode: 0o644}
}

// other has another program change lines of the file.
func (s *story) other(at, count, add int) {
	was := s.disk()
	s.put(s.changed(was, at, count, add, "other"))
	for l := range strings.Lines(was) {
		s.accepted[l] = s.accepted[l] || !strings.Contains(s.disk(), l)
		s.approved[l] = s.approved[l] || !strings.Contains(s.disk(), l)
	}
	s.calm = false
	s.tell("another program writes %s", short(s.disk()))
}

// types has the person change lines in the editor.
func (s *story) types(at, count, add int) {
	s.set(s.changed(s.text, at, count, add, "mine"))
	s.tell("the person types %s", short(s.text))
}

// set gives the editor another text, as a step of its history.
func (s *story) set(text string) {
	if text == s.text {
		return
	}
	s.history, s.at = append(s.history[:s.at+1:s.at+1], text), s.at+1
	s.shows(text)
}

func (s *story) shows(text string) {
	s.text, s.version = text, s.version+1
	require.NoError(s.t, s.docs.Change(s.editor, s.uri(), s.version, text, false))
}

// walks goes through the editor's own history.
func (s *story) walks(by int) {
	s.at = min(max(s.at+by, 0), len(s.history)-1)
	s.shows(s.history[s.at])
	s.typedBack()
	s.tell("the editor's undo (%d) leads to %s", by, short(s.text))
}

// looks has everybody see the present state.
func (s *story) looks() map[api.ClientID]*sessions.Diff {
	require.NoError(s.t, s.r.call(s.r.lookAtDocuments)) // it would soon
	seen := map[api.ClientID]*sessions.Diff{}
	for _, client := range []api.ClientID{s.editor, s.command} {
		all, err := s.r.Diffs(client, "", "")
		require.NoError(s.t, err)
		for _, d := range all {
			seen[client] = d
		}
	}
	return seen
}

// saves writes the editor's text to the file.
func (s *story) saves() {
	if s.saved != s.disk() {
		s.typedBack()
	}
	s.put(s.text)
	s.saved, s.calm = s.text, false
	require.NoError(s.t, s.docs.Save(s.editor, s.uri(), &s.version))
	s.tell("the editor saves")
}

// reads has the editor load the file, if its text is unchanged.
func (s *story) reads() {
	if s.text == s.saved && s.disk() != s.saved {
		s.saved = s.disk()
		s.set(s.saved)
		s.tell("the editor reads %s", short(s.text))
	}
}

// reloads has the editor read the file over an unsaved text, which its undo brings back.
func (s *story) reloads() {
	s.saved, s.coming = s.disk(), nil // edits of the text before are not made
	s.set(s.saved)
	s.tell("the editor reloads %s", short(s.text))
}

// ask makes a request, and keeps the edits that answer it.
func (s *story) ask(what string, do func(reply func(api.Decided, error))) (out api.Decided, err error) {
	do(func(d api.Decided, e error) { out, err = d, e })
	s.coming = append(s.coming, out.Edits...)
	s.calm = out.Decision != 0
	s.tell("%s: %d hunks, %d edits, %v", what, out.Applied, len(out.Edits), err)
	return out, err
}

func (s *story) decides(client api.ClientID, dec api.Decision) (api.Decided, error) {
	dec.Client, dec.AsEdits = client, client == s.editor
	what := fmt.Sprintf("%s decides (accept %v, both %v, %v)", s.who(client), dec.Accept, dec.Both, dec.Hunks)
	if dec.Lines != nil {
		what += fmt.Sprintf(" lines %d to %d", dec.Lines.From, dec.Lines.To)
	}
	return s.ask(what, func(reply func(api.Decided, error)) { s.r.Decide(context.Background(), dec, reply) })
}

func (s *story) undoes(client api.ClientID) (api.Decided, error) {
	return s.ask(s.who(client)+" undoes", func(reply func(api.Decided, error)) {
		s.r.Undo(context.Background(), client, 0, client == s.editor, reply)
	})
}

func (s *story) redoes(client api.ClientID) (api.Decided, error) {
	return s.ask(s.who(client)+" redoes", func(reply func(api.Decided, error)) {
		s.r.Redo(context.Background(), client, 0, client == s.editor, reply)
	})
}

func (s *story) merges() (api.Decided, error) {
	return s.ask("the editor merges", func(reply func(api.Decided, error)) { s.r.Merge(context.Background(), s.editor, "f", reply) })
}

func (s *story) who(client api.ClientID) string {
	if client == s.editor {
		return "the editor"
	}
	return "the command line"
}

// applies makes the edits that are on their way.
func (s *story) applies() {
	for _, e := range s.coming {
		require.Equal(s.t, s.version, e.Version)
		text := s.text
		for _, one := range slices.Backward(e.Edits) {
			text = text[:offset(text, one.Range.Start)] + one.NewText + text[offset(text, one.Range.End):]
		}
		s.set(text)
		s.tell("the editor makes the edits: %s", short(s.text))
	}
	s.coming = nil
}

// declines has the editor say that it does not make the edits that are on their way.
func (s *story) declines() {
	s.coming, s.version = nil, s.version+1
	require.NoError(s.t, s.docs.Open(s.editor, s.uri(), s.version, &s.text, false))
	s.tell("the editor does not make the edits")
}

// closes has the editor close the file without a save, and open it again.
func (s *story) closes() {
	require.NoError(s.t, s.docs.Close(s.editor, s.uri()))
	s.text, s.coming = s.disk(), nil
	s.saved, s.history, s.at, s.version = s.text, []string{s.text}, 0, s.version+1
	require.NoError(s.t, s.docs.Open(s.editor, s.uri(), s.version, &s.text, false))
	s.tell("the editor closes the file and opens it again")
}

func offset(text string, p api.Position) (n int) {
	for _, l := range strings.SplitAfter(text, "\n")[:p.Line] {
		n += len(l)
	}
	return n + len(string(utf16.Decode(utf16.Encode([]rune(text[n:]))[:p.Character])))
}

// short shortens a text for people: all but the lines of the base.
func short(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "base ", ""), "\n", "|")
}

// storyStore opens a database for the stories of a test.
func storyStore(t *testing.T) *sessions.Store {
	store, _, err := sessions.Open(filepath.Join(t.TempDir(), "db"), sessions.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
