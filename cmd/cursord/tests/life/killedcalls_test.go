//go:build linux

package life

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A midTurn is a world whose daemon is to be killed while a call of an agent is open.
type midTurn struct {
	*world.World
	e    *world.Editor
	turn *sessions.Turn
	env  []string
}

const acpBuild = "CURSORD_FAKE_BUILD=2026.10.01-e373342"

// midTurns runs a test with each driver. Each has the same files, and an agent that plays lines, which end in an open call.
func midTurns(t *testing.T, print, acp []string, test func(m *midTurn)) {
	for driver, lines := range map[string][]string{"print": print, "acp": acp} {
		if lines == nil {
			continue
		}
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			m := &midTurn{World: world.New(t)}
			if driver == "acp" {
				m.env = []string{acpBuild}
			}
			m.Start(m.env...)
			m.e = m.Opens()
			m.PutAll(world.Tree{"a.txt": "one\ntwo\n", "g/gone.txt": "gone\n", "mine.txt": "mine\n", "d/b.txt": "b\n"})
			m.Commits()
			m.Put("dirty.txt", "not committed\n")
			m.Plays(lines...)
			m.turn = m.e.Asks(world.Obj{"driver": driver})
			test(m)
		})
	}
}

// settles waits until the daemon has shown that it lived after the latest changes of files.
func (m *midTurn) settles(names ...string) {
	m.T.Helper()
	for _, name := range names {
		m.Exists(name)
	}
	now := time.Now()
	require.True(m.T, world.Comes(world.Patience, func() bool {
		records, _ := filepath.Glob(filepath.Join(m.Dir, "state", "turns-*", "*.turn"))
		return slices.ContainsFunc(records, func(name string) bool {
			info, err := os.Stat(name)
			return err == nil && info.ModTime().After(now.Add(20*time.Millisecond))
		})
	}), "the turn is not recorded")
}

// kills kills the daemon, has a person do something, and starts the next daemon.
func (m *midTurn) kills(meanwhile func()) {
	m.T.Helper()
	m.Kill()
	<-m.e.Client.Done()
	if meanwhile != nil {
		meanwhile()
	}
	m.Start(m.env...)
	m.e = m.Joins()
	m.e.Must("workspace/subscribe", world.Obj{"workspace": m.Root, "after": 0}, nil)
	require.Equal(m.T, sessions.TurnInterrupted, m.e.Ends(m.turn.ID).Status)
	world.Audit(m.T, m.e.All()) // nothing of the turn comes after its end
	require.Empty(m.T, world.Processes(m.T, "CURSORD_SOCKET="+m.Socket(), "CURSORD_SESSION_ID="+m.turn.SessionID), "agents outlive the daemon")
}

// tool returns the item of the turn's only call.
func (m *midTurn) tool() *sessions.Item {
	m.T.Helper()
	var page struct{ Items []*sessions.Item }
	m.e.Must("session/read", world.Obj{"sessionId": m.turn.SessionID}, &page)
	var tools []*sessions.Item
	for _, it := range page.Items {
		if it.Tool != nil {
			tools = append(tools, it)
		}
	}
	require.Len(m.T, tools, 1)
	return tools[0]
}

// lists requires these files to be under review, as written by the turn.
func (m *midTurn) lists(via string, paths ...string) {
	m.T.Helper()
	diffs := m.e.Diffs()
	require.Equal(m.T, paths, world.Sorted(world.Keys(diffs)))
	for path, d := range diffs {
		require.Equal(m.T, []string{via}, slices.Compact(world.Vias(d)), path)
		for _, h := range d.Hunks {
			for _, s := range h.Sources {
				require.Equal(m.T, m.turn.ID, s.TurnID, path)
			}
		}
	}
}

// shows requires the turn's only call to show these changes.
func (m *midTurn) shows(want ...string) {
	m.T.Helper()
	var shown []string
	for _, c := range m.tool().Changes {
		shown = append(shown, fmt.Sprintf("%s %s +%d -%d", c.Kind, c.Path, c.Added, c.Removed))
	}
	require.ElementsMatch(m.T, want, shown)
}

