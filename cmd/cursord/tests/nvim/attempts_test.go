//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestNvimAttempts looks at three attempts in a list, reviews and accepts one, checks another again, and drops them.
func TestNvimAttempts(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\n"})
		w.Commits()
		w.Put("../config.toml", "attempt_check = \"cat way; exit $(cat way)\"\n")
		w.Plays(append(world.Shells("1", `echo "by {{model}}" >> f; echo {{model}} > way`), world.Says("It is {{model}}.", ""), world.Succeeds("It is {{model}}."))...)
		w.Start()
		w.Trusts()
		e := w.Opens()
		n := neovim(w, t, bin, `vim.o.columns = 110 vim.g.cursord = { notify = { progress = false } }
			vim.ui.select = function(items, _, on) on(items[1]) end`, "f")
		n.ex("Cursord attempts")
		n.untilScreen("no attempts here; in a terminal: cursord run --attempts 3")
		require.Len(t, n.lua("return vim.api.nvim_list_wins()"), 1, "nothing is no list")
		for i := range 3 {
			e.Asks(world.Obj{"prompt": "make it two", "model": fmt.Sprint(i), "attempt": world.Obj{"group": "g", "number": i + 1, "of": 3}})
		}
		n.ex("Cursord attempts")
		n.untilScreen("make it two")
		n.untilScreen("  1  completed   2 files +2 -0    passed       It is 0.")
		n.untilScreen("  2  completed   2 files +2 -0    exit 1       It is 1.")
		n.untilScreen("  3  completed   2 files +2 -0    exit 2       It is 2.")
		n.keys("gg<CR>")
		n.poll("a message", func() bool { return strings.Contains(n.messages(), "this line is a prompt") })

		n.keys("3GK")
		n.untilScreen("$ cat way; exit $(cat way)")
		n.keys("q3G<CR>")
		n.untilScreen("+by 1")
		require.NotContains(t, n.screen(), "+by 2")
		n.keys("<C-w>c")
		n.ex("Cursord attempts") // where the cursor is now does not matter
		n.untilScreen("  3  completed")
		n.keys("4GA")
		n.poll("it is accepted", func() bool { return w.Get("way") == "2\n" && w.Get("f") == "one\nby 2\n" })
		n.untilScreen("  3  completed   nothing")
		n.untilScreen("beside yours")

		w.Put("../config.toml", "attempt_check = \"echo better\"\n")
		e.Must("daemon/reload", nil, nil)
		n.keys("3Gc")
		n.untilScreen("2 beside yours passed")

		n.keys("2GD")
		n.untilScreen("(2 of 3 left)")
		n.keys("2GO")
		n.untilScreen("(1 of 3 left)")
		n.keys("X")
		n.untilScreen("no attempts here")
		var list rpc.AttemptList
		e.Must("attempt/list", world.Obj{"workspace": w.Root}, &list)
		require.Empty(t, list.Groups)
	})
}

// TestNvimPromptsGoToNoAttempt: the next prompt goes to the latest session, but to none of several attempts, in whose copies nobody
// would look for its changes.
func TestNvimPromptsGoToNoAttempt(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\n"})
		w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, world.Done)
		w.Start()
		w.Trusts()
		e := w.Opens()
		session := e.Turn(world.Obj{"prompt": "first"}).SessionID
		for i := range 2 {
			e.Turn(world.Obj{"prompt": "attempt", "attempt": world.Obj{"group": "g", "number": i + 1, "of": 2}})
		}
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord ask go on")
		e.Until("the turn", func(n world.Notification) bool {
			return n.Turn != nil && n.Turn.Prompt == "go on" && n.Turn.SessionID == session
		})
	})
}

// attempted makes a world with a file f and so many attempts at one prompt, by a command in which {{model}} is the attempt's number, from 0.
func attempted(t *testing.T, f string, attempts int, command string) *world.World {
	t.Helper()
	w := world.New(t)
	w.PutAll(world.Tree{"f": f})
	w.Commits()
	w.Plays(world.Lines(world.Shells("1", command))...)
	w.Start()
	w.Trusts()
	e := w.Opens()
	for i := range attempts {
		e.Turn(world.Obj{"prompt": "attempt", "model": fmt.Sprint(i), "attempt": world.Obj{"group": "g", "number": i + 1, "of": attempts}})
	}
	return w
}

// TestNvimAcceptsNoAttemptsTogether: an accept of all, or of the file, would mix attempts at one prompt, and is refused.
func TestNvimAcceptsNoAttemptsTogether(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := attempted(t, "one\n", 2, "echo by {{model}} >> f; echo {{model}} > only{{model}}")
		n := neovim(w, t, bin, "", "f")
		n.hunksOf("f", 2)
		n.ex("Cursord accept!")
		n.hears("cursord: 2 attempts at one prompt: all would mix them; see :Cursord attempts")
		n.ex("Cursord accept file")
		n.hears("cursord: 2 attempts at one prompt: file would mix them; see :Cursord attempts")
		n.decided()
		require.Equal(t, "one\n", w.Get("f"))
		n.ex("edit only1")
		n.hunksOf("only1", 1)
		n.ex("Cursord accept file")
		n.poll("it is accepted", func() bool { return w.Get("only1") == "1\n" })
	})
}

// TestNvimNamesTheAttempts: blocks of several attempts at a line say which attempt each is, and keys mean the uppermost. After one is
// accepted, the others do not call its lines the person's.
func TestNvimNamesTheAttempts(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := attempted(t, "one\ntwo\nthree\n", 3, `sed "s/two/by {{model}}/" f >../t{{model}}; cat ../t{{model}} >f`)
		n := neovim(w, t, bin, "vim.o.columns = 80 vim.g.cursord = { review = { after_decide = 'stay' } }", "f")
		n.hunksOf("f", 3)
		n.untilScreen("two\n  attempt 1\n  by 0\n  attempt 2\n  by 1\n  attempt 3\n  by 2\n  three")
		n.keys("2G")
		n.ex("Cursord accept")
		n.poll("the first is accepted", func() bool { return w.Get("f") == "one\nby 0\nthree\n" })
		n.untilScreen("attempt 2: your file has other lines here: reject keeps them, accept takes the")
		n.untilScreen("attempt 3: your file has other lines here")
		require.NotContains(t, n.screen(), "you have changed this")
		n.ex("Cursord reject")
		n.poll("the next is rejected", func() bool { return !strings.Contains(n.screen(), "by 1") })
		n.untilScreen("  your file has other lines here")
		n.quiet()
	})
}
