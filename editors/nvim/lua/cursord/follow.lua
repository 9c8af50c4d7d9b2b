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

--- Has Neovim look whether a buffer's file is another one than it knows, and do about it what choice says.
--- @param choice 'reload'|'' nothing is done but to know the file
local function check(buf, choice)
  M.reloading = buf
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      vim.v.fcs_choice = choice
    end,
  })
  local undoreload = vim.o.undoreload
  vim.o.undoreload = -1
  pcall(vim.cmd.checktime, { args = { tostring(buf) } })
  vim.o.undoreload = undoreload
  M.reloading = nil
  pcall(api.nvim_del_autocmd, id)
end

--- Has Neovim read a buffer's file again if it is another one, whatever 'autoread' says. That is one step for undo.
local function reload(buf)
  check(buf, 'reload')
end

local writing = api.nvim_create_augroup('cursord_writing', {})

--- Writes a buffer whose file is what adopt has said. Neovim would ask, because it has not read that itself.
--- @param buf integer
--- @param known string? the file's stamp
local function write_adopted(buf, known)
  api.nvim_create_autocmd('BufWriteCmd', {
    group = writing,
    buffer = buf,
    nested = true,
    callback = function(args)
      api.nvim_del_autocmd(args.id)
      local own = vim.uv.fs_realpath(args.match) == vim.uv.fs_realpath(api.nvim_buf_get_name(buf))
      local stat = vim.uv.fs_stat(args.match)
      local sure = own and stat and stamp(stat) == known and vim.uv.fs_access(args.match, 'W')
      local bang = (sure or vim.v.cmdbang == 1) and '!' or ''
      local command = ('keepalt write%s %s %s'):format(
        bang,
        vim.v.cmdarg,
        vim.fn.fnameescape(args.file)
      )
      local ok, err = pcall(vim.cmd, command)
      if not own or not ok then
        write_adopted(buf, known)
      end
      if not ok then
        error(err, 0)
      end
    end,
  })
end

--- Has Neovim know that a buffer is what its file holds.
local function adopt(buf, path)
  vim.bo[buf].modified = true -- else 'autoread' would have it read again
  check(buf, '')
  vim.bo[buf].modified = false
  api.nvim_clear_autocmds({ group = writing, buffer = buf })
  write_adopted(buf, stamp(vim.uv.fs_stat(path)))
end

