--- Changes of buffers that the person has not typed.
local history = require('cursord.history')
local lines = require('cursord.lines')

local api = vim.api
local M = {}

--- The buffer that this module is reading again.
M.reloading = nil --- @type integer?

--- Separates the undo steps before and after this call.
local function undo_step(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- @param stat uv.fs_stat.result?
--- @return string?
local function stamp(stat)
  return stat and ('%d %d %d %d'):format(stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
end

--- What tells two contents of a file apart.
--- @param path string
--- @return string?
function M.stamp(path)
  return stamp(vim.uv.fs_stat(path))
end

--- Has Neovim compare a buffer with the time of its file, and answers what to do if the file has changed.
--- @param choice 'reload'|'' read the file, or only note its time
--- @return boolean # whether Neovim finds that the file has changed
local function check(buf, choice)
  local asked = false
  M.reloading = buf
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      vim.v.fcs_choice, asked = choice, true
    end,
  })
  local undoreload = vim.o.undoreload
  vim.o.undoreload = -1
  pcall(vim.cmd.checktime, { args = { tostring(buf) } })
  vim.o.undoreload = undoreload
  M.reloading = nil
  pcall(api.nvim_del_autocmd, id)
  return asked
end

--- Reads a buffer's file. The change is one step for undo.
function M.edit(buf)
  local undoreload = vim.o.undoreload
  vim.o.undoreload = -1
  api.nvim_buf_call(buf, function()
    vim.cmd('silent edit')
  end)
  vim.o.undoreload = undoreload
end

--- Whether an autocommand writes the buffer (BufWriteCmd).
local function is_written_otherwise(buf)
  local name = api.nvim_buf_get_name(buf)
  for _, one in ipairs(api.nvim_get_autocmds({ event = 'BufWriteCmd' })) do
    local fits = one.buflocal and one.buffer == buf
    if fits or not one.buflocal and vim.fn.match(name, vim.fn.glob2regpat(one.pattern)) >= 0 then
      return true
    end
  end
  return false
end

--- Has Neovim note the time of a buffer's file without writing it, as after a write by an autocommand. No other state of
--- the undo history then counts as saved.
--- @param buf integer
--- @return boolean # false if an autocommand is running, in which others do not run
local function know(buf)
  local bo, known = vim.bo[buf], false
  local readonly, ignored = bo.readonly, vim.o.eventignore
  vim.o.eventignore = 'OptionSet'
  bo.modified, bo.readonly, bo.buftype = true, false, 'acwrite'
  local id = api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function()
      bo.modified, known = false, true
    end,
  })
  pcall(api.nvim_buf_call, buf, function()
    vim.cmd('silent lockmarks keepalt write')
  end)
  api.nvim_del_autocmd(id)
  bo.readonly, bo.buftype, vim.o.eventignore = readonly, '', ignored
  vim.b[buf].cursord_saves = history.saves(buf) -- this was none of the person's
  return known
end

--- Has Neovim take a buffer as saved: its text is what its file holds. Buffers that only autocommands can write are left
--- alone where autocommands do not run.
--- @param buf integer
--- @param path string
local function adopt(buf, path)
  local bo = vim.bo[buf]
  if is_written_otherwise(buf) then
    bo.modified = true -- or 'autoread' would read the file again
    check(buf, '')
    bo.modified = false
    return
  end
  local known = know(buf)
  bo.modified = false
  if not known then
    local tick, seen = api.nvim_buf_get_changedtick(buf), M.stamp(path)
    vim.schedule(function()
      local same = api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_changedtick(buf) == tick
      if same and not vim.bo[buf].modified and M.stamp(path) == seen then
        adopt(buf, path)
      end
    end)
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

local function restore_views(views, pieces)
  local where = lines.moved(pieces)
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

--- Whether Neovim shows this text of a file as it is: no conversion, no byte order mark, no other line ends.
local function is_plain(buf, text)
  return lines.shown(buf, text) == text
end

--- The last known text of buffers, which saves reading them line by line.
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
  return lines.text(buf)
end

