--- How a person does what a message speaks of: by a key, else by a command.
local M = {}

--- @param map table<string, any>
--- @param sub string
--- @return boolean
local function runs(map, sub)
  local rhs = map.rhs or ''
  return rhs == '<Plug>(cursord-' .. sub .. ')'
    or rhs:lower():find('^:cursord ' .. sub .. '<cr>$') ~= nil
    or rhs:lower():find('^<cmd>cursord ' .. sub .. '<cr>$') ~= nil
end

--- The key that the person has mapped to a subcommand, else the command.
--- @param sub string
--- @return string
function M.to(sub)
  for _, map in ipairs(vim.api.nvim_get_keymap('n')) do
    if runs(map, sub) and not vim.startswith(map.lhs, '<Plug>') then
      return vim.fn.keytrans(map.lhsraw or map.lhs)
    end
  end
  return ':Cursord ' .. sub
end

return M
