--- Says in a buffer that the agent has moved its file. If the agent has deleted the file, the note of the hunk says so. When
--- such a move is taken back, a buffer without changes follows its file; of a file that is gone it is said. In all
--- cases this module keeps Neovim's own message back.
local docs = require('cursord.docs')
local follow = require('cursord.follow')
local message = require('cursord.message')
local notes = require('cursord.review.notes')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local ns = api.nvim_create_namespace('cursord_moved')

local noted = {} --- @type table<integer, string> the notes, by buffer

--- @param buf integer
--- @param text? string nil removes the note
local function note(buf, text)
  noted[buf] = text
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  if not text then
    return
  end
  api.nvim_buf_set_extmark(buf, ns, 0, 0, {
    virt_lines = vim.tbl_map(function(line)
      return { { line, 'CursordMaybeText' } }
    end, notes.fold(buf, text)),
    virt_lines_above = true,
    undo_restore = false,
  })
  require('cursord.review.room').make(buf)
end

notes.on_resize(function(buf)
  if noted[buf] then
    note(buf, noted[buf])
  end
end)

--- @param diff? cursord.Diff
--- @return string? # the path that a move has left
local function left_by(diff)
  local hunk = diff and diff.hunks[1]
  return diff and diff.state == 'pending' and hunk and not hunk.isolated and diff.oldPath or nil
end

local silenced = {} --- @type table<integer, integer> autocommands, by buffer

--- Keeps Neovim from saying that the file of a buffer is no longer available (E211), or lets it say so again.
--- @param buf integer
--- @param gone boolean
local function silence(buf, gone)
  if gone and not silenced[buf] then
    silenced[buf] = api.nvim_create_autocmd('FileChangedShell', {
      buffer = buf,
      callback = function()
        vim.v.fcs_choice = vim.v.fcs_reason == 'deleted' and '' or 'ask'
      end,
    })
  elseif not gone and silenced[buf] then
    pcall(api.nvim_del_autocmd, silenced[buf])
    silenced[buf] = nil
  end
end

--- Has a buffer without changes follow its file, which has another name now.
--- @param ws cursord.Workspace
--- @param doc cursord.Doc
--- @param to string
--- @return boolean # whether it does
local function rename(ws, doc, to)
  local path, name = docs.absolute(ws, to), api.nvim_buf_get_name(doc.buf)
  local from = doc.rel -- "doc" is no document any more when its buffer has another name
  local named = vim.uv.fs_stat(path)
    and pcall(api.nvim_buf_call, doc.buf, function()
      vim.cmd('silent keepalt file ' .. vim.fn.fnameescape(vim.fn.fnamemodify(path, ':.')))
    end)
  if not named then
    return false -- another buffer has the name, too
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(buf) == name and not api.nvim_buf_is_loaded(buf) then
      pcall(api.nvim_buf_delete, buf, { force = true }) -- Neovim keeps the former name as that of another file
    end
  end
  local views = {} --- @type table<integer, vim.fn.winsaveview.ret>
  for _, win in ipairs(vim.fn.win_findbuf(doc.buf)) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  follow.edit(doc.buf)
  follow.compare(doc.buf, path)
  for win, view in pairs(views) do
    api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
  rpc.say(('%s → %s: the file was renamed, and its buffer with it'):format(from, to))
  return true
end

local gone = {} --- @type string[] files that are to be told

local function say_gone()
  local one = #gone == 1
  local what = one and gone[1] .. ' is' or #gone .. ' files are'
  local it = one and 'it' or 'each'
  if not message.note_more(('%s gone, :w writes %s again'):format(what, it)) then
    local way = one and ':w writes it again' or ':w in its buffer writes each again'
    rpc.say(('%s not on disk any more; %s'):format(what, way))
  end
  gone = {}
end

--- Looks whether the file of a buffer has gone with a diff.
--- @param ws cursord.Workspace
--- @param diff? cursord.Diff
--- @param before? cursord.Diff
local function look(ws, diff, before)
  local doc = docs.at(ws, (diff or before).path)
  local hunk = before and before.hunks[1]
  if not doc or not api.nvim_buf_is_loaded(doc.buf) or vim.bo[doc.buf].modified then
    return
  elseif diff and diff.state == 'pending' or vim.uv.fs_stat(doc.path) then
    return
  elseif hunk and (hunk.isolated or before.kind == 'deleted') then
    return
  end
  local had = left_by(before)
  if had and rename(ws, doc, had) or not (hunk or vim.b[doc.buf].cursord_stamp) then
    return
  end
  vim.b[doc.buf].cursord_stamp = nil
  silence(doc.buf, true)
  -- The message of a reject says it, too.
  if not hunk or not require('cursord.review.decide').is_deciding(hunk.id) then
    gone[#gone + 1] = doc.rel
    if #gone == 1 then
      vim.defer_fn(say_gone, 100) -- the diffs of one rewind may come in several messages
    end
  end
end

--- @param before? cursord.Diff
workspace.on('diff', function(ws, diff, before)
  local of = docs.at(ws, (diff or before).path)
  if of and api.nvim_buf_is_valid(of.buf) then
    silence(of.buf, ws:is_deleted(of.rel))
  end
  local now, was = left_by(diff), left_by(before)
  for _, path in ipairs({ now or was, now and was ~= now and was or nil }) do
    local doc = docs.at(ws, path)
    if doc and api.nvim_buf_is_loaded(doc.buf) then
      silence(doc.buf, path == now or ws:is_deleted(path))
      note(
        doc.buf,
        path == now and ('the agent has moved this file to %s'):format(diff.path) or nil
      )
    end
  end
  look(ws, diff, before)
end)

return {
  --- Whether it is known, and shown or said, why the file of a buffer is gone.
  --- @param buf integer
  --- @return boolean
  is_known = function(buf)
    return silenced[buf] ~= nil
  end,
}
