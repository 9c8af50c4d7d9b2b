--- The options of the chat's windows.
local config = require('cursord.config')

local api = vim.api
local M = {}

--- @param win integer
--- @param values table<string, any>
function M.set(win, values)
  for name, value in pairs(values) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

M.common = {
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  wrap = true,
  linebreak = true,
  list = false,
  spell = false,
}

--- Screens with fewer columns have the chat below, as two windows beside each other would be too narrow to read.
local beside_min = 60

--- @param position string
--- @return boolean
function M.is_beside(position)
  return (position == 'left' or position == 'right') and vim.o.columns >= beside_min
end

--- Sets the options of the transcript's window. Neovim resets them when the window gets another buffer.
--- @param win integer
function M.transcript(win)
  local position = config.get().chat.position
  M.set(win, M.common)
  if not config.own_statusline then
    M.set(win, { statusline = " %{%v:lua.require'cursord.chat'.winbar('title')%}%=%l,%c " })
  end
  M.set(win, {
    winbar = "%{%v:lua.require'cursord.chat'.winbar()%}",
    foldmethod = 'expr',
    foldexpr = "getline(v:lnum)[:4]==#'  │'?1:getline(v:lnum+1)[:4]==#'  │'?'>1':0",
    foldlevel = 0,
    foldtext = '',
    fillchars = 'fold: ',
    winhighlight = 'Folded:CursordFolded',
    conceallevel = 2,
    smoothscroll = true, -- a last paragraph that is higher than the window shows its end
    winfixwidth = M.is_beside(position),
  })
  api.nvim_win_call(win, function()
    vim.fn.foldlevel(1) -- fold now: Insert mode may begin before the window is drawn
  end)
end

return M