func (m *midTurn) rejectsAll() {
	m.e.Must("diff/reject", world.Obj{"workspace": m.Root, "all": true}, nil)
}

// TestKilledInAnEdit: the file that an open edit had written is under review.
func TestKilledInAnEdit(t *testing.T) {
	t.Parallel()
	edit := world.Edits("1", "a.txt", "one\ntwo\n", "one\nTWO\n")
	wait := world.Waits("go")
	midTurns(t, []string{world.InitLine, edit[0], edit[1], `{"fake":"exec","argv":["touch","../written"]}`, wait},
		[]string{`{"fake":"edit","path":"a.txt","text":"one\nTWO\n"}`, `{"fake":"exec","argv":["touch","../written"]}`, wait},
		func(m *midTurn) {
			m.settles("../written")
			m.e.Calls(m.turn.ID)
			m.kills(nil)
			it := m.tool()
			require.Equal(m.T, []string{"a.txt"}, it.Tool.Paths)
			require.Equal(m.T, sessions.ItemCancelled, it.Status)
			m.lists("unknown", "a.txt") // a person may have saved the file then
			m.shows("modified a.txt +1 -1")
			m.rejectsAll()
			require.Equal(m.T, "one\nTWO\n", m.Get("a.txt"))
			m.e.Must("diff/reject", world.Obj{"workspace": m.Root, "hunks": []string{m.e.Diffs()["a.txt"].Hunks[0].ID}}, nil)
			require.Equal(m.T, "one\ntwo\n", m.Get("a.txt"))
		})
}

// TestSavedInAnEditBeforeTheKill: a person's save while an edit of the file is open may be a person's after a kill, too: no reject of all
// hunks takes it.
func TestSavedInAnEditBeforeTheKill(t *testing.T) {
	t.Parallel()
	edit := world.Edits("1", "a.txt", "one\ntwo\n", "one\nTWO\n")
	touch, wait := `{"fake":"exec","argv":["touch","../begun"]}`, world.Waits("go")
	midTurns(t, []string{world.InitLine, edit[0], touch, wait}, []string{`{"fake":"edit","path":"a.txt","text":"one\ntwo\n"}`, touch, wait}, func(m *midTurn) {
		m.settles("../begun")
		m.e.Calls(m.turn.ID)
		m.Put("a.txt", "one\nmine\n")
		m.settles()
		m.kills(nil)
		m.rejectsAll()
		require.Equal(m.T, "one\nmine\n", m.Get("a.txt"))
	})
}

const changes = "sleep 0.2; echo more >>a.txt; rm g/gone.txt; mkdir e; echo new >e/new.txt; echo more >>dirty.txt; mv d/b.txt d/c.txt; touch ../changed; until test -e ../go; do sleep 0.02; done"

func shellOpen(command string) (print, acp []string) {
	lines := world.Shells("1", command)
	return []string{world.InitLine, lines[0], lines[1]}, []string{fmt.Sprintf(`{"fake":"shell","command":%q}`, command)}
}

