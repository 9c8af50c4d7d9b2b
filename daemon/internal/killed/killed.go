// Package killed takes up what turns had changed when their daemon was killed.
//
// A running turn has its snapshot written down (snapshot.Recorded), in a folder that belongs to one life of the daemon. The next start
// compares the disk with it:
//
//   - A change that was made while the daemon certainly lived is the turn's, if a command of the turn explains it.
//   - In a file that an open edit names it may be the turn's or a person's, because nobody has heard what the edit wrote.
//   - A later change may be a person's too. It is not under review, and a notice in the turn names the file.
//
// Where there is nothing to compare with, a notice names the calls that were open.
//
// No snapshot of an isolated session's turn is written down, because nobody else works in the session's copy: all that differs there is the
// agent's.
package killed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cursord/agent"
	"cursord/daemon/config"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/wire"
	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// folders is the pattern of the folders. Each daemon makes one.
const folders = "turns-*"

// records is the pattern of the snapshots in a folder.
const records = "*.turn"

func glob(dir, pattern string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are good
	return names
}

// keptTime is how long a turn waits for its workspace, whose folder may be on a disk that is not there.
const keptTime = 30 * 24 * time.Hour

// Turns are the turns that were running when earlier daemons were killed, and the folder for those of this one.
type Turns struct {
	Dir string // for the snapshots of this life

	store *sessions.Store
	log   *slog.Logger
	old   []string // folders of earlier daemons

	mu   sync.Mutex
	left map[string][]left // guarded by mu; by root, those that nobody has taken
}

// A left is a turn that was running.
type left struct {
	turn     string
	recorded *snapshot.Recorded // nil: it was in its session's copy
}

// Open finds what earlier daemons have left in stateDir; interrupted are the turns that the last one has left in the store. Only the daemon that
// has the store may call it.
func Open(stateDir string, store *sessions.Store, interrupted []*sessions.Turn, log *slog.Logger) (*Turns, error) {
	t := &Turns{store: store, log: log, left: map[string][]left{}}
	for _, turn := range interrupted {
		if s, err := store.Session(turn.SessionID); err == nil && s.Isolation == config.IsolationCopy && turn.StartedAt != nil {
			t.left[turn.Workspace] = append(t.left[turn.Workspace], left{turn: turn.ID})
		}
	}
	t.old = glob(stateDir, folders)
	for _, dir := range t.old {
		names := glob(dir, records)
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > keptTime {
			names = nil
		}
		for _, name := range names {
			if r, err := snapshot.ReadRecorded(name); err != nil {
				log.Warn("what a turn of the last daemon had changed cannot be told", "err", err)
			} else {
				t.left[r.Root] = append(t.left[r.Root], left{r.Turn, r})
			}
		}
	}
	var err error
	t.Dir, err = os.MkdirTemp(stateDir, folders)
	return t, err
}

// Roots lists the workspaces with turns that nobody has taken.
func (t *Turns) Roots() (roots []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for root := range t.left {
		roots = append(roots, root)
	}
	slices.Sort(roots)
	return roots
}

// Done removes the folders of earlier daemons once all their turns have been taken. A turn whose workspace is not there waits.
func (t *Turns) Done() {
	if len(t.Roots()) == 0 {
		t.remove(t.old...)
	}
}

// Close removes the folder of this life. No turn may be running.
func (t *Turns) Close() { t.remove(t.Dir) }

func (t *Turns) remove(dirs ...string) {
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			t.log.Warn("a folder with snapshots of turns could not be removed", "err", err)
		}
	}
}

// Waiting reports whether a workspace has turns that nobody has taken.
func (t *Turns) Waiting(root string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.left[root]) > 0
}

// A Taken is what is known of a turn that was killed.
type Taken struct {
	Turn     *sessions.Turn
	Snapshot *snapshot.Snapshot // nil: it was in its session's copy
	By       diffs.Source       // the author of changes in the copy that are not under review yet
	Changes  []snapshot.Change  // since Snapshot
	Notices  []*sessions.Item   // for its transcript
}

// Take calls take for each turn of a workspace, once. Only one goroutine may do so at a time.
func (t *Turns) Take(root string, guard *askgit.Guard, take func(Taken)) {
	t.mu.Lock()
	all := t.left[root]
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.left, root)
	}()
	for _, l := range all {
		if err := t.takeOne(l, guard, take); err != nil {
			t.log.Warn("what a turn had changed when the last daemon was killed cannot be told", "turn", l.turn, "err", err)
		}
		if l.recorded != nil {
			l.recorded.Remove()
		}
	}
}

