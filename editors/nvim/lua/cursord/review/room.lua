--- Room for virtual lines above the first line of a buffer. Neovim shows them there only in windows that reserve it.
local api = vim.api
local M = {}

--- The namespaces whose lines are shown.
local ours = {
  [api.nvim_create_namespace('cursord_words')] = true,
  [api.nvim_create_namespace('cursord_moved')] = true,
}

--- @param buf integer
--- @return integer # how many lines there are above the first; 0 if none is ours
local function above(buf)
  local count, some = 0, false
  local first = api.nvim_buf_get_extmarks(buf, -1, 0, { 0, -1 }, { details = true })
  for _, mark in ipairs(first) do
    if mark[4].virt_lines and mark[4].virt_lines_above then
      count, some = count + #mark[4].virt_lines, some or ours[mark[4].ns_id] or false
    end
  end
  return some and count or 0
end

--- Shows the lines in a window that is at its top, unless the cursor's line has no room then.
--- @param win integer
local function fill(win)
  api.nvim_win_call(win, function()
    local at = vim.fn.winsaveview()
    local count = at.topline == 1 and above(api.nvim_win_get_buf(win)) or 0
    if at.topfill < count then
      vim.fn.winrestview({ topline = 1, topfill = count })
      if vim.fn.line('w0') ~= 1 then
        vim.fn.winrestview(at)
      end
    end
  end)
end

--- Shows the lines in the windows of a buffer that are at its top.
--- @param buf integer
function M.make(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    fill(win)
  end
end

local group = api.nvim_create_augroup('cursord_room', {})

api.nvim_create_autocmd('BufWinEnter', {
  group = group,
  callback = function(args)
    M.make(args.buf)
  end,
})

local before, last = '', '' -- the latest keys
vim.on_key(function(key)
  before, last = last, key
end, api.nvim_create_namespace('cursord_room'))

--- Whether the person has just moved a line to a place in the window, for instance by |zt|, and has not scrolled lines away.
local function is_placing()
  return before == 'z' and last:find('^[t\rz.b-]$') ~= nil
end

-- A window that comes back to the top shows the lines. One in which they are scrolled away is left alone.
api.nvim_create_autocmd('WinScrolled', {
  group = group,
  callback = function()
    for id, by in pairs(vim.v.event) do
      local win = tonumber(id) -- "all" is the sum
      local comes = win and (by.topline < 0 or by.topfill < 0 and is_placing())
      if win and comes and api.nvim_win_is_valid(win) then
        fill(win)
      end
    end
  end,
})

return M