--- Changes a buffer, as one step for undo.
--- @param buf integer
--- @param pieces cursord.Piece[]
function M.change(buf, pieces)
  undo_step(buf)
  for i = #pieces, 1, -1 do
    local from, count = pieces[i].from - 1, pieces[i].count
    api.nvim_buf_set_lines(buf, from, from + count, false, pieces[i].lines)
  end
  undo_step(buf)
end

--- Brings a buffer to the content of its file by changing only the lines that differ.
--- @return boolean? # whether it was changed; nil if Neovim has to read the file
local function patch(buf, path)
  local text = vim.b[buf].cursord_same and lines.shown(buf, read(path))
  if not text then
    return nil
  end
  local old = lines.with_eol(text_of(buf))
  local counted = vim.bo[buf].fileformat == 'dos' and lines.counted(old)
  local pieces = lines.pieces(old, lines.with_eol(text), counted or function(n)
    return api.nvim_buf_call(buf, function()
      local line = vim.fn.byte2line(n + 1)
      return line > 0 and line or api.nvim_buf_line_count(buf) + 1
    end)
  end)
  if not lines.are_utf8(pieces) then
    return nil
  end
  local views = save_views(buf)
  local modifiable = vim.bo[buf].modifiable
  -- The state to which "u" leads is not saved then.
  vim.bo[buf].modifiable, vim.bo[buf].modified = true, true
  M.change(buf, pieces)
  vim.bo[buf].modifiable, vim.bo[buf].endofline = modifiable, text:sub(-1) == '\n'
  adopt(buf, path)
  known[buf] = { tick = api.nvim_buf_get_changedtick(buf), text = text }
  restore_views(views, pieces)
  M.reloading = buf
  api.nvim_exec_autocmds('FileChangedShellPost', { buffer = buf, modeline = false })
  M.reloading = nil
  return #pieces > 0
end

--- Notes whether a buffer has the text of its file, neither converted nor decrypted, and whether it has it byte for byte.
--- @param buf integer
--- @param path string
function M.compare(buf, path)
  local stat = vim.uv.fs_stat(path)
  local count = api.nvim_buf_line_count(buf)
  local size = api.nvim_buf_get_offset(buf, count) + (vim.bo[buf].bomb and 3 or 0)
  local most = vim.bo[buf].fileformat == 'dos' and count + 2 or 2
  local fits = stat and stat.type == 'file' and math.abs(stat.size - size) < most
  local text = fits and read(path)
  local same = text and text == lines.text(buf)
  vim.b[buf].cursord_same = text and lines.shown(buf, text) == lines.text(buf) or false
  vim.b[buf].cursord_plain = same and is_plain(buf, text)
  vim.b[buf].cursord_stamp = (same or vim.b[buf].cursord_same) and stamp(stat) or nil
end

--- Brings a buffer without changes to the content of its file. Cursors and windows stay at their text.
--- @param buf integer
--- @param path string
--- @return 'read'|'changed'|nil # nil if nothing has changed
function M.disk(buf, path, again)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' or vim.b[buf].cursord_stamp == stamp(stat) then
    return nil
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  local patched = nil
  if api.nvim_buf_line_count(buf) == 1 and stat.size > 0 and lines.text(buf) == '' then
    -- Neovim does not notice by itself that a file has been created.
    M.edit(buf)
  else
    patched = patch(buf, path)
  end
  if patched == nil and api.nvim_buf_get_changedtick(buf) == tick then
    local views, old = save_views(buf), lines.with_eol(lines.text(buf))
    -- Whatever 'autoread' is. Neovim compares only times, and two writes within a tick of the system's clock have the same.
    if not check(buf, 'reload') and vim.b[buf].cursord_stamp then
      M.edit(buf)
    end
    if next(views) and api.nvim_buf_get_changedtick(buf) ~= tick then
      local new = lines.with_eol(lines.text(buf))
      restore_views(views, lines.pieces(old, new, lines.counted(old)))
    end
  end
  if patched == nil then
    M.compare(buf, path)
  end
  -- The file may have been written again meanwhile. Look again, but a few times at most; the next diff gives another
  -- chance.
  local now = M.stamp(path)
  vim.b[buf].cursord_stamp = now == stamp(stat) and now or nil
  if now and now ~= stamp(stat) and (again or 0) < 3 and not vim.bo[buf].modified then
    M.disk(buf, path, (again or 0) + 1)
  end
  if patched or patched == nil and api.nvim_buf_get_changedtick(buf) ~= tick then
    return patched and 'changed' or 'read'
  end
