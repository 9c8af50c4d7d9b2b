//go:build unix

package nvim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var (
	nvimSteps = flag.Int("nvim.steps", 25, "how many steps TestNvimRandomReview takes")
	nvimSeed  = flag.Uint64("nvim.seed", 1, "what they are drawn from")
)

// nvimAgrees is Lua that returns the first mismatch. Buffers without changes equal their files, hunks are those of the
// daemon's list for this Neovim, and marks are at their places.
const nvimAgrees = `
function disagreement()
	local ws = require('cursord.workspace').find()
	local listed
	require('cursord.rpc').request('diff/list', { workspace = ws.root }, function(err, result)
		listed = err and err.message or result
	end)
	vim.wait(5000, function() return listed ~= nil end, 1)
	if type(listed) ~= 'table' then return 'diff/list: ' .. tostring(listed) end
	local marks, view = require('cursord.review.marks'), require('cursord.review.view')
	local by = {}
	for _, diff in ipairs(listed.diffs) do by[diff.path] = diff end
	for _, path in ipairs({ 'f', 'g', 'h' }) do
		local buf = vim.fn.bufnr('^' .. ws.root .. '/' .. path .. '$')
		local diff, shown = by[path] or { hunks = {} }, view.get(buf)
		if not vim.bo[buf].modified then
			local file = io.open(ws.root .. '/' .. path, 'rb')
			local text = file:read('*a')
			file:close()
			if text ~= require('cursord.lines').text(buf) then return path .. ': the buffer is not its file' end
		end
		local have = shown and shown.diff.hunks or {}
		if #have ~= #diff.hunks then return ('%s: %d hunks are shown and %d are listed'):format(path, #have, #diff.hunks) end
		for i, hunk in ipairs(diff.hunks) do
			if have[i].id ~= hunk.id then return path .. ': other hunks' end
			local groups = shown.shown[hunk.id].groups
			local want, present = marks.parse(hunk)
			if not marks.is_there(buf, present) then return path .. ': other lines' end
			if #groups ~= #want then return path .. ': not all of a hunk is shown' end
			for k, group in ipairs(groups) do
				local row, count = marks.rows(buf, group)
				if row ~= want[k].row or count ~= #want[k].here then
					return ('%s: marks of %s at %d (%d lines), not %d (%d)'):format(path, hunk.id, row, count, want[k].row, #want[k].here)
				end
			end
		end
		by[path] = nil
	end
	return next(by) and 'more is listed: ' .. next(by) or ''
end`

// TestNvimRandomReview decides, types, undoes and asks at random in three files. After each step buffers, disk, marks and
// the daemon's list agree.
func TestNvimRandomReview(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		rnd := rand.New(rand.NewPCG(*nvimSeed, 0))
		paths := []string{"f", "g", "h"}
		for _, p := range paths {
			w.Put(p, world.Numbered(60, nil))
		}
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }\n"+nvimAgrees, paths...)
		n.lua("for _, f in ipairs(vim.fn.argv()) do vim.cmd.edit(f) end")
		turns := 0
		agent := func() {
			var script []string
			for i, p := range paths {
				if n.modified(p) || rnd.IntN(3) == 0 {
					continue
				}
				was := w.Get(p)
				script = append(script, world.Edits(fmt.Sprint("c", turns, ".", i), p, was, world.Scrambled(rnd, was, fmt.Sprintf("agent %d", turns)))...)
			}
			w.Plays(append(script, world.Done)...)
			turns++
			n.ex("Cursord ask turn")
			n.until("the end of the turn", "return #vim.tbl_filter(function(s) return s.text:find(' goes there$') or s.text == 'cursord: done' end, said) == ...", turns)
		}
		agent()
		for step := range *nvimSteps {
			n.ex("buffer " + paths[rnd.IntN(3)])
			count := int(n.lua("return vim.fn.line('$')").(float64))
			from := rnd.IntN(count) + 1
			what := ""
			switch rnd.IntN(12) {
			case 0, 1, 2, 3:
				what = []string{"Cursord accept", "Cursord reject", "Cursord reject"}[rnd.IntN(3)]
				n.ex("Cursord next")
			case 4:
				what = fmt.Sprintf("%d,%dCursord %s", from, min(count, from+rnd.IntN(12)), []string{"accept", "reject"}[rnd.IntN(2)])
			case 5, 6:
				what = []string{"Cursord undo", "Cursord undo", "Cursord redo"}[rnd.IntN(3)]
			case 7:
				what = []string{"undo", "undo", "redo"}[rnd.IntN(3)]
			case 8:
				what = fmt.Sprintf("%dput ='mine %d'", from, step)
			case 9:
				what = fmt.Sprintf("%dd", from)
			case 10:
				what = "write"
			case 11:
				what = []string{"Cursord reject!", "Cursord reject file", "agent"}[rnd.IntN(3)]
			}
			unsaved := world.Tree{}
			for _, p := range paths {
				if n.modified(p) && what != "write" {
					unsaved[p] = w.Get(p)
				}
			}
			if what == "agent" {
				agent()
			} else {
				n.ex(what)
			}
			var why any
			for limit := time.Now().Add(world.Patience); ; {
				if why = n.lua("return disagreement()"); why == "" {
					break
				}
				if time.Now().After(limit) {
					t.Fatalf("step %d, %s: %v\n%s\n%s", step, what, why, n.messages(), n.screen())
				}
			}
			t.Logf("step %d: %s", step, what)
			for p, was := range unsaved {
				if w.Get(p) == n.text(p) {
					continue // what was undone in the buffer has come to the file
				}
				require.Equal(t, was, w.Get(p), "step %d, %s: %s has changes", step, what, p)
			}
			require.NotRegexp(t, `(?i)traceback|W1\d:|E\d+:`, n.messages())
		}
	})
}
