--- How floats are closed in which the cursor is not.
local api = vim.api
local M = {}

--- Maps keys to closing a float, until it is closed.
--- @param win integer
--- @param keys string[]
function M.closed_by(win, keys)
  local buf, old = api.nvim_get_current_buf(), {} --- @type integer, table<string, table>
  for _, key in ipairs(keys) do
    old[key] = vim.fn.maparg(key, 'n', false, true)
    vim.keymap.set('n', key, function()
      pcall(api.nvim_win_close, win, true)
    end, { buffer = buf, nowait = true })
  end
  api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(win),
    once = true,
    callback = vim.schedule_wrap(function()
      for key, map in pairs(api.nvim_buf_is_valid(buf) and old or {}) do
        api.nvim_buf_call(buf, function()
          if map.buffer == 1 then
            vim.fn.mapset('n', false, map)
          else
            vim.keymap.del('n', key, { buffer = buf })
          end
        end)
      end
    end),
  })
end

--- Closes a float when the person moves the cursor of this buffer. Neovim tells of moves also when a list is written again.
--- @param win integer
function M.closed_by_moves(win)
  local buf = api.nvim_get_current_buf()
  local at = api.nvim_win_get_cursor(0)
  api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI' }, {
    buffer = buf,
    nested = true, -- or WinClosed is not told
    callback = function()
      if not vim.deep_equal(api.nvim_win_get_cursor(0), at) or not api.nvim_win_is_valid(win) then
        pcall(api.nvim_win_close, win, true)
        return true
      end
    end,
  })
end

return M
