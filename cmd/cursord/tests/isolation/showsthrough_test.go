//go:build unix

package isolation

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

var (
	showsScenarios = flag.Int("shows.scenarios", 4, "how many random stories of people's changes between isolated turns are played")
	showsSeed      = flag.Uint64("shows.seed", 1, "the first one's seed")
)

// TestPeopleBetweenIsolatedTurns plays random stories: an agent changes files and folders, a person decides some of that, and changes the same
// files and folders between turns. No line of the person's gets lost in the work tree, the agent has nothing of them as its own, and sees them by
// the next turn.
func TestPeopleBetweenIsolatedTurns(t *testing.T) { bothKinds(t, testPeopleBetweenIsolatedTurns) }

func testPeopleBetweenIsolatedTurns(t *testing.T) {
	for i := range uint64(*showsScenarios) {
		t.Run(fmt.Sprint("seed ", *showsSeed+i), func(t *testing.T) {
			t.Parallel()
			playBetween(t, *showsSeed+i)
		})
	}
}

// A between is a story of turns, and of what a person does between them. Lines say who wrote them, and the agent changes no person's.
type between struct {
	*world.World
	e    *world.Editor
	s    *sessions.Session
	rng  *rand.Rand
	n    int             // the number of the last new line
	gone map[string]bool // the person's and old lines that the person has deleted; an agent's may return, since deleting an accepted line can undo the accept
	mine map[string]bool // the person's other lines
	last string          // the last turn
	log  []string

	accepted bool // something was accepted
}

func playBetween(t *testing.T, seed uint64) {
	b := &between{World: newWorld(t), rng: rand.New(rand.NewPCG(seed, 7)), mine: map[string]bool{}, gone: map[string]bool{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what happened:\n%s", strings.Join(b.log, "\n"))
		}
	})
	for _, name := range []string{"a", "b", "d/x", "d/y", "d/e/z", "f/g"} {
		b.Put(name, strings.Join([]string{b.fresh("old"), b.fresh("old"), b.fresh("old"), b.fresh("old"), b.fresh("old"), ""}, "\n"))
	}
	if seed%2 == 0 {
		b.Commits()
	}
	b.Start()
	b.e = b.Opens()
	b.s = b.e.Isolates()
	for range 5 {
		b.turn()
		for range b.rng.IntN(3) {
			b.decides()
		}
		for range b.rng.IntN(4) {
			b.person()
		}
	}
	b.turn()
	b.asks("diff/accept", world.Obj{"all": true})
	b.asks("diff/reject", world.Obj{"all": true})
	require.Empty(t, b.e.Diffs())
}

// fresh returns a new line of an author.
func (b *between) fresh(author string) string {
	b.n++
	return fmt.Sprint(author, " ", b.n)
}

// texts returns the lines of all files in a folder that are not empty, by path.
func (b *between) texts(dir string) map[string][]string {
	all := map[string][]string{}
	for name, content := range b.Whole(dir) {
		if _, text, _ := strings.Cut(content, " "); content != "folder" && text != "" {
			all[name] = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
	}
	return all
}

func one[T any](b *between, list []T) T { return list[b.rng.IntN(len(list))] }

// has reports whether files at or below a path have a line of the person's.
func has(files map[string][]string, at string) bool {
	for name, lines := range files {
		if (name + "/")[:min(len(at)+1, len(name)+1)] == at+"/" && slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "me") }) {
			return true
		}
	}
	return false
}

// agents returns a command that changes what is in the agent's tree.
func (b *between) agents(in map[string][]string) string {
	f := one(b, slices.Sorted(maps.Keys(in)))
	line := one(b, in[f])
	whole := one(b, []string{f, path.Dir(f)})
	free := whole != "." && !has(in, whole) && !has(b.texts(b.Root), whole)
	n := b.fresh("agent")
	made := strings.ReplaceAll(n, " ", "")
	switch k := b.rng.IntN(10); {
	case k == 0:
		return "touch " + f
	case k == 1:
		return fmt.Sprintf("sed -i s/nomatch/x/ %s", f)
	case k == 2:
		return fmt.Sprintf("sed -i '1i %s' %s; sed -i '/^%s$/d' %s", n, f, n, f)
	case k == 3 && free:
		return "rm -rf " + whole
	case k == 4 && free:
		return fmt.Sprintf("rm -rf %s; mkdir %s; echo %s >%s/%s", whole, whole, n, whole, made)
	case k == 5 && free:
		return fmt.Sprintf("mv %s %s", whole, made)
	case k == 6:
		return fmt.Sprintf("mkdir -p new; echo %s >new/%s", n, made)
	case k == 7 && !strings.HasPrefix(line, "me") && line != in[f][len(in[f])-1]:
		return fmt.Sprintf("sed -i '/^%s$/d' %s", line, f)
	case !strings.HasPrefix(line, "me"):
		return fmt.Sprintf("sed -i 's/^%s$/%s/' %s", line, n, f)
	}
	return fmt.Sprintf("sed -i '1i %s' %s", n, f)
}

