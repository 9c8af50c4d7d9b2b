--- Notifies through the terminal when a turn ends and Neovim does not have the focus.
local config = require('cursord.config')

local api = vim.api
local M = {}

local focused, text_most = true, 200

api.nvim_create_autocmd({ 'FocusGained', 'FocusLost' }, {
  group = api.nvim_create_augroup('cursord_focus', {}),
  callback = function(args)
    focused = args.event == 'FocusGained'
  end,
})

--- The escape sequence of a notification: OSC 777 for terminals that know it, else OSC 9. In tmux it is wrapped for the
--- outer terminal.
--- @param text string
--- @return string
local function sequence(text)
  local env = vim.env
  local urgent = (env.TERM or ''):find('^foot') or (env.TERM or ''):find('^rxvt') or env.VTE_VERSION
  local out = urgent and ('\27]777;notify;Cursor;%s\27\\'):format(text)
    or ('\27]9;%s\27\\'):format(text)
  if env.TMUX then
    out = '\27Ptmux;' .. out:gsub('\27', '\27\27') .. '\27\\'
  end
  return out
end

--- Notifies, unless Neovim has the focus.
--- @param text string
function M.away(text)
  if focused or not config.get().notify.unfocused or #api.nvim_list_uis() == 0 then
    return
  end
  text = vim.fn.strcharpart(text:gsub('[%c;]+', ' '):gsub('\194[\128-\159]', ' '), 0, text_most)
  if api.nvim_ui_send then
    api.nvim_ui_send(sequence(text))
  else
    pcall(api.nvim_chan_send, vim.v.stderr, sequence(text))
  end
end

return M
