--- Changes of buffers that are not typed.
local api = vim.api
local M = {}

--- The buffer that is being read again by this module.
M.reloading = nil --- @type integer?

local line_diff = vim.text and vim.text.diff or vim.diff

--- What was typed before and what is typed after are steps of their own.
local function undo_step(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- @param stat uv.fs_stat.result?
local function stamp(stat)
  return stat and ('%d %d %d %d'):format(stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
end

--- Has Neovim read a buffer's file again if it is another one, whatever 'autoread' says. That is one step for undo.
local function reload(buf)
  M.reloading = buf
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      vim.v.fcs_choice = 'reload'
    end,
  })
  local undoreload = vim.o.undoreload
  vim.o.undoreload = -1
  pcall(vim.cmd.checktime, { args = { tostring(buf) } })
  vim.o.undoreload = undoreload
  M.reloading = nil
  pcall(api.nvim_del_autocmd, id)
end

--- Where lines are that were moved by a change.
--- @param old string[]
--- @param new string[]
--- @return fun(line: integer): integer # for line numbers from 1
function M.moved(old, new)
  local head, most = 0, math.min(#old, #new)
  while head < most and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < most - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  local function join(all)
    local text = table.concat(all, '\n', head + 1, #all - tail)
    return #all - tail > head and text .. '\n' or ''
  end
  local blocks = line_diff(join(old), join(new), { result_type = 'indices' }) --[[@as integer[][] ]]
  return function(line)
    local shift = 0
    for _, block in ipairs(blocks) do
      local from, count, _, many = unpack(block)
      -- Where there is nothing, the line before is named.
      local first = head + from + (count == 0 and 1 or 0)
      if line < first then
        break
      elseif line < first + count then
        return math.max(1, first + shift + math.min(line - first, math.max(many - 1, 0)))
      end
      shift = shift + many - count
    end
    return line + shift
  end
end

--- Brings a buffer without changes to what its file holds. Cursors and windows stay at their text.
--- @param buf integer
--- @param path string
--- @return boolean # whether it was read again
--- @return integer? # the state, in undotree(), that was left
function M.disk(buf, path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' or vim.b[buf].cursord_stamp == stamp(stat) then
    return false
  end
  local before, tick = M.state(buf), api.nvim_buf_get_changedtick(buf)
  local old = api.nvim_buf_get_lines(buf, 0, -1, false)
  local views = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  if #old == 1 and old[1] == '' and stat.size > 0 then
    -- Of a file that was not there Neovim does not know that it is there now.
    api.nvim_buf_call(buf, function()
      vim.cmd('silent edit')
    end)
  else
    reload(buf)
  end
  -- If it was written meanwhile, the next look sees that.
  local now = stamp(vim.uv.fs_stat(path))
  vim.b[buf].cursord_stamp = now == stamp(stat) and now or nil
  if api.nvim_buf_get_changedtick(buf) == tick then
    return false
  end
  if next(views) then
    local moved = M.moved(old, api.nvim_buf_get_lines(buf, 0, -1, false))
    for win, at in pairs(views) do
      at.lnum, at.topline = moved(at.lnum), at.topline == 1 and 1 or moved(at.topline)
      api.nvim_win_call(win, function()
        vim.fn.winrestview(at)
      end)
    end
  end
  return true, before
end

--- Where a buffer is in its history.
--- @param buf integer
--- @return integer
function M.state(buf)
  return api.nvim_buf_call(buf, vim.fn.undotree).seq_cur
end

--- Finds out that a buffer with changes is what its file holds, and has Neovim know that.
--- @param buf integer
--- @param path string
function M.settle(buf, path)
  local stat = vim.uv.fs_stat(path)
  local plain = vim.bo[buf].fileformat == 'unix' and not vim.bo[buf].bomb
  if
    not stat or plain and stat.size ~= api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  then
    return
  end
  local file = io.open(path, 'rb')
  local text = file and file:read('*a') or ''
  if file then
    file:close()
  end
  if not plain then
    text = text:gsub('\r\n', '\n'):gsub('^\239\187\191', '')
  end
  if text == require('cursord.docs').text(buf) then
    vim.bo[buf].modified = false
    reload(buf)
  end
end

--- Makes edits of whole lines, as one step for undo.
--- @param buf integer
--- @param edits cursord.TextEdit[]
function M.apply(buf, edits)
  undo_step(buf)
  for i = #edits, 1, -1 do
    local from, to, text = edits[i].range.start, edits[i].range['end'], edits[i].newText
    local count = api.nvim_buf_line_count(buf)
    local first = from.character > 0 and count or from.line
    local last = to.character > 0 and to.line + 1 or to.line
    local lines = vim.split(text, '\n', { plain = true })
    local eol = lines[#lines] == ''
    if eol then
      lines[#lines] = nil
    end
    api.nvim_buf_set_lines(buf, first, last, false, lines)
    if last >= count and i == #edits then
      vim.bo[buf].endofline = eol
    end
  end
  undo_step(buf)
end

return M