// TestKilledInACommand: what a command had changed is under review. What a person has written since is not, and is named.
func TestKilledInACommand(t *testing.T) {
	t.Parallel()
	print, acp := shellOpen(changes)
	midTurns(t, print, acp, func(m *midTurn) {
		m.settles("../changed")
		m.e.Calls(m.turn.ID)
		m.kills(func() {
			m.Put("mine.txt", "mine\nmore\n")
			m.Put("my new.txt", "mine\n")
		})
		it := m.tool()
		require.NotEmpty(m.T, it.Tool.Command)
		require.Equal(m.T, sessions.ItemCancelled, it.Status)
		m.lists("shell", "a.txt", "d/c.txt", "dirty.txt", "e/new.txt", "g/gone.txt")
		require.Equal(m.T, it.ID, m.e.Diffs()["a.txt"].Hunks[0].Sources[0].ItemID)
		m.shows("modified a.txt +1 -0", "renamed d/c.txt +0 -0", "modified dirty.txt +1 -0", "created e/new.txt +1 -0", "deleted g/gone.txt +0 -1")
		m.e.Until("the notice", func(n world.Notification) bool {
			return n.Item != nil && n.Item.Kind == sessions.ItemNotice && strings.Contains(n.Item.Text, "mine.txt") && strings.Contains(n.Item.Text, "my new.txt") &&
				!strings.Contains(n.Item.Text, "a.txt")
		})
		m.rejectsAll()
		require.Equal(m.T, "one\ntwo\n", m.Get("a.txt"))
		require.Equal(m.T, "gone\n", m.Get("g/gone.txt"))
		require.Equal(m.T, "not committed\n", m.Get("dirty.txt"))
		require.Equal(m.T, "b\n", m.Get("d/b.txt"))
		require.Equal(m.T, "(absent)", m.Get("e/new.txt"))
		require.Equal(m.T, "mine\nmore\n", m.Get("mine.txt"))
		require.Equal(m.T, "mine\n", m.Get("my new.txt"))
	})
}

// TestSavedAfterTheKill: a file that a command had changed and a person has saved since cannot be told apart: it is not under review, and is named.
func TestSavedAfterTheKill(t *testing.T) {
	t.Parallel()
	print, acp := shellOpen(changes)
	midTurns(t, print, acp, func(m *midTurn) {
		m.settles("../changed")
		m.e.Calls(m.turn.ID)
		m.kills(func() { m.Put("a.txt", "one\ntwo\nmore\nand mine\n") })
		m.lists("shell", "d/c.txt", "dirty.txt", "e/new.txt", "g/gone.txt")
		m.e.Until("the notice", func(n world.Notification) bool {
			return n.Item != nil && n.Item.Kind == sessions.ItemNotice && strings.Contains(n.Item.Text, "a.txt") && !strings.Contains(n.Item.Text, "dirty.txt")
		})
		m.rejectsAll()
		require.Equal(m.T, "one\ntwo\nmore\nand mine\n", m.Get("a.txt"))
	})
}

// TestWrittenAfterTheKill: a command that goes on after the kill is ended at the next start, and what it wrote meanwhile is named.
func TestWrittenAfterTheKill(t *testing.T) {
	t.Parallel()
	print, acp := shellOpen("touch ../begun; trap '' TERM HUP PIPE; until test -e ../dead; do sleep 0.01; done; echo late >>a.txt; touch ../late; sleep 100")
	midTurns(t, print, acp, func(m *midTurn) {
		m.settles("../begun")
		m.e.Calls(m.turn.ID)
		m.kills(func() {
			m.Put("../dead", "")
			m.Exists("../late")
		})
		require.Empty(m.T, m.e.Diffs())
		m.e.Until("the notice", func(n world.Notification) bool {
			return n.Item != nil && n.Item.Kind == sessions.ItemNotice && strings.Contains(n.Item.Text, "a.txt")
		})
	})
}

