//go:build unix

package authorship

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestSavesInACallThatReportsNothing has persons save a file during an edit call that reports neither the text before nor
// the text after. Without a save, the change is the agent's. With one, nobody knows, and no bulk reject touches it.
func TestSavesInACallThatReportsNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("saves are counted on Linux only")
	}
	before := world.Numbered(20, nil)
	agents := world.Numbered(20, map[int]string{5: "agent\n"})
	both := world.Numbered(20, map[int]string{5: "agent\n", 15: "mine\n"})
	mine := world.Numbered(20, map[int]string{15: "mine\n"})
	inPlace := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }
	renamed := func(path, text string) error {
		if err := os.WriteFile(path+"~", []byte(text), 0o644); err != nil {
			return err
		}
		return os.Rename(path+"~", path)
	}
	anew := func(path, text string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return inPlace(path, text)
	}
	type save struct {
		how  func(path, text string) error
		text string
	}
	for _, c := range []struct {
		name  string
		first []save // before the agent writes
		agent string
		then  []save // after that
		via   string
		hunks string // the lines that are listed
	}{
		{"nobody else", nil, agents, nil, "edit", "-line 5 +agent"},
		{"after the write, in place", nil, agents, []save{{inPlace, both}}, "unknown", "-line 5 +agent -line 15 +mine"},
		{"after the write, by rename", nil, agents, []save{{renamed, both}}, "unknown", "-line 5 +agent -line 15 +mine"},
		{"after the write, removed and made anew", nil, agents, []save{{anew, both}}, "unknown", "-line 5 +agent -line 15 +mine"},
		{"before the write", []save{{inPlace, mine}}, both, nil, "unknown", "-line 5 +agent -line 15 +mine"},
		{"before the write, by rename", []save{{renamed, mine}}, both, nil, "unknown", "-line 5 +agent -line 15 +mine"},
		{"before and after", []save{{inPlace, mine}}, both, []save{{inPlace, both + "more\n"}}, "unknown", "-line 5 +agent -line 15 +mine +more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			script := world.Edits("e", "f", "", "")
			script[1] = fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, c.agent)
			w.Plays(world.Lines([]string{script[0], world.Waits("go"), script[1], world.Execs("touch ../written"), world.Waits("end"), script[2]})...)
			w.Start()
			e := w.Opens()
			turn := e.Asks(nil)
			e.Calls(turn.ID)
			for _, s := range c.first {
				require.NoError(t, s.how(w.Path("f"), s.text))
			}
			w.Put("../go", "")
			w.Exists("../written")
			for _, s := range c.then {
				require.NoError(t, s.how(w.Path("f"), s.text))
			}
			w.Put("../end", "")
			e.Ends(turn.ID)
			have := w.Get("f")
			d := e.Diffs()["f"]
			var changed []string
			for _, h := range d.Hunks {
				for _, l := range h.Lines {
					if l[0] != ' ' {
						changed = append(changed, l)
					}
				}
				for _, src := range h.Sources {
					require.Equal(t, c.via, string(src.Via))
				}
			}
			require.Equal(t, c.hunks, strings.Join(changed, " "))
			out := e.Decides("diff/reject", world.Obj{"all": true})
			if c.via == "edit" {
				require.Empty(t, out.Skipped)
				require.Equal(t, before, w.Get("f"))
				return
			}
			require.Len(t, out.Skipped, len(d.Hunks))
			require.Equal(t, api.KindMaybeYours, out.Skipped[0].Kind)
			require.Equal(t, have, w.Get("f"))
			for _, h := range d.Hunks {
				e.Decides("diff/reject", world.Obj{"hunks": []string{h.ID}})
			}
			require.Equal(t, before, w.Get("f"))
		})
	}
}

// TestASaveThatAnEditOverwrites has a person save a file between the agent's read and its write. The review shows the lost
// line, and a reject brings it back.
func TestASaveThatAnEditOverwrites(t *testing.T) {
	t.Parallel()
	before := world.Numbered(20, nil)
	agents := world.Numbered(20, map[int]string{5: "agent\n"})
	mine := world.Numbered(20, map[int]string{15: "mine\n"})
	for _, c := range []struct{ name, before, after, via string }{
		{"by a call that reports its texts", before, agents, "edit"},
		{"by a call that reports nothing", "", "", "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t)
			w.Put("f", before)
			script := world.Edits("e", "f", c.before, c.after)
			script[1] = fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, agents)
			// The end of any call makes the daemon look at the saves so far.
			other := world.Edits("o", "g", "", "g\n")
			w.Plays(world.Lines([]string{script[0], world.Waits("saved")}, other, []string{world.Waits("go")}, script[1:])...)
			w.Start()
			e := w.Opens()
			turn := e.Asks(nil)
			e.Calls(turn.ID)
			w.Put("f", mine)
			w.Put("../saved", "")
			e.Until("the end of the other call", func(n world.Notification) bool {
				return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool && n.Item.Status == sessions.ItemCompleted
			})
			w.Put("../go", "")
			e.Ends(turn.ID)
			d := e.Diffs()["f"]
			var changed []string
			for _, h := range d.Hunks {
				for _, l := range h.Lines {
					if l[0] != ' ' {
						changed = append(changed, l)
					}
				}
				require.Equal(t, c.via, string(h.Sources[0].Via))
			}
			require.Equal(t, "-line 5 +agent -mine +line 15", strings.Join(changed, " "))
			for _, h := range d.Hunks {
				e.Decides("diff/reject", world.Obj{"hunks": []string{h.ID}})
			}
			require.Equal(t, mine, w.Get("f"))
		})
	}
}

// TestASaveAtTheEndOfACallThatReportsNothing has a person save a file in place near the end of an edit call that reports no
// texts. No line is lost or doubled, and the person's line is at most listed as one that may be the agent's.
func TestASaveAtTheEndOfACallThatReportsNothing(t *testing.T) {
	t.Parallel()
	before := world.Numbered(20, nil)
	agents := world.Numbered(20, map[int]string{5: "agent\n"})
	both := world.Numbered(20, map[int]string{5: "agent\n", 15: "mine\n"})
	mine := world.Numbered(20, map[int]string{15: "mine\n"})
	w := world.New(t)
	w.Start()
	e := w.Opens()
	for n := range 8 {
		w.Put("f", before)
		script := world.Edits("e", "f", "", "")
		script[1] = fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, agents)
		flag := fmt.Sprintf("../written%d", n)
		for _, i := range []int{0, 2} {
			script[i] = strings.Replace(script[i], `"call_id"`, `"timestamp_ms":{{now_ms}},"call_id"`, 1)
		}
		w.Plays(script[0], script[1], world.Execs("touch "+flag), script[2])
		turn := e.Asks(nil)
		w.Exists(flag)
		require.NoError(t, os.WriteFile(w.Path("f"), []byte(both), 0o644))
		e.Ends(turn.ID)
		e.Diffs()
		out := e.Decides("diff/reject", world.Obj{"all": true})
		if len(out.Skipped) == 0 {
			require.Equal(t, mine, w.Get("f"), "round %d", n)
			continue
		}
		require.Equal(t, both, w.Get("f"), "round %d", n)
		for _, one := range out.Skipped {
			require.Equal(t, api.KindMaybeYours, one.Kind)
		}
		for _, h := range e.Diffs()["f"].Hunks {
			e.Decides("diff/reject", world.Obj{"hunks": []string{h.ID}})
		}
		require.Contains(t, []string{before, mine}, w.Get("f"), "round %d", n)
	}
}
