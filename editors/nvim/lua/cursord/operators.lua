--- Accept and reject as operators, so that "." repeats them, and the hunk as a text object.
local M = {}

local function here()
  return require('cursord.review.here')
end

--- @param act fun()
local function when_known(act)
  require('cursord.docs').when_known(require('cursord.workspace').open(), act)
end

-- The functions for 'operatorfunc': they decide the lines of the motion, or the hunk at the cursor.
for _, name in ipairs({ 'accept', 'reject' }) do
  M[name .. '_range'] = function()
    local first, last = vim.fn.line("'["), vim.fn.line("']")
    local buf = vim.api.nvim_get_current_buf()
    when_known(function()
      here().range(name, buf, first - 1, last - 1)
    end)
  end
  M[name .. '_hunk'] = function()
    local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
    when_known(function()
      here().at(name, buf, row)
    end)
  end
end

--- @param name 'accept'|'reject'
--- @return string # keys for an expression map
function M.range(name)
  vim.go.operatorfunc = ("v:lua.require'cursord.operators'.%s_range"):format(name)
  return 'g@'
end

--- @param name 'accept'|'reject'
--- @return string # keys for an expression map
function M.hunk(name)
  vim.go.operatorfunc = ("v:lua.require'cursord.operators'.%s_hunk"):format(name)
  return 'g@l'
end

--- Selects the added lines of the hunk at the cursor.
function M.inner_hunk()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local place = require('cursord.review.places').at(vim.api.nvim_get_current_buf(), row)
  if not place then
    return
  end
  local last = math.max(place.first, place.last)
  vim.cmd(('normal! %dGV%dG'):format(place.first + 1, last + 1))
end

return M