end

--- The content of a buffer's file, if the buffer has the same.
--- @param buf integer
--- @param path string
--- @return string?
function M.held(buf, path)
  local stat = vim.b[buf].cursord_plain and vim.uv.fs_stat(path)
  return stat and vim.b[buf].cursord_stamp == stamp(stat) and read(path) or nil
end

--- Merges the changes of a file into a buffer with changes, if they are in other lines.
--- @param buf integer
--- @param path string
--- @param base string the common text of both
--- @return string # their common text afterwards
--- @return boolean? # whether Neovim also knows what was written meanwhile, and is not merged
function M.merge(buf, path, base)
  local seen = M.stamp(path)
  local text, mine = read(path), lines.text(buf)
  if not text or text == base or not is_plain(buf, text) or is_written_otherwise(buf) then
    return base
  end
  local old = lines.with_eol(base)
  local function pieces(new)
    return lines.pieces(old, lines.with_eol(new), lines.counted(old))
  end
  local both = lines.rebase(pieces(text), pieces(mine))
  local ready = both and lines.are_utf8(both) and know(buf)
  vim.bo[buf].modified = true
  if not both or not ready then
    return base
  end
  local views = save_views(buf)
  M.change(buf, both)
  restore_views(views, both)
  vim.b[buf].cursord_stamp = nil
  local same = seen == M.stamp(path)
  return same and text or base, not same
end

--- Has Neovim know the file of a buffer with changes, into which the file's changes have been merged.
--- @param buf integer
function M.knows(buf)
  if not is_written_otherwise(buf) then
    know(buf)
    vim.bo[buf].modified = true
  end
end

--- Notices that a buffer with changes equals its file, and has Neovim take it as saved.
--- @param buf integer
--- @param path string
--- @param any_end? boolean take the file's end of the last line; the undo history does not know it
function M.settle(buf, path, any_end)
  local stat = vim.uv.fs_stat(path)
  local plain = vim.bo[buf].fileformat == 'unix' and not vim.bo[buf].bomb
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  -- The size may count a line end that the last line does not have.
  if not stat or plain and math.abs(stat.size - size) > 1 then
    return
  end
  local text = read(path) or ''
  if not plain then
    text = text:gsub('\r\n', '\n'):gsub('^\239\187\191', '')
  end
  local mine = lines.text(buf)
  if any_end and text ~= '' and mine ~= text and lines.with_eol(mine) == lines.with_eol(text) then
    vim.bo[buf].endofline = text:sub(-1) == '\n'
    mine = text
  end
  if text == mine then
    adopt(buf, path)
  end
end

--- Has writes leave the end of the last line alone while a buffer is under review. A line end that nobody has typed would
--- change the line's author.
--- @param buf integer
--- @param reviewed boolean
function M.keep_end(buf, reviewed)
  local bo = vim.bo[buf]
  if reviewed and not bo.endofline and bo.fixendofline then
    vim.b[buf].cursord_fixes, bo.fixendofline = true, false
  elseif vim.b[buf].cursord_fixes and (not reviewed or bo.endofline) then
    vim.b[buf].cursord_fixes, bo.fixendofline = nil, true
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
    local new = vim.split(text, '\n', { plain = true })
    local eol = new[#new] == ''
    if eol then
      new[#new] = nil
    end
    api.nvim_buf_set_lines(buf, first, last, false, new)
    if last >= count and i == #edits then
      vim.bo[buf].endofline = eol
    end
  end
  undo_step(buf)
end

--- Replaces a buffer's text by changing only the lines that differ, as one step for undo.
--- @param buf integer
--- @param text string
function M.become(buf, text)
  local old = lines.with_eol(lines.text(buf))
  M.change(buf, lines.pieces(old, lines.with_eol(text), lines.counted(old)))
end

return M
