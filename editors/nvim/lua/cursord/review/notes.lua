--- Notes above lines. They fit into the windows of their buffer.
local config = require('cursord.config')
local message = require('cursord.message')

local api = vim.api
local M = {}

--- The columns left of a window's text. Neovim knows those of signs and numbers only when it has drawn them.
--- @param win integer
--- @return integer
local function left_of(win)
  local wo, buf, signs = vim.wo[win], api.nvim_win_get_buf(win), 0
  if config.get().review.signs and vim.startswith(wo.signcolumn, 'auto') then
    signs = 2
  elseif vim.startswith(wo.signcolumn, 'yes') then
    signs = 2 * tonumber(wo.signcolumn:match('%d') or 1)
  end
  local lines = wo.number and api.nvim_buf_line_count(buf) or api.nvim_win_get_height(win)
  local digits = math.max(#tostring(lines), wo.numberwidth - 1)
  local numbers = (wo.number or wo.relativenumber) and digits + 1 or 0
  local folds = tonumber(wo.foldcolumn) or 0
  return math.max(vim.fn.getwininfo(win)[1].textoff, signs + numbers + folds)
end

--- Splits a note into lines that the windows of a buffer have room for.
--- @param buf integer
--- @param note string
--- @return string[]
function M.fold(buf, note)
  local width = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    width = math.min(width, api.nvim_win_get_width(win) - left_of(win))
  end
  return message.fold(note, width)
end

local group = api.nvim_create_augroup('cursord_notes', {})

--- Calls redo for buffers whose windows have another width for text.
--- @param redo fun(buf: integer)
function M.on_resize(redo)
  api.nvim_create_autocmd({ 'WinResized', 'BufWinEnter' }, {
    group = group,
    callback = function(args)
      local bufs = { [args.buf] = true }
      for _, win in ipairs(args.event == 'WinResized' and vim.v.event.windows or {}) do
        bufs[api.nvim_win_get_buf(win)] = true
      end
      for buf in pairs(bufs) do
        redo(buf)
      end
    end,
  })
  api.nvim_create_autocmd('OptionSet', {
    group = group,
    pattern = { 'number', 'relativenumber', 'numberwidth', 'signcolumn', 'foldcolumn' },
    callback = function()
      redo(api.nvim_get_current_buf())
    end,
  })
end

return M
