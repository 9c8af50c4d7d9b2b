//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDocs holds the help to what there is: each command, map, setting, highlight group and event has its place, and
// every link leads somewhere.
func TestNvimDocs(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		n := neovim(w, t, bin, "")
		missing := n.lua(`local doc = vim.api.nvim_get_runtime_file('doc/cursord.txt', false)[1]
			local text, missing = table.concat(vim.fn.readfile(doc), '\n'), {}
			local function want(what)
				if not text:find(what, 1, true) then table.insert(missing, what) end
			end
			for _, sub in ipairs(vim.fn.getcompletion('Cursord ', 'cmdline')) do
				want('*:Cursord-' .. sub:gsub('!', '') .. '*')
			end
			for _, mode in ipairs({ 'n', 'x', 'o' }) do
				for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
					if vim.startswith(map.lhs, '<Plug>(cursord-') then want('    ' .. map.lhs) end
				end
			end
			local function settings(of)
				for key, value in pairs(of) do
					want('  ' .. key .. ' = ')
					if type(value) == 'table' and not vim.islist(value) and key ~= 'sign_text' then settings(value) end
				end
			end
			settings(require('cursord.config').get())
			for name in pairs(vim.api.nvim_get_hl(0, {})) do
				if vim.startswith(name, 'Cursord') then want('\n    ' .. name .. ' ') end
			end
			for _, file in ipairs(vim.api.nvim_get_runtime_file('lua/cursord/**/*.lua', true)) do
				for event in table.concat(vim.fn.readfile(file)):gmatch("'(Cursord%u%a+)'") do
					if vim.fn.hlexists(event) == 0 then want('*' .. event .. '*') end
				end
			end
			local copy = vim.fn.tempname()
			vim.fn.mkdir(copy .. '/doc', 'p')
			vim.fn.writefile(vim.fn.readfile(doc), copy .. '/doc/cursord.txt')
			vim.cmd.helptags(copy .. '/doc')
			vim.opt.rtp:prepend(copy)
			for link in text:gmatch('|([^%s|]+)|') do
				if not vim.list_contains(vim.fn.getcompletion(vim.fn.escape(link, '*?['), 'help'), link) then table.insert(missing, '|' .. link .. '|') end
			end
			return missing`)
		require.Empty(t, missing)
		n.quiet()
	})
}
