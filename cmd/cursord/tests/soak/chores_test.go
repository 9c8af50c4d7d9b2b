//go:build linux

package soak

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// choreFiles are the files that agents and persons change. Nobody touches the lines "fixed N"; agents change the text of
// "slot N: …" and add lines "agent …", persons add lines "user …".
var choreFiles = []string{"f0", "f1", "d/f2"}

const choreLines = 30

func choreText() string {
	var b strings.Builder
	for i := range choreLines {
		fmt.Fprintf(&b, "slot %d: base\nfixed %d\n", i, i)
	}
	return b.String()
}

// lastLine numbers all new lines, so that each is unique.
var lastLine atomic.Int64

// A site is a workspace in which agents and persons work at random, with the state that must hold.
type site struct {
	*world.World
	typing *sync.RWMutex // a person's typing, which excludes turns and decisions that begin

	mu      sync.Mutex
	mine    map[string][]string // the lines that persons typed, by file
	started map[string]*chore   // the chores by turn
	log     []string            // the steps so far, for a failed test
}

// A chore is a turn that a client asked for.
type chore struct {
	answered  bool   // the request
	ended     bool   // the status, if known
	sessionID string // "": not known
	said      string // the lines that its agent adds if it ends well
}

// site makes the world's workspace a site.
func newSite(w *world.World) *site {
	p := &site{World: w, typing: new(sync.RWMutex), mine: map[string][]string{}, started: map[string]*chore{}}
	for _, f := range choreFiles {
		w.Put(f, choreText())
	}
	w.T.Cleanup(func() {
		if w.T.Failed() {
			w.T.Logf("what happened last in %s:\n%s", w.Root, strings.Join(p.log, "\n"))
		}
	})
	return p
}

