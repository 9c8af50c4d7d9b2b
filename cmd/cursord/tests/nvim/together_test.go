//go:build unix

package nvim

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimRandomTogether has two Neovims decide at random in one workspace, with and without a copy, while one of them types
// and saves. Both show the daemon's list, and buffers without changes equal their files.
func TestNvimRandomTogether(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, isolated := range []bool{false, true} {
			t.Run(fmt.Sprint("isolated ", isolated), func(t *testing.T) { nvimsTogether(t, bin, isolated) })
		}
	})
}

func nvimsTogether(t *testing.T, bin string, isolated bool) {
	w := world.New(t)
	rnd := rand.New(rand.NewPCG(*nvimSeed, 1))
	paths := []string{"f", "g", "h"}
	before, after := world.Tree{}, world.Tree{}
	for _, p := range paths {
		before[p] = world.Numbered(60, nil)
		after[p] = world.Scrambled(rnd, before[p], "agent")
	}
	w.PutAll(before)
	w.Plays(world.Changing(before, after)...)
	w.Start()
	e := w.Opens()
	if isolated {
		e.Ok(e.Isolates())
	} else {
		e.Turn(nil)
	}
	var both []*nvim
	for range 2 {
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }\n"+nvimAgrees, paths...)
		n.lua("for _, f in ipairs(vim.fn.argv()) do vim.cmd.edit(f) end vim.cmd('Cursord next')")
		both = append(both, n)
	}
	agree := func(what string) {
		t.Helper()
		var why [2]any
		if !world.Comes(world.Patience, func() bool {
			for i, n := range both {
				n.until("what is typed is told", `local told
					require('cursord.docs').flush(require('cursord.workspace').find(), function() told = true end)
					return vim.wait(5000, function() return told end, 1)`)
				why[i] = n.lua("return disagreement()")
			}
			return why == [2]any{"", ""}
		}) {
			t.Fatalf("%s: %v\n%s\n%s", what, why, both[0].messages(), both[1].messages())
		}
		t.Log(what)
		for _, n := range both {
			require.NotRegexp(t, `(?i)traceback|W1\d:|E\d+:`, n.messages())
		}
	}
	agree("at first")
	for step := range *nvimSteps {
		i := rnd.IntN(2)
		n := both[i]
		n.ex("buffer " + paths[rnd.IntN(3)])
		from := rnd.IntN(int(n.lua("return vim.fn.line('$')").(float64))) + 1
		what := ""
		switch rnd.IntN(9 - 2*i) { // only the first one types
		case 0, 1:
			what = fmt.Sprintf("%dCursord %s", from, []string{"accept", "reject"}[rnd.IntN(2)])
		case 2, 3:
			n.ex("Cursord next")
			what = []string{"Cursord accept", "Cursord reject"}[rnd.IntN(2)]
		case 4, 5:
			what = []string{"Cursord undo", "Cursord redo"}[rnd.IntN(2)]
		case 6:
			what = []string{"Cursord reject file", "Cursord accept file", "Cursord reject!"}[rnd.IntN(3)]
		case 7:
			what = fmt.Sprintf("%dput ='mine %d'", from, step)
		case 8:
			what = []string{"write", "undo"}[rnd.IntN(2)]
		}
		n.ex(what)
		agree(fmt.Sprintf("step %d, in the %d. one: %s", step, i+1, what))
	}
}
