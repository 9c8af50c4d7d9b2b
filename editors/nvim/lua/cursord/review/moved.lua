--- Says in a buffer that the agent has moved its file. If the agent has deleted the file, the note of the hunk says so. In both
--- cases this module keeps Neovim's own message back.
local docs = require('cursord.docs')
local workspace = require('cursord.workspace')

local api = vim.api
local ns = api.nvim_create_namespace('cursord_moved')

--- @param buf integer
--- @param text? string nil removes the note
local function note(buf, text)
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  if not text then
    return
  end
  api.nvim_buf_set_extmark(buf, ns, 0, 0, {
    virt_lines = { { { text, 'CursordMaybeText' } } },
    virt_lines_above = true,
    undo_restore = false,
  })
  require('cursord.review.room').make(buf)
end

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
end)
