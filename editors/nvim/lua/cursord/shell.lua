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

--- Has Neovim not ask about such a text: it would do so before the changes can be there (|W12|). About other changes on disk a
--- message says in a moment what Neovim's question would. Neovim asks in any case when the text is written without them. What
--- autocommands of others do stays.
--- @param buf integer
function M.changed(buf)
  for _, one in ipairs(vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })) do
    if one.group_name ~= 'cursord_shell' and (not one.buffer or one.buffer == buf) then
      return
    end
  end
  local used = workspace.find(buf) or glance.is_looking()
  if vim.v.fcs_reason ~= 'conflict' or not used then
    vim.v.fcs_choice = 'ask'
    return
  end
  vim.v.fcs_choice = ''
  vim.defer_fn(function()
    local path = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) or ''
    if
      path ~= ''
      and vim.bo[buf].modified
      and not comes(buf)
      and not asread.is_as_read(buf, path)
    then
      local text = '%s has changed on disk, and here as well: :edit! reads it, :write asks'
      require('cursord.rpc').say(text:format(vim.fs.basename(path)), vim.log.levels.WARN)
    end
  end, soon)
end

return M
