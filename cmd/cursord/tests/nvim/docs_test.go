//go:build unix

package nvim

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDocs compares the help with the plugin: each command, map, setting, highlight group and event is described, and
// every link leads somewhere.
func TestNvimDocs(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
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

// TestNvimDocsNameKeys: the help names each key that the plugin maps in its own buffers, where it describes the buffer.
func TestNvimDocsNameKeys(t *testing.T) {
	t.Parallel()
	doc := world.ReadPage(t, "editors/nvim/doc/cursord.txt")
	spaces := regexp.MustCompile(`\s+`)
	entry := regexp.MustCompile(`\{ '[^']+', (\{[^{}]*\}|'[^']+'), '[nixo]+',`)
	for file, at := range map[string][2]string{
		"keys.lua": {"*cursord-chat*", "\n====="}, "review/keys.lua": {"*cursord-patch*", "\n====="}, "sessions/list.lua": {"*:Cursord-sessions*", "\n:Cursord "},
		"sessions/search.lua": {"*:Cursord-search*", "\n:Cursord "}, "sessions/typing.lua": {"*:Cursord-search*", "\n:Cursord "},
	} {
		_, text, found := strings.Cut(doc, at[0])
		require.True(t, found, at[0])
		text, _, _ = strings.Cut(text, at[1])
		named := map[string]bool{}
		for _, word := range strings.Fields(text) {
			named[strings.Trim(word, "(),.")] = true
		}
		source := spaces.ReplaceAllString(world.ReadPage(t, "editors/nvim/lua/cursord/"+file), " ")
		keys := 0
		for _, m := range entry.FindAllStringSubmatch(source, -1) {
			for _, key := range regexp.MustCompile(`'([^']+)'`).FindAllStringSubmatch(m[1], -1) {
				keys++
				if !named[key[1]] {
					t.Errorf("doc/cursord.txt does not name %s, which %s maps, below %s", key[1], file, at[0])
				}
			}
		}
		require.Greater(t, keys, 6, file)
	}
}

// luaBlocks are the pieces of an init file that a page shows.
func luaBlocks(t *testing.T, page string) (all []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^```lua\n(.*?)^```").FindAllStringSubmatch(world.ReadPage(t, page), -1) {
		all = append(all, m[1])
	}
	return all
}

// TestNvimReadme loads what README shows for an init file, and what the page about LSP shows for Neovim. The entry for
// lazy.nvim, which no test has, names the folder of the installed plugin.
func TestNvimReadme(t *testing.T) {
	t.Parallel()
	blocks := luaBlocks(t, "editors/nvim/README.md")
	require.Len(t, blocks, 3)
	lsp := luaBlocks(t, "editors/lsp/README.md")
	require.Len(t, lsp, 1)
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		n := neovim(w, t, bin, "")
		dir := n.lua("return vim.fs.normalize(({ " + blocks[0] + " })[1].dir)")
		require.Equal(t, n.lua("return vim.fs.normalize('~/.local/share/nvim/site/pack/cursord/start/cursord.nvim')"), dir)
		n.lua(strings.ReplaceAll(blocks[1], "/path/to/cursord", world.Top()))
		require.Contains(t, n.lua(`return vim.o.runtimepath`), world.Top("editors", "nvim"))
		n.lua(blocks[2])
		for _, m := range regexp.MustCompile(`keymap\.set\((.*?), "([^"]+)", "(<Plug>[^"]+)"`).FindAllStringSubmatch(blocks[2], -1) {
			for _, mode := range regexp.MustCompile(`\w`).FindAllString(m[1], -1) {
				require.Equal(t, m[3], n.lua(`return vim.fn.maparg(..., select(2, ...))`, m[2], mode), "%s in mode %s", m[2], mode)
				require.NotEmpty(t, n.lua(`return vim.fn.maparg(..., select(2, ...))`, m[3], mode), "%s leads nowhere in mode %s", m[3], mode)
			}
		}
		n.lua(lsp[0])
		n.until("the language server", `local c = vim.lsp.get_clients({ name = 'cursord' })[1] return c ~= nil and c.initialized == true`)
	})
}
