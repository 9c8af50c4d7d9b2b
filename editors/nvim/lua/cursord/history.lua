--- The undo history of buffers.
local api = vim.api

local M = {}

--- The present state in the buffer's undo history.
--- @param buf integer
--- @return integer
function M.state(buf)
  return api.nvim_buf_call(buf, vim.fn.undotree).seq_cur
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

--- Whether a file has not been written since the buffer's present changes began.
--- @param buf integer
--- @param path string the buffer's file
--- @return boolean
function M.began_on(buf, path)
  local tree, stat = api.nvim_buf_call(buf, vim.fn.undotree), vim.uv.fs_stat(path)
  local first --- @type { seq: integer, time: integer }?
  for _, entry in ipairs(tree.entries) do
    if entry.seq <= tree.seq_cur then
      first = first or entry
      if entry.save == tree.save_last then
        first = nil
      end
    end
  end
  return stat ~= nil and first ~= nil and stat.mtime.sec <= first.time
end

--- The states of a buffer's undo history.
--- @param buf integer
--- @return table<integer, true> behind the present state, and the states that lead to it
--- @return table<integer, true> known all states that the history still has
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
