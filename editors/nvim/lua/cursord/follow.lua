--- Changes of buffers that are not typed: line by line, so that marks, folds, cursors and the history stay.
local api = vim.api
local M = {}

--- Buffers of longer files are read again by Neovim itself.
local size_max = 32 * 1024 * 1024

local line_diff = vim.text and vim.text.diff or vim.diff

--- What was typed before and what is typed after are steps of their own.
local function undo_step(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- Has Neovim look at the time of a buffer's file, and do as choice says ('' or 'reload') if it is another.
local function checktime(buf, choice)
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      vim.v.fcs_choice = choice
    end,
  })
  pcall(vim.cmd.checktime, { args = { tostring(buf) } })
  pcall(api.nvim_del_autocmd, id)
end

--- @param stat uv.fs_stat.result?
local function stamp(stat)
  return stat and ('%d %d %d %d'):format(stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
end

--- Reads a file as the lines of a buffer.
--- @return string[]? lines, nil if Neovim has to read it itself
--- @return boolean? eol
local function read(buf, path)
  local bo = vim.bo[buf]
  local plain = (bo.fileencoding == '' or bo.fileencoding == 'utf-8') and not bo.binary and bo.modifiable
  if not plain or bo.fileformat == 'mac' then
    return nil
  end
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  if not text or text:find('%z') then
    return nil
  end
  if (text:sub(1, 3) == '\239\187\191') ~= bo.bomb then
    return nil
  end
  if bo.bomb then
    text = text:sub(4)
  end
  if bo.fileformat == 'dos' then
    local _, lf = text:gsub('\n', '')
    local unix, crlf = text:gsub('\r\n', '\n')
    if lf ~= crlf then
      return nil
    end
    text = unix
  end
  local eol = text == '' or text:sub(-1) == '\n'
  if eol then
    text = text:sub(1, -2)
  end
  return vim.split(text, '\n', { plain = true }), eol
end

--- Makes a buffer hold lines, changing only those that differ.
--- @param buf integer
--- @param lines string[]
--- @return boolean # whether some did
function M.set_lines(buf, lines)
  local old = api.nvim_buf_get_lines(buf, 0, -1, false)
  local head, most = 0, math.min(#old, #lines)
  while head < most and old[head + 1] == lines[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < most - head and old[#old - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  if head == #old and #old == #lines then
    return false
  end
  local function join(all)
    local text = table.concat(all, '\n', head + 1, #all - tail)
    return #all - tail > head and text .. '\n' or ''
  end
  local blocks = line_diff(join(old), join(lines), { result_type = 'indices' }) --[[@as integer[][] ]]
  undo_step(buf)
  for i = #blocks, 1, -1 do
    local from, count, now, many = unpack(blocks[i])
    -- Where there is nothing, the line before is named.
    from = head + (count == 0 and from or from - 1)
    now = head + (many == 0 and now or now - 1)
    api.nvim_buf_set_lines(buf, from, from + count, false, vim.list_slice(lines, now + 1, now + many))
  end
  undo_step(buf)
  return true
end

--- Brings a buffer without changes to what its file holds. It is one step for undo, and the buffer is unchanged after
--- it.
--- @param buf integer
--- @param path string
function M.disk(buf, path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' then
    return
  end
  if vim.b[buf].cursord_stamp == stamp(stat) then
    return
  end
  local lines, eol = nil, nil
  if stat.size <= size_max then
    lines, eol = read(buf, path)
  end
  if not lines then
    checktime(buf, 'reload')
  else
    M.set_lines(buf, lines)
    if vim.bo[buf].endofline ~= eol then
      vim.bo[buf].endofline = eol
    end
    -- With changes Neovim asks what to do and then knows the new time.
    vim.bo[buf].modified = true
    checktime(buf, '')
    vim.bo[buf].modified = false
  end
  -- If it was written meanwhile, the next look sees that.
  vim.b[buf].cursord_stamp = stamp(vim.uv.fs_stat(path)) == stamp(stat) and stamp(stat) or nil
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
