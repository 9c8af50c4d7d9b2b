--- What Neovim does when it finds that a file has changed (|FileChangedShell|).
local asread = require('cursord.asread')
local glance = require('cursord.glance')
local workspace = require('cursord.workspace')

local M = {}

--- How long changes of an agent take to be known here, in milliseconds.
local soon = 1000

--- Whether changes on disk come into a buffer's unsaved text by themselves, or as conflicts.
--- @param buf integer
--- @return boolean
local function comes(buf)
  local doc = workspace.find(buf) and require('cursord.docs').get(buf)
  return doc and (doc.reviewed or doc.open or #doc.ws:busy() > 0) or false
end

--- Whether an agent is at work where a buffer's file is.
--- @param buf integer
--- @return boolean
local function is_busy(buf)
  local doc = workspace.find(buf) and require('cursord.docs').get(buf)
  return doc and #doc.ws:busy() > 0 or false
end

--- What a message says about a file that has changed or is gone. nil: the changes have come, or it is known why it is gone.
--- @param buf integer
--- @param path string
--- @param reason string # as in |v:fcs_reason|
--- @return string?
local function words(buf, path, reason)
  if reason == 'deleted' then
    local known = vim.uv.fs_stat(path) or require('cursord.review.moved').is_known(buf)
    return not known and '%s is not on disk any more; :w writes it again' or nil
  end
  local come = not vim.bo[buf].modified or comes(buf) or asread.is_as_read(buf, path)
  return not come and '%s has changed on disk, and here as well: :edit! reads it, :write asks'
    or nil
end

--- Has Neovim not ask about an unsaved text: it would do so before the changes can be there (|W12|). Nor does it say that
--- a file is gone (E211) before it is known whether a running turn has moved it. A message says later what Neovim would, if
--- that is still so. Neovim asks in any case when the text is written without the changes. What autocommands of others do
--- stays.
--- @param buf integer
function M.changed(buf)
  for _, one in ipairs(vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })) do
    if one.group_name ~= 'cursord_shell' and (not one.buffer or one.buffer == buf) then
      return
    end
  end
  local reason = vim.v.fcs_reason
  local used = workspace.find(buf) or glance.is_looking()
  if not used or reason ~= 'conflict' and reason ~= 'deleted' then
    vim.v.fcs_choice = 'ask'
    return
  end
  vim.v.fcs_choice = ''
  local function later()
    local path = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) or ''
    local text = path ~= '' and words(buf, path, reason)
    if text and reason == 'deleted' and is_busy(buf) then
      vim.defer_fn(later, soon)
    elseif text then
      require('cursord.rpc').say(text:format(vim.fs.basename(path)), vim.log.levels.WARN)
    end
  end
  vim.defer_fn(later, soon)
end

return M