func (t *Turns) takeOne(l left, guard *askgit.Guard, take func(Taken)) error {
	turn, items, err := t.read(l.turn)
	if err != nil || turn.Status != sessions.TurnInterrupted {
		return err
	}
	r := l.recorded
	if r == nil {
		take(Taken{Turn: turn, By: openCall(turn, items)})
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), snapshot.LastScanTime)
	defer cancel()
	s, err := r.Restore(ctx, guard)
	if err != nil {
		var open []string
		for _, it := range items {
			if text := unseen(it); text != "" && it.Status == sessions.ItemCancelled {
				open = append(open, text)
			}
		}
		take(Taken{Turn: turn, Snapshot: snapshot.Empty(r.Root), Notices: notice(turn, len(items), strings.Join(open, "\n"))})
		return err
	}
	defer s.Close()
	b := newBlame(r, turn, items)
	changes, left := s.Scan(ctx, true, b.judge)
	take(Taken{Turn: turn, Snapshot: s, Changes: changes, Notices: notice(turn, len(items), b.about(changes, left.After(snapshot.LastScanTime)))})
	return nil
}

// openCall returns the source of changes by the call that was open when the daemon was killed. If there was none, or several, it names no call.
func openCall(turn *sessions.Turn, items []*sessions.Item) diffs.Source {
	by, open := diffs.Source{SessionID: turn.SessionID, TurnID: turn.ID, Via: diffs.ViaTool}, 0
	one := by
	for _, it := range items {
		writes := writesOf(it)
		if it.Status != sessions.ItemCancelled || writes == agent.WritesNothing {
			continue
		}
		one.ItemID, one.Via = it.ID, agentcalls.Via(it.Tool.Name)
		if open++; writes == agent.WritesNamed {
			one.Via = diffs.ViaEdit
		}
	}
	if open == 1 {
		return one
	}
	return by
}

// writesOf says what an item's call may write.
func writesOf(it *sessions.Item) agent.Writes {
	if it.Tool == nil {
		return agent.WritesNothing
	}
	return (&agent.Call{Name: it.Tool.Name, RawName: it.Tool.RawName}).Writes()
}

func (t *Turns) read(id string) (*sessions.Turn, []*sessions.Item, error) {
	turn, err := t.store.Turn(id)
	if err != nil {
		return nil, nil, err
	}
	entries, err := t.store.TurnItems(id)
	if err != nil {
		return nil, nil, err
	}
	items := make([]*sessions.Item, len(entries))
	for i, e := range entries {
		if err := json.Unmarshal(e.JSON, &items[i]); err != nil {
			return nil, nil, err
		}
	}
	return turn, items, nil
}

// early is how much earlier a call may have begun than its item. In that time a change may be a person's.
const early = time.Second

// A blame knows which changes a turn's calls explain.
type blame struct {
	root   string
	alive  int64
	ledger attribution.Ledger
	named  map[string][]window // by path, calls that name it
	late   map[string]bool     // paths that were changed when the daemon may have been dead
}

type window struct {
	source   diffs.Source
	from, to int64
}

func newBlame(r *snapshot.Recorded, turn *sessions.Turn, items []*sessions.Item) *blame {
	b := &blame{root: r.Root, alive: r.Alive, named: map[string][]window{}, late: map[string]bool{}}
	for _, it := range items {
		if it.Tool == nil || it.Status == sessions.ItemRejected {
			continue
		}
		w := window{diffs.Source{SessionID: turn.SessionID, TurnID: turn.ID, ItemID: it.ID, Via: diffs.ViaUnknown}, clock.Known(it.StartedAt.UnixNano()), r.Alive}
		if it.EndedAt != nil && it.Status != sessions.ItemCancelled { // the end of a cancelled one is that of the last write of the store
			w.to = min(w.to, clock.Known(it.EndedAt.UnixNano())+int64(time.Millisecond)) // items have whole ms
		}
		switch writesOf(it) {
		case agent.WritesNamed:
			for _, p := range it.Tool.Paths {
				p = paths.CanonicalOf(r.Root, r.Root, p, !agent.Removes(it.Tool.Name))
				b.named[p] = append(b.named[p], w)
			}
		case agent.WritesAnything:
			w.source.Via = agentcalls.Via(it.Tool.Name)
			b.ledger.End(b.ledger.OpenAny(w.source, w.from-int64(early), w.from), w.to)
		}
	}
	return b
}

