--- Keeps the chat as it is when other windows open and close.
local api = vim.api
local M = {}

--- @class cursord.KeptHeight
--- @field buf integer the window's buffer
--- @field above integer the window that has the rest of the lines
--- @field height integer that the window shall have
--- @field got integer that it has got
--- @field stale boolean windows have come or gone since, so that Neovim may have resized it

local kept = {} --- @type table<integer, cursord.KeptHeight> by window

--- Restores the heights after windows have come or gone. Else a new height is the person's.
local function check()
  for win, one in pairs(kept) do
    if not api.nvim_win_is_valid(win) then
      kept[win] = nil
    elseif api.nvim_win_get_buf(win) ~= one.buf or not api.nvim_win_is_valid(one.above) then
      -- It shows a file now, or it is alone: the height of the only window would be that of the command line.
      vim.wo[win].winfixheight, kept[win] = false, nil
    elseif api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      local now = api.nvim_win_get_height(win)
      if one.stale then
        one.stale = false
        if now ~= one.height then
          api.nvim_win_set_height(win, one.height)
        end
        one.got = api.nvim_win_get_height(win)
      elseif now ~= one.got then
        one.height, one.got = now, now
      end
    end
  end
end

local check_soon = vim.schedule_wrap(check)

--- Keeps the height of a window. Neovim gives it the lines of a closed window below it, in spite of 'winfixheight'.
--- @param win integer
--- @param above integer the window that gets the lines instead
function M.keep_height(win, above)
  local height = api.nvim_win_get_height(win)
  local buf = api.nvim_win_get_buf(win)
  kept[win] = { buf = buf, above = above, height = height, got = height, stale = false }
end

--- Makes Neovim go back to a window when the current one is closed. By itself it goes to a neighbour.
--- @param from integer
function M.back_to(from)
  local win = api.nvim_get_current_win()
  if from == win then
    return
  end
  api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(win),
    once = true,
    callback = function()
      if api.nvim_get_current_win() ~= win then
        return
      end
      api.nvim_create_autocmd('WinEnter', {
        once = true,
        callback = function()
          local here = api.nvim_get_current_tabpage()
          if api.nvim_win_is_valid(from) and api.nvim_win_get_tabpage(from) == here then
            api.nvim_set_current_win(from)
          end
        end,
      })
    end,
  })
end

--- Scrolls the windows of a buffer that show less than they have room for, because lines at its end have gone.
--- @param buf integer
function M.fill(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      vim.cmd('normal! Gzb')
      local top = vim.fn.line('w0')
      if top < view.topline then
        view.topline, view.skipcol = top, 0
      end
      vim.fn.winrestview(view)
    end)
  end
end

--- Goes to a row of a buffer in its window, and from there to a word.
--- @param buf integer
--- @param row integer from 1
--- @param word? string in any case
--- @param is_here fun(row: integer): boolean where the word may be
function M.go(buf, row, word, is_here)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_set_current_win(win)
    api.nvim_win_set_cursor(win, { row, 0 })
    if word then
      vim.fn.search('\\c\\V' .. vim.fn.escape(word, '\\'), 'cW')
    end
    if not is_here(vim.fn.line('.')) then
      api.nvim_win_set_cursor(win, { row, 0 })
    end
    vim.cmd('normal! zvzt')
  end
end

local group = api.nvim_create_augroup('cursord_windows', {})
api.nvim_create_autocmd({ 'WinNew', 'WinClosed', 'VimResized' }, {
  group = group,
  callback = function()
    for _, one in pairs(kept) do
      one.stale = true
    end
    check_soon()
  end,
})
api.nvim_create_autocmd('WinResized', { group = group, callback = check })

return M