// happens records a step. p.mu is held.
func (p *site) happens(format string, args ...any) {
	p.log = append(p.log[max(0, len(p.log)-100):], time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

// playsByTurn makes each turn play a script of its own and note its agent's process.
func playsByTurn(w *world.World) {
	w.T.Helper()
	require.NoError(w.T, os.MkdirAll(turnFile(w, ""), 0o755))
	w.Put("../agent", fmt.Sprintf("#!/bin/sh\nif test -n \"$CURSORD_TURN_ID\"; then\n  CURSORD_FAKE_SCRIPT=%[1]s/$CURSORD_TURN_ID\n  echo $$ >$CURSORD_FAKE_SCRIPT.pid\nfi\nexec cursord fake-agent \"$@\"\n",
		turnFile(w, "")))
}

func turnFile(w *world.World, name string) string { return filepath.Join(w.Dir, "turns", name) }

// script returns the random work of an agent in a turn.
func (p *site) script(rng *rand.Rand) (script []string, said string) {
	// The agent thinks before it acts: a person's line that is typed right before the first call would be taken for the
	// call's.
	script = []string{world.InitLine, `{"fake":"sleep","ms":50}`}
	for range 1 + rng.IntN(5) {
		n := lastLine.Add(1)
		f, slot := choreFiles[rng.IntN(len(choreFiles))], rng.IntN(choreLines)
		command := fmt.Sprintf("sed -i 's/^slot %d:.*/slot %d: agent %d/' %s", slot, slot, n, f)
		if rng.IntN(3) == 0 {
			command = fmt.Sprintf("sed -i '/^slot %d:/a agent %d' %s", slot, n, f)
		}
		call := fmt.Sprint("call-", n)
		switch rng.IntN(7) {
		case 0:
			script = append(script, world.Thinks(fmt.Sprint("thought ", n)), world.ThoughtEnd)
		case 1:
			for range 1 + rng.IntN(4) {
				text := fmt.Sprintf("word %d, ", lastLine.Add(1))
				script, said = append(script, world.Piece(text)), said+text
			}
		case 2:
			times := 1 + rng.IntN(300)
			script = append(script, fmt.Sprintf(`{"fake":"repeat","n":%d}`, times), world.Piece(" and on"))
			said += strings.Repeat(" and on", times)
		case 3, 4:
			args := `"args":{"path":"{{cwd}}/` + f + `"}`
			script = append(script, world.Started(call, `{"editToolCall":{`+args+`}}`), `{"fake":"sleep","ms":10}`, world.Execs(command),
				world.Completed(call, `{"editToolCall":{`+args+`,"result":{"success":{"path":"{{cwd}}/`+f+`"}}}}`))
		case 5:
			script = append(script, world.Shells(call, command)...)
		case 6:
			script = append(script, world.Shells(call, fmt.Sprintf("mkdir -p made; echo agent %d >made/%d; rm -f made/%d", n, n%7, (n+3)%7))...)
		}
		if rng.IntN(3) == 0 {
			script = append(script, fmt.Sprintf(`{"fake":"sleep","ms":%d}`, rng.IntN(30)))
		}
	}
	return append(script, world.Succeeds("")), said
}

// commands returns the commands that a script executes.
func commands(script []string) (list []string) {
	for _, line := range script {
		if _, argv, ok := strings.Cut(line, `"argv":["sh","-c",`); ok {
			list = append(list, strings.TrimSuffix(argv, "]}"))
		}
	}
	return list
}

// asks starts a turn that plays a script. The caller judges the answer's error.
func (p *site) asks(e *world.Editor, session string, script []string, said string) (turn string, err error) {
	p.typing.RLock()
	defer p.typing.RUnlock()
	turn = fmt.Sprint("t", lastLine.Add(1))
	require.NoError(e.T, os.WriteFile(turnFile(p.World, turn), []byte(strings.Join(script, "\n")+"\n"), 0o644))
	c := &chore{sessionID: session, said: said}
	p.mu.Lock()
	p.started[turn] = c
	p.happens("%s: %s", turn, strings.Join(commands(script), "; "))
	p.mu.Unlock()
	params := world.Obj{"workspace": p.Root, "prompt": turn, "turnId": turn}
	if session != "" {
		params["sessionId"] = session
	}
	var out struct{ Turn *sessions.Turn }
	err = e.Call("turn/start", params, &out)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		c.answered, c.sessionID = true, out.Turn.SessionID
	}
	return turn, err
}

// decides accepts, rejects, undoes or redoes something at random.
func (p *site) decides(e *world.Editor, rng *rand.Rand) error {
	p.typing.RLock()
	defer p.typing.RUnlock()
	params := world.Obj{"workspace": p.Root}
	method := []string{"diff/accept", "diff/reject", "diff/reject", "diff/undo", "diff/redo"}[rng.IntN(5)]
	if method == "diff/accept" || method == "diff/reject" {
		var list struct{ Diffs []*sessions.Diff }
		if err := e.Call("diff/list", world.Obj{"workspace": p.Root}, &list); err != nil {
			return err
		}
		if len(list.Diffs) == 0 {
			return nil
		}
		d := list.Diffs[rng.IntN(len(list.Diffs))]
		switch ids := world.HunkIDs(d); {
		case rng.IntN(6) == 0:
			params["all"] = true
		case rng.IntN(3) == 0 || len(ids) == 0:
			params["path"] = d.Path
		default:
			params["hunks"] = []string{ids[rng.IntN(len(ids))]}
		}
	}
	err := e.Call(method, params, nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.happens("%s %v: %v", method, params, err)
	return err
}

// types has a person add a line to a file once all turns have ended. During a call without a report, the line could not be
// told from the call's.
func (p *site) types(e *world.Editor, rng *rand.Rand) error {
	p.T.Helper()
	p.typing.Lock()
	defer p.typing.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for turn, c := range p.started {
		if c.ended {
			continue
		}
		err := e.Call("turn/wait", world.Obj{"turnId": turn}, nil)
		if err != nil && !declined(err) { // the turn was never begun, or its session is deleted
			return err
		}
		c.ended = true
	}
	look := func() error { return e.Call("diff/list", world.Obj{"workspace": p.Root}, nil) }
	if err := look(); err != nil { // this daemon sees the changes that the last one did not see
		return err
	}
	f := choreFiles[rng.IntN(len(choreFiles))]
	all := strings.SplitAfter(p.Get(f), "\n")
	mine, at := fmt.Sprintf("user %d\n", lastLine.Add(1)), rng.IntN(len(all))
	p.Put(f+"~", strings.Join(all[:at], "")+mine+strings.Join(all[at:], ""))
	require.NoError(p.T, os.Rename(p.Path(f+"~"), p.Path(f)))
	p.mine[f] = append(p.mine[f], mine)
	p.happens("%q typed into %s", mine, f)
	return look()
}

// choreLine matches the lines that a file may have.
var choreLine = regexp.MustCompile(`^(slot \d+: (base|agent \d+)|fixed \d+|(agent|user) \d+)\n$`)

// requireWhole checks each file: it has no part of a line, all fixed lines in order, and all lines that persons typed.
func (p *site) requireWhole() {
	p.T.Helper()
	for _, f := range choreFiles {
		p.mu.Lock()
		mine := p.mine[f]
		p.mu.Unlock()
		text := p.Get(f) // mine is locked first, because a person may be typing
		fixed := 0
		has := map[string]bool{}
		for line := range strings.Lines(text) {
			has[line] = true
			require.Regexp(p.T, choreLine, line, "%s is torn", f)
			if strings.HasPrefix(line, "fixed ") {
				require.Equal(p.T, fmt.Sprintf("fixed %d\n", fixed), line, "%s is torn:\n%s", f, text)
				fixed++
			}
		}
		require.Equal(p.T, choreLines, fixed, "%s is torn:\n%s", f, text)
		for _, line := range mine {
			require.True(p.T, has[line], "%s has lost %q:\n%s", f, line, text)
		}
	}
}

// agents lists the processes of the world's turns, or of one turn.
func agents(w *world.World, turn string) []int {
	w.T.Helper()
	return world.Processes(w.T, "CURSORD_SOCKET="+w.Socket(), "CURSORD_TURN_ID="+turn)
}

// killsAgent kills the agent of a turn, if it runs.
func killsAgent(w *world.World, turn string) bool {
	b, err := os.ReadFile(turnFile(w, turn+".pid"))
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return false // the file is half written
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && world.HasVariables(env, []string{"CURSORD_TURN_ID=" + turn}) && syscall.Kill(pid, syscall.SIGKILL) == nil
}

// everything returns all notifications of a client that subscribes from the beginning. No turn may run.
func (p *site) everything(e *world.Editor) []world.Notification {
	e.T.Helper()
	var out struct{ Seq uint64 }
	e.Must("workspace/subscribe", world.Obj{"workspace": p.Root, "after": 0}, &out)
	if out.Seq > 0 {
		e.Until("all that is stored", func(n world.Notification) bool { return n.Seq >= out.Seq })
	}
	return e.All()
}

// requireEnded compares the store with the clients' requests: nothing is lost, every turn has ended, and no process outlives
// its turn.
func (p *site) requireEnded(all []world.Notification, known ...*memory) {
	p.T.Helper()
	now := newMemory()
	now.learns(p.T, all)
	said := map[string]string{}
	for _, n := range all {
		if n.Item != nil {
			require.NotEqual(p.T, sessions.ItemRunning, n.Item.Status, "item %s", n.Item.ID)
			if n.Item.Kind == sessions.ItemAssistant {
				said[n.Item.TurnID] += n.Item.Text
			}
		}
		if n.Turn != nil {
			require.True(p.T, n.Turn.Status.Final(), "turn %s is %s", n.Turn.ID, n.Turn.Status)
		}
	}
	for _, m := range known {
		for turn, status := range m.ended {
			if now, ok := now.ended[turn]; ok {
				require.Equal(p.T, status, now, "turn %s", turn)
			}
		}
		for key, seq := range m.seqs {
			if is, ok := now.seqs[key]; ok {
				require.GreaterOrEqual(p.T, is, seq, key)
			} else if len(now.closed) == 0 && !strings.HasPrefix(key, "diff ") {
				p.T.Fatalf("%s was told with seq %d and is not there", key, seq)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for turn, c := range p.started {
		status, ok := now.ended[turn]
		require.True(p.T, ok || !c.answered || now.closed[c.sessionID], "turn %s was asked for and is not there", turn)
		if status == sessions.TurnCompleted {
			require.Equal(p.T, c.said, said[turn], "what the agent said in turn %s", turn)
		}
	}
}

// declined reports whether a request failed because of its parameters, and not by a fault of the daemon.
func declined(err error) bool {
	var failed *rpc.Error
	return errors.As(err, &failed) && !slices.Contains([]int{-32603, -32020, rpc.CodeUnavailable}, failed.Code)
}