// judge returns the author of a change.
func (b *blame) judge(c snapshot.ChangeTime) (a snapshot.Attribution) {
	if c.When > b.alive {
		b.late[c.Path] = true
		return a
	}
	for _, w := range slices.Backward(b.named[c.Path]) {
		if c.When < w.from-int64(early) || c.When > w.to {
			continue
		}
		a.Source = &w.source
		return a
	}
	if editorfile.Own(c.Path) {
		return a
	}
	of := attribution.Change{When: c.When}
	for _, e := range c.Earlier {
		of.Earlier = append(of.Earlier, attribution.Change{When: e.When, By: e.By})
	}
	src := b.ledger.Author(of)
	if src != nil && editorfile.Locked(filepath.Join(b.root, filepath.FromSlash(c.Path))) {
		maybe := *src
		maybe.Via = diffs.ViaUnknown
		src = &maybe
	}
	a.Source = src
	return a
}

// about says which changes cannot be told apart; left says which were not found.
func (b *blame) about(changes []snapshot.Change, left string) (text string) {
	const most = 20
	var late []string
	for _, c := range changes {
		if c.From != nil && b.late[c.From.Path] {
			late = append(late, c.From.Path)
		}
		if b.late[c.Path] {
			late = append(late, c.Path)
		}
	}
	if len(late) > 0 {
		names := make([]string, min(len(late), most))
		for i := range names {
			names[i] = paths.Shown(late[i])
		}
		if more := len(late) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		text = "Changed when the daemon was killed, or later: " + strings.Join(names, ", ") +
			". These changes may be the agent's or yours, so they are not under review."
	}
	return strings.TrimSpace(text + " " + left)
}

// notice returns a notice for a turn that has n items, if there is something to say.
func notice(turn *sessions.Turn, n int, text string) []*sessions.Item {
	if text == "" {
		return nil
	}
	at := *cmp.Or(turn.EndedAt, &turn.CreatedAt)
	return []*sessions.Item{{
		ID: sessions.ItemID(turn.ID, n), TurnID: turn.ID, SessionID: turn.SessionID, Workspace: turn.Workspace,
		Index: n, Kind: sessions.ItemNotice, Status: sessions.ItemCompleted, Text: text, StartedAt: at, EndedAt: &at,
	}}
}

// LeftOpen returns a function for [sessions.Options]. It returns a notice if the item's changes may be missing in the review: nothing was
// written down to compare the disk with, and the session has no copy.
func LeftOpen(stateDir string) func(*sessions.Item) string {
	recorded := sync.OnceValue(func() map[string]bool {
		turns := map[string]bool{}
		for _, dir := range glob(stateDir, folders) {
			for _, name := range glob(dir, records) {
				if r, err := snapshot.ReadRecorded(name); err == nil {
					turns[r.Turn] = true
				}
			}
		}
		return turns
	})
	return func(it *sessions.Item) string {
		_, noCopy := os.Stat(copytree.Dir(stateDir, it.SessionID))
		if text := unseen(it); text != "" && noCopy != nil && !recorded()[it.TurnID] {
			return text
		}
		return ""
	}
}

// unseen says that the changes of an item may be missing in the review; "" if the item changes no files.
func unseen(it *sessions.Item) string {
	if writesOf(it) == agent.WritesNothing {
		return ""
	}
	return fmt.Sprintf("The daemon was killed while this ran: %s. Its changes may not be listed for review.",
		cmp.Or(it.Tool.Title, it.Tool.Command, it.Tool.Name))
}

// Unanswered returns the call for which the agent was asking permission when the daemon was killed. If the call is cut, the second
// result has all of it.
func Unanswered(a *sessions.Approval) (*sessions.Tool, []byte) {
	tool := &sessions.Tool{
		CallID: a.CallID, Name: "other", RawName: "other", Title: a.Title, Command: a.Command, Paths: append([]string{}, a.Paths...),
		Error: "the daemon was killed before anybody allowed it, so it did not run",
	}
	if a.Command != "" {
		tool.Name, tool.RawName = "shell", "shell"
	}
	return wire.CutTool(tool)
}