// turn has the agent change its tree. At its begin, it sees what the person has done.
func (b *between) turn() {
	seen := b.Path("../seen" + b.last)
	in := b.texts(b.Root)
	if b.last != "" {
		in = b.texts(b.Seen(b.s))
	}
	script := world.Shells("0", "cp -a . "+seen)
	for i := range 1 + b.rng.IntN(2) {
		if len(in) > 0 {
			command := b.agents(in)
			b.log = append(b.log, "agent: "+command)
			script = append(script, world.Shells(fmt.Sprint(i+1), command+" || true")...)
		}
	}
	b.Plays(append(script, world.Done)...)
	real, beside := b.texts(b.Root), map[string]bool{} // beside has lines in conflicts: the agent does not see them before a decision
	for _, d := range b.e.Diffs() {
		for _, h := range d.Hunks {
			for _, i := range h.Beside {
				beside[h.Lines[i][1:]] = true
			}
		}
	}
	b.last = b.e.Ok(b.s).ID
	there := map[string]bool{}
	for _, lines := range b.texts(seen) {
		for _, l := range lines {
			there[l] = true
			require.False(b.T, b.gone[l], "the agent sees %q, which the person has deleted", l)
		}
	}
	for name, lines := range real {
		for _, l := range lines {
			require.True(b.T, there[l] || !b.mine[l] || beside[l], "the agent does not see the person's line %q of %s", l, name)
		}
	}
	require.Equal(b.T, real, b.texts(b.Root))
	b.check()
}

// decides makes a decision about something that is pending.
func (b *between) decides() {
	var ids []string
	for _, d := range b.e.Diffs() {
		ids = append(ids, world.HunkIDs(d)...)
	}
	slices.Sort(ids)
	method := one(b, []string{"diff/accept", "diff/accept", "diff/reject", "diff/undo", "session/rewind"})
	switch {
	case method == "session/rewind" && b.accepted:
		return // where lines of several turns are accepted, what a rewind leaves in both trees differs
	case method == "session/rewind":
		b.asks(method, world.Obj{"sessionId": b.s.ID, "turnId": b.last})
	case method == "diff/undo":
		b.asks(method, world.Obj{})
	case len(ids) > 0 && b.rng.IntN(2) == 0:
		b.asks(method, world.Obj{"hunks": []string{one(b, ids)}})
	default:
		b.asks(method, world.Obj{"all": true})
	}
}

// asks sends a request that may be refused.
func (b *between) asks(method string, params world.Obj) {
	b.T.Helper()
	b.log = append(b.log, fmt.Sprint(method, params))
	b.accepted = b.accepted || method == "diff/accept" || method == "diff/undo"
	params["workspace"] = b.Root
	if err := b.e.Call(method, params, nil); err != nil {
		b.log = append(b.log, "  refused: "+err.Error())
		require.NotContains(b.T, err.Error(), "internal")
	}
	b.check()
}

// person changes the work tree: files of which the agent has not removed any, and folders of which it has.
func (b *between) person() {
	files, pending := b.texts(b.Root), b.e.Diffs()
	for name, d := range pending {
		if d.Kind == sessions.DiffDeleted {
			delete(files, name)
		}
		delete(files, d.OldPath)
	}
	command := ""
	f := one(b, append(slices.Sorted(maps.Keys(files)), "d/e/new"))
	lines := files[f]
	switch k := b.rng.IntN(8); {
	case len(lines) == 0 || k == 0:
		l := b.fresh("me")
		b.mine[l] = true
		dir := one(b, []string{".", "d", "d/e", "f"})
		command = fmt.Sprintf("mkdir -p %s && echo %s >%s/%s", dir, l, dir, strings.ReplaceAll(l, " ", ""))
	case k == 1 && pending[f] == nil:
		command = "rm " + f
		b.deletes(lines...)
	case k < 4 && len(lines) > 1:
		l := one(b, lines[:len(lines)-1])
		command = fmt.Sprintf("sed -i '/^%s$/d' %s", l, f)
		b.deletes(l)
	default:
		l := b.fresh("me")
		b.mine[l] = true
		command = fmt.Sprintf("sed -i '%di %s' %s", 1+b.rng.IntN(len(lines)), l, f)
	}
	b.log = append(b.log, "person: "+command)
	b.Makes(command)
	b.check()
}

// deletes notes lines that the person deletes.
func (b *between) deletes(lines ...string) {
	for _, l := range lines {
		b.gone[l] = !strings.HasPrefix(l, "agent")
		delete(b.mine, l)
	}
}

// check looks for the person's lines in the work tree, and among what is the agent's alone.
func (b *between) check() {
	b.T.Helper()
	real := map[string]bool{}
	for _, lines := range b.texts(b.Root) {
		for _, l := range lines {
			real[l] = true
		}
	}
	for l := range b.mine {
		require.True(b.T, real[l], "the person's line %q is lost", l)
	}
	for name, d := range b.e.Diffs() {
		for _, h := range d.Hunks {
			for i, l := range h.Lines {
				require.False(b.T, l[0] != ' ' && !slices.Contains(h.Beside, i) && strings.HasPrefix(l[1:], "me"), "%s of %s is listed as the agent's", l, name)
			}
		}
	}
}
