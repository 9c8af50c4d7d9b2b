--- The undo history of buffers.
local api = vim.api

local M = {}

--- The state from which each state of a buffer's undo history was made.
--- @param buf integer
--- @return table<integer, integer>
--- @return integer present
local function came_from(buf)
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
  return before, tree.seq_cur
end

--- The present state in the buffer's undo history.
--- @param buf integer
--- @return integer
function M.state(buf)
  return api.nvim_buf_call(buf, vim.fn.undotree).seq_cur
end

--- The state of the buffer's undo history from which a change has led to another; nil if the history does not have that one.
--- @param buf integer
--- @param state integer
--- @return integer?
function M.before(buf, state)
  return came_from(buf)[state]
end

--- The number of the buffer's writes that the undo history knows.
--- @param buf integer
--- @return integer
function M.saves(buf)
  return api.nvim_buf_call(buf, vim.fn.undotree).save_last
end

--- Whether the buffer was written since it had that number of writes. Writes that only have Neovim know the file do not count.
--- @param buf integer
--- @param saves integer
--- @return boolean
function M.is_saved_since(buf, saves)
  return M.saves(buf) > math.max(saves, vim.b[buf].cursord_saves or 0)
end

--- Whether the person has gone back in the buffer's undo history, and has changed nothing since.
--- @param buf integer
--- @return boolean
function M.is_back(buf)
  local tree = api.nvim_buf_call(buf, vim.fn.undotree)
  return tree.seq_cur ~= tree.seq_last
end

--- Whether the buffer's present changes were made since it was read or written.
--- @param buf integer
--- @return boolean
function M.is_typed(buf)
  local tree = api.nvim_buf_call(buf, vim.fn.undotree)
  local typed = false
  for _, entry in ipairs(tree.entries) do
    if entry.seq <= tree.seq_cur then
      typed = entry.save ~= tree.save_last
    end
  end
  return typed
end

--- The states of a buffer's undo history.
--- @param buf integer
--- @return table<integer, true> behind the present state, and the states that lead to it
--- @return table<integer, true> known all states that the history still has
function M.history(buf)
  local before, present = came_from(buf)
  local behind, known_states, at = {}, {}, present --- @type table<integer, true>, table<integer, true>, integer?
  for state in pairs(before) do
    known_states[state] = true
  end
  while at do
    behind[at], at = true, before[at]
  end
  return behind, known_states
end

return M