--- How many bytes two texts have in common.
--- @param at fun(text: string, n: integer, size: integer): string a piece behind n bytes
local function common(old, new, at)
  local size, n = 65536, 0
  local most = math.min(#old, #new)
  while size >= 1 do
    while n + size <= most and at(old, n, size) == at(new, n, size) do
      n = n + size
    end
    size = size / 2
  end
  return n
end

local function from_start(text, n, size)
  return text:sub(n + 1, n + size)
end

local function from_end(text, n, size)
  return text:sub(#text - n - size + 1, #text - n)
end

local newline = 10

--- @class cursord.Piece
--- @field from integer the first old line that goes, from 1; where none goes, the one in front of which others come
--- @field count integer how many go
--- @field lines string[] what comes

--- What makes a text another one, in lines. Both end with a line end.
--- @param old string
--- @param new string
--- @param line_at fun(n: integer): integer the number of the old line that begins behind n bytes
--- @return cursord.Piece[]
local function blocks_of(old, new, line_at)
  if old == new then
    return {}
  end
  local head = common(old, new, from_start)
  while head > 0 and old:byte(head) ~= newline do
    head = head - 1
  end
  local a, b = old:sub(head + 1), new:sub(head + 1)
  local tail = common(a, b, from_end)
  -- Lines are the same as a whole, or not at all.
  while
    tail > 0
    and not (
      (tail == #a or a:byte(#a - tail) == newline) and (tail == #b or b:byte(#b - tail) == newline)
    )
  do
    tail = tail - 1
  end
  a, b = a:sub(1, #a - tail), b:sub(1, #b - tail)
  local before = line_at(head) - 1
  local lines = vim.split(b, '\n', { plain = true })
  local out = {} --- @type cursord.Piece[]
  for _, block in
    ipairs(line_diff(a, b, { result_type = 'indices' }) --[[@as integer[][] ]])
  do
    local from, count, to, many = unpack(block)
    out[#out + 1] = {
      -- Where there is nothing, the line before is named.
      from = before + from + (count == 0 and 1 or 0),
      count = count,
      lines = many > 0 and vim.list_slice(lines, to, to + many - 1) or {},
    }
  end
  return out
end

--- @param text string
local function counted(text)
  return function(n)
    return select(2, text:sub(1, n):gsub('\n', '')) + 1
  end
end

local function with_eol(text)
  return text:sub(-1) == '\n' and text or text .. '\n'
end

--- Where lines are that were moved by a change.
--- @param blocks cursord.Piece[]
--- @return fun(line: integer): integer # for line numbers from 1
local function moved(blocks)
  return function(line)
    local shift = 0
    for _, block in ipairs(blocks) do
      if line < block.from then
        break
      elseif line < block.from + block.count then
        return math.max(
          1,
          block.from + shift + math.min(line - block.from, math.max(#block.lines - 1, 0))
        )
      end
      shift = shift + #block.lines - block.count
    end
    return line + shift
  end
end

--- @param buf integer
--- @return table<integer, vim.fn.winsaveview.ret>
local function save_views(buf)
  local views = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return views
end

local function restore_views(views, blocks)
  local where = moved(blocks)
  for win, at in pairs(views) do
    at.lnum, at.topline = where(at.lnum), at.topline == 1 and 1 or where(at.topline)
    api.nvim_win_call(win, function()
      vim.fn.winrestview(at)
    end)
  end
end

--- @return string?
local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  return text
end

--- Whether a text is in a buffer as it is in its file, but for the line ends.
local function is_plain(buf, text)
  local bo = vim.bo[buf]
  return bo.fileformat == 'unix'
    and not bo.bomb
    and not bo.binary
    and (bo.fileencoding == '' or bo.fileencoding == 'utf-8')
    and text ~= ''
    and not text:find('\r', 1, true)
    and not text:find('\0', 1, true)
    and text:sub(1, 3) ~= '\239\187\191'
end

--- What a buffer held when this module saw it last, so that it need not be read line by line.
local known = {} --- @type table<integer, { tick: integer, text: string }>

--- @param buf integer
function M.forget(buf)
  known[buf] = nil
end

local function text_of(buf)
  local it = known[buf]
  if it and it.tick == api.nvim_buf_get_changedtick(buf) then
    return it.text
  end
  return require('cursord.docs').text(buf)
end

--- Brings a buffer to what its file holds by changing only what differs.
--- @return boolean? # whether it was changed; nil if Neovim has to read the file
local function patch(buf, path)
  local text = vim.b[buf].cursord_plain and read(path)
  if not text or not is_plain(buf, text) then
    return nil
  end
  local blocks = blocks_of(with_eol(text_of(buf)), with_eol(text), function(n)
    return api.nvim_buf_call(buf, function()
      local line = vim.fn.byte2line(n + 1)
      return line > 0 and line or api.nvim_buf_line_count(buf) + 1
    end)
  end)
  for _, block in ipairs(blocks) do
    if not pcall(vim.fn.json_encode, block.lines) then -- it is not UTF-8
      return nil
    end
  end
  local views = save_views(buf)
  local modifiable = vim.bo[buf].modifiable
  -- What "u" goes back to is not what the file holds then.
  vim.bo[buf].modifiable, vim.bo[buf].modified = true, true
  undo_step(buf)
  for i = #blocks, 1, -1 do
    local from, count = blocks[i].from - 1, blocks[i].count
    api.nvim_buf_set_lines(buf, from, from + count, false, blocks[i].lines)
  end
  undo_step(buf)
  vim.bo[buf].modifiable, vim.bo[buf].endofline = modifiable, text:sub(-1) == '\n'
  adopt(buf, path)
  known[buf] = { tick = api.nvim_buf_get_changedtick(buf), text = text }
  restore_views(views, blocks)
  M.reloading = buf
  api.nvim_exec_autocmds('FileChangedShellPost', { buffer = buf, modeline = false })
  M.reloading = nil
  return #blocks > 0
end

--- Finds out whether a buffer has the text of its file, and not something that was made of it.
--- @param buf integer
--- @param path string
function M.compare(buf, path)
  local stat = vim.uv.fs_stat(path)
  local count = api.nvim_buf_line_count(buf)
  local fits = stat
    and stat.type == 'file'
    and math.abs(stat.size - api.nvim_buf_get_offset(buf, count)) < 2
  local text = fits and read(path)
  vim.b[buf].cursord_plain = text
    and is_plain(buf, text)
    and text == require('cursord.docs').text(buf)
end

--- Brings a buffer without changes to what its file holds. Cursors and windows stay at their text.
--- @param buf integer
--- @param path string
--- @return 'read'|'changed'|nil # nil if it was so already
--- @return integer? # the state, in undotree(), that was left
function M.disk(buf, path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' or vim.b[buf].cursord_stamp == stamp(stat) then
    return nil
  end
  local before, tick = M.state(buf), api.nvim_buf_get_changedtick(buf)
  local patched = nil
  if
    api.nvim_buf_line_count(buf) == 1
    and stat.size > 0
    and require('cursord.docs').text(buf) == ''
  then
    -- Of a file that was not there Neovim does not know that it is there now.
    api.nvim_buf_call(buf, function()
      vim.cmd('silent edit')
    end)
  else
    patched = patch(buf, path)
  end
  if patched == nil and api.nvim_buf_get_changedtick(buf) == tick then
    local views, old = save_views(buf), with_eol(require('cursord.docs').text(buf))
    reload(buf)
    if next(views) and api.nvim_buf_get_changedtick(buf) ~= tick then
      local new = with_eol(require('cursord.docs').text(buf))
      restore_views(views, blocks_of(old, new, counted(old)))
    end
  end
  if patched == nil then
    M.compare(buf, path)
  end
  -- If it was written meanwhile, the next look sees that.
  local now = stamp(vim.uv.fs_stat(path))
  vim.b[buf].cursord_stamp = now == stamp(stat) and now or nil
  if patched or patched == nil and api.nvim_buf_get_changedtick(buf) ~= tick then
    return patched and 'changed' or 'read', before
  end
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
  local text = read(path) or ''
  if not plain then
    text = text:gsub('\r\n', '\n'):gsub('^\239\187\191', '')
  end
  if text == require('cursord.docs').text(buf) then
    adopt(buf, path)
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
