--- Says in the buffer of a file that the agent has moved it, or deleted it below unsaved text.
local docs = require('cursord.docs')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local moved = api.nvim_create_namespace('cursord_moved')
local deleted = api.nvim_create_namespace('cursord_deleted')

--- Shows the note. Neovim shows lines above the first one only in windows that reserve room for them.
--- @param buf integer
local function make_room(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      if vim.fn.winsaveview().topline == 1 then
        vim.fn.winrestview({ topline = 1, topfill = 1 })
      end
    end)
  end
end

--- @param buf integer
--- @param ns integer
--- @param text? string nil removes the note
local function note(buf, ns, text)
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  if not text then
    return
  end
  api.nvim_buf_set_extmark(buf, ns, 0, 0, {
    virt_lines = { { { text, 'CursordMaybeText' } } },
    virt_lines_above = true,
    undo_restore = false,
  })
  make_room(buf)
end

--- @param buf integer
--- @param ns integer
--- @return boolean # whether the buffer has that note
function M.has(buf, ns)
  return #api.nvim_buf_get_extmarks(buf, ns, 0, -1, { limit = 1 }) > 0
end

--- Whether the agent has deleted the file of a buffer with unsaved text.
--- @param buf integer
--- @return boolean
function M.is_deleted(buf)
  return M.has(buf, deleted)
end

api.nvim_create_autocmd('BufWinEnter', {
  group = api.nvim_create_augroup('cursord_moved', {}),
  callback = function(args)
    if M.has(args.buf, moved) or M.has(args.buf, deleted) then
      make_room(args.buf)
    end
  end,
})

--- @param diff? cursord.Diff
--- @return string? # the path that a move has left
local function left_by(diff)
  local hunk = diff and diff.hunks[1]
  return diff and diff.state == 'pending' and hunk and not hunk.isolated and diff.oldPath or nil
end

--- @param diff? cursord.Diff
--- @return boolean?
local function is_deletion(diff)
  local hunk = diff and diff.hunks[1]
  return diff and (diff.diskOnly or 0) > 0 or hunk and diff.kind == 'deleted' and not hunk.isolated
end

--- @param before? cursord.Diff
workspace.on('diff', function(ws, diff, before)
  local now, was = left_by(diff), left_by(before)
  for _, path in ipairs({ now or was, now and was ~= now and was or nil }) do
    local doc = docs.at(ws, path)
    if doc and api.nvim_buf_is_loaded(doc.buf) then
      note(
        doc.buf,
        moved,
        path == now and ('the agent has moved this file to %s'):format(diff.path) or nil
      )
    end
  end
  local of = diff or before
  local doc = of and docs.at(ws, of.path)
  if doc and api.nvim_buf_is_loaded(doc.buf) then
    local gone = is_deletion(diff) or is_deletion(before) or M.has(doc.buf, deleted)
    gone = gone and vim.bo[doc.buf].modified and not vim.uv.fs_stat(doc.path)
    note(doc.buf, deleted, gone and 'deleted by the agent: :w brings it back' or nil)
  end
end)

return M
