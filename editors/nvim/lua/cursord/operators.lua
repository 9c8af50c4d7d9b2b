--- Accept and reject as operators, so that "." repeats them, and the hunk as a text object.
local M = {}

local function here()
  return require('cursord.review.here')
end

--- @param command cursord.Command
local function run(command)
  require('cursord.review.await').run(require('cursord.workspace').open(), command)
end

-- The functions for 'operatorfunc': they decide the lines of the motion, or the hunk at the cursor.
for _, name in ipairs({ 'accept', 'reject' }) do
  M[name .. '_range'] = function()
    run({
      name = name,
      of = 'rows',
      rows = { vim.fn.line("'[") - 1, vim.fn.line("']") - 1 },
      act = function(buf, _, rows)
        here().range(name, buf, rows[1], rows[2])
      end,
    })
  end
  M[name .. '_hunk'] = function()
    run({
      name = name,
      of = 'cursor',
      act = function(buf, row)
        here().here(name, buf, row)
      end,
    })
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
