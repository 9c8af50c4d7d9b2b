--- Whether files are as Neovim has read them, also of buffers that were open before the plugin knew their workspace.
local follow = require('cursord.follow')
local history = require('cursord.history')

local M = {}

--- Notes the state of a file that was read into a buffer, or written from it.
--- @param buf integer
--- @param name string of the file, perhaps another than the buffer's
function M.note(buf, name)
  if not vim.bo[buf].modified and name == vim.api.nvim_buf_get_name(buf) then
    vim.b[buf].cursord_read = follow.stamp(name)
  end
end

--- Whether a buffer's file is as it was when it was last read or written; nil if that is not known.
--- @param buf integer
--- @param path string
--- @return boolean?
function M.is_as_read(buf, path)
  local read, same, now = vim.b[buf].cursord_read, vim.b[buf].cursord_stamp, follow.stamp(path)
  if not read and not same then
    return nil
  end
  return now == read or now == same
end

--- Whether a buffer's unsaved changes were made in the text that its file has.
--- @param buf integer
--- @param path string
--- @return boolean
function M.began_on(buf, path)
  return M.is_as_read(buf, path) == true and history.is_typed(buf)
end

--- Brings a buffer without changes, which was behind its file before its workspace was connected, to the file's content.
--- @param buf integer
--- @param path string
function M.catch_up(buf, path)
  if M.is_as_read(buf, path) == false then
    follow.disk(buf, path)
  end
end

return M
