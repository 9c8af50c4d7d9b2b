--- Completions of the chat's input as LSP items, for sources of completion plugins.
local complete = require('cursord.complete')

local M = {}

--- @param line string
--- @param column integer of the cursor, in bytes from 0
--- @param row integer from 0
--- @param come fun() called when the list has been refreshed
--- @return table[]
function M.at(line, column, row, come)
  complete.own = false -- the plugin's menu replaces ours
  local before = line:sub(1, column)
  local start = complete.start_of(before, row)
  if not start then
    return {}
  end
  local base, items = before:sub(start + 1), {}
  for i, item in ipairs(complete.items(base, come)) do
    items[i] = {
      label = item.abbr or item.word,
      detail = item.menu,
      filterText = item.abbr or item.word,
      sortText = ('%05d'):format(i),
      kind = item.menu == 'file' and 17 or 14,
      textEdit = {
        newText = item.word,
        range = {
          start = { line = row, character = start },
          ['end'] = { line = row, character = column },
        },
      },
    }
  end
  return items
end

--- @return boolean
function M.is_input()
  return vim.bo.filetype == 'cursord_input'
end

return M