// TestKilledAfterCommands: what was decided and saved before the kill is not found again.
func TestKilledAfterCommands(t *testing.T) {
	t.Parallel()
	first := world.Shells("1", "echo kept >>a.txt; echo left >>d/b.txt")
	second := world.Shells("2", "until test -e ../decided; do sleep 0.01; done; echo more >>g/gone.txt; touch ../changed; sleep 100")
	midTurns(t, slices.Concat([]string{world.InitLine}, first, second[:2]), nil, func(m *midTurn) {
		m.e.Until("the second call", func(n world.Notification) bool {
			return n.Item != nil && n.Item.Tool != nil && n.Item.Tool.CallID == "2"
		})
		m.e.Must("diff/accept", world.Obj{"workspace": m.Root, "path": "a.txt"}, nil)
		doc := m.e.OpenDocument("mine.txt")
		doc.Set("mine\nsaved\n")
		m.e.Must("diff/list", world.Obj{"workspace": m.Root}, nil) // the daemon has the text before the file does
		doc.Save()
		m.e.Must("diff/list", world.Obj{"workspace": m.Root}, nil)
		m.Put("../decided", "")
		m.settles("../changed")
		m.kills(nil)
		m.lists("shell", "d/b.txt", "g/gone.txt")
		m.rejectsAll()
		require.Equal(m.T, "one\ntwo\nkept\n", m.Get("a.txt"))
		require.Equal(m.T, "b\n", m.Get("d/b.txt"))
		require.Equal(m.T, "gone\n", m.Get("g/gone.txt"))
		require.Equal(m.T, "mine\nsaved\n", m.Get("mine.txt"))
	})
}

// TestKilledWhileItAsks: the question is withdrawn, and the transcript has what was asked for.
func TestKilledWhileItAsks(t *testing.T) {
	t.Parallel()
	midTurns(t, nil, []string{`{"fake":"shell","command":"echo ran >ran.txt","ask":true}`}, func(m *midTurn) {
		m.e.Until("the question", func(n world.Notification) bool { return n.Approval != nil })
		m.kills(nil)
		var list struct{ Approvals []any }
		m.e.Must("approval/list", world.Obj{"workspace": m.Root}, &list)
		require.Empty(m.T, list.Approvals)
		m.e.Until("the end of the question", func(n world.Notification) bool {
			return n.Approval != nil && n.Approval.Status == sessions.ApprovalWithdrawn
		})
		it := m.tool()
		require.Equal(m.T, "echo ran >ran.txt", it.Tool.Command)
		require.Equal(m.T, sessions.ItemRejected, it.Status)
		require.Equal(m.T, "(absent)", m.Get("ran.txt"))
	})
}

// TestKilledAfterTheAnswer to turn/start: the prompt is in the transcript.
func TestKilledAfterTheAnswer(t *testing.T) {
	t.Parallel()
	midTurns(t, []string{world.Waits("go")}, []string{world.Waits("go")}, func(m *midTurn) {
		m.kills(nil)
		var page struct{ Turns []*sessions.Turn }
		m.e.Must("session/read", world.Obj{"sessionId": m.turn.SessionID}, &page)
		require.Len(m.T, page.Turns, 1)
		require.Equal(m.T, "do it", page.Turns[0].Prompt)
	})
}

// TestKilledAfterALookAtAnOpenCall: a change that a person has looked at while its command ran is still that command's after a kill.
func TestKilledAfterALookAtAnOpenCall(t *testing.T) {
	t.Parallel()
	edit := world.Edits("1", "a.txt", "one\ntwo\n", "one\nTWO\n")
	shell := world.Shells("2", "sleep 0.2; echo more >>a.txt; touch ../changed; until test -e ../go; do sleep 0.02; done")
	midTurns(t, append(append([]string{world.InitLine}, edit...), shell[0], shell[1]), nil, func(m *midTurn) {
		m.settles("../changed")
		require.True(m.T, world.Comes(world.Patience, func() bool {
			d := m.e.Diffs()["a.txt"]
			return d != nil && slices.Contains(world.Vias(d), "shell")
		}))
		m.settles()
		m.kills(nil)
		var page struct{ Items []*sessions.Item }
		m.e.Must("session/read", world.Obj{"sessionId": m.turn.SessionID}, &page)
		command := page.Items[slices.IndexFunc(page.Items, func(it *sessions.Item) bool { return it.Tool != nil && it.Tool.CallID == "2" })]
		require.Equal(m.T, sessions.ItemCancelled, command.Status)
		require.Len(m.T, command.Changes, 1)
		require.Equal(m.T, "a.txt", command.Changes[0].Path)
		require.Contains(m.T, command.Changes[0].Patch, "+more")
	})
}
