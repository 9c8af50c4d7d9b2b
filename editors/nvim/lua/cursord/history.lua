--- Where a buffer is in its history of undo.
local api = vim.api

local M = {}

--- Where a buffer is in its history.
--- @param buf integer
--- @return integer
function M.state(buf)
  return api.nvim_buf_call(buf, vim.fn.undotree).seq_cur
end

--- The states that a buffer's text has come through, in its history.
--- @param buf integer
--- @return table<integer, true> behind the states that the text has been in, the present one included
--- @return table<integer, true> known all that the history still has
function M.history(buf)
  local tree = api.nvim_buf_call(buf, vim.fn.undotree)
  local before = {} --- @type table<integer, integer>
  local function walk(entries, from)
    for _, entry in ipairs(entries) do
      walk(entry.alt or {}, from)
      before[entry.seq] = from
      from = entry.seq
    end
  end
  walk(tree.entries, 0)
  local behind, known_states, at = {}, {}, tree.seq_cur --- @type table<integer, true>, table<integer, true>, integer?
  for state in pairs(before) do
    known_states[state] = true
  end
  while at do
    behind[at], at = true, before[at]
  end
  return behind, known_states
end

return M
