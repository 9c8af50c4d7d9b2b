//go:build unix

package nvim

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimFigures measures what people notice, and prints the figures. It asserts no times. Its sizes are small unless
// CURSORD_NVIM_FIGURES is set.
func TestNvimFigures(t *testing.T) {
	t.Parallel()
	hunks, spread, history, deltas := 50, 20, 500, 500
	if os.Getenv("CURSORD_NVIM_FIGURES") != "" {
		hunks, spread, history, deltas = 1000, 100, 20000, 5000
	}
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		changes := map[int]string{}
		for i := range hunks {
			changes[i*spread+1] = fmt.Sprintf("agent %d\n", i+1)
		}
		before, after := world.Numbered(hunks*spread, nil), world.Numbered(hunks*spread, changes)
		w.Put("f", before)
		w.Plays(append(world.Edits("1", "f", before, after), world.Done)...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "--startuptime", w.Path("../startup"), "f")
		startup, err := os.ReadFile(w.Path("../startup"))
		require.NoError(t, err)
		loaded := regexp.MustCompile(`\d+\.\d+ +(\d+\.\d+) +\d+\.\d+: sourcing .*/plugin/cursord.lua`).FindSubmatch(startup)
		require.NotNil(t, loaded, "%s", startup)
		ms, err := strconv.ParseFloat(string(loaded[1]), 64)
		require.NoError(t, err)
		t.Logf("sourcing the plugin: %.3f ms", ms)

		n.ex("Cursord chat")
		n.keys("<Esc>")
		n.lua("vim.cmd('wincmd t')")
		n.hunksOf("f", hunks)
		n.lua(`function measure(fits, act)
			local began = vim.uv.hrtime()
			act()
			assert(vim.wait(30000, fits, 1))
			vim.cmd.redraw()
			return (vim.uv.hrtime() - began) / 1e6
		end`)
		for _, verb := range []string{"accept", "reject", "undo", "accept", "reject", "undo"} {
			// The time until the screen has changed, Neovim's CPU time for the answer, and the time until the answer is in.
			ms := n.lua(`local verb = ...
				vim.api.nvim_win_set_cursor(0, { require('cursord.review.places').places(vim.api.nvim_get_current_buf())[3].first + 1, 0 })
				vim.cmd.redraw()
				local count, began = vim.b.cursord_status_dict.pending, vim.uv.hrtime()
				local repaint
				local used = vim.uv.getrusage()
				local all = measure(function() return vim.b.cursord_status_dict.pending ~= count end, function()
					vim.cmd('Cursord ' .. verb)
					vim.cmd.redraw()
					repaint = (vim.uv.hrtime() - began) / 1e6
				end)
				local now = vim.uv.getrusage()
				local function cpu(u) return (u.utime.sec + u.stime.sec) * 1e3 + (u.utime.usec + u.stime.usec) / 1e3 end
				return { repaint, cpu(now) - cpu(used), all }`, verb).([]any)
			t.Logf("%s one of %d hunks in %d lines: repaint after %.1f ms; Neovim's processor for all of it %.1f ms; the daemon's word, shown, after %.1f ms",
				verb, hunks, hunks*spread, ms[0], ms[1], ms[2])
		}
		ms = n.lua(`local began = vim.uv.hrtime()
			for i = 1, 100 do
				vim.api.nvim_win_set_cursor(0, { math.floor(vim.api.nvim_buf_line_count(0) * i / 100), 0 })
				vim.cmd.redraw()
			end
			return (vim.uv.hrtime() - began) / 1e6 / 100`).(float64)
		t.Logf("going to another place in it, with the repaint: %.2f ms", ms)

		// Deltas alone, into a long transcript.
		n.lua(`local lines = ...
			local shown = require('cursord.transcript').of(require('cursord.workspace').find().current)
			local session = shown.session
			local turn = next(shown.turns)
			shown:item({ id = 'big', turnId = turn, sessionId = session, index = 90, kind = 'assistant', status = 'running', seq = 1 })
			shown:delta({ itemId = 'big', offset = 0, text = (('a **line** with some `+"`code`"+` in it\n'):rep(9) .. '\n'):rep(lines / 10) })
			shown:flush()`, history)
		got := n.lua(`local count = ...
			local shown = require('cursord.transcript').of(require('cursord.workspace').find().current)
			local at, began, flushed, flushes = shown.by_id.big.bytes, vim.uv.hrtime(), 0, 0
			for i = 1, count do
				shown:delta({ itemId = 'big', offset = at, text = 'word ' .. (i % 20 == 0 and '\n' or '') })
				at = shown.by_id.big.bytes
				if i % 200 == 0 then -- 25 times a second at 5,000 deltas a second
					local f = vim.uv.hrtime()
					shown:flush()
					vim.cmd.redraw()
					flushed, flushes = flushed + vim.uv.hrtime() - f, flushes + 1
				end
			end
			return { (vim.uv.hrtime() - began) / 1e6 / count, flushed / 1e6 / flushes }`, deltas).([]any)
		t.Logf("a delta into a transcript of %d lines: %.4f ms; of it, putting 200 of them in and repainting: %.2f ms", history, got[0], got[1])
		require.NotContains(t, n.messages(), "Error")

		// From the agent to the screen, 5,000 deltas a second. A timer measures how long Neovim could not take a key.
		var script []string
		script = append(script, fmt.Sprintf(`{"fake":"repeat","n":%d,"lines":3}`, deltas/50), `{"fake":"repeat","n":50}`, world.Streams("word {{i}} "), `{"fake":"sleep","ms":10}`)
		w.Plays(append(script, world.Streams("The end."), world.Done)...)
		got = n.lua(`local ended, ticks, last = false, {}, vim.uv.hrtime()
			vim.api.nvim_create_autocmd('User', { pattern = 'CursordTurnEnd', once = true, callback = function() ended = true end })
			local timer = vim.uv.new_timer()
			timer:start(2, 2, vim.schedule_wrap(function()
				local now = vim.uv.hrtime()
				ticks[#ticks + 1], last = (now - last) / 1e6, now
			end))
			local all = measure(function() return ended end, function() vim.cmd('Cursord ask stream') end)
			timer:close()
			table.sort(ticks)
			return { all, ticks[math.ceil(#ticks / 2)], ticks[math.ceil(#ticks * 0.99)], ticks[#ticks] }`).([]any)
		n.until("the last word", "local t = (function() "+transcript+" end)() return t:sub(-8) == 'The end.'")
		t.Logf("a turn of %d deltas: %.0f ms, %.0f a second; meanwhile a timer of 2 ms came after %.1f ms, 99 of 100 within %.1f ms, all within %.1f ms",
			deltas, got[0], float64(deltas)/got[0].(float64)*1000, got[1], got[2], got[3])
	})
}
