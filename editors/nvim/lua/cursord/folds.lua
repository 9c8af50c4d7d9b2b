--- The folds of the chat. In Insert mode Neovim folds nothing by expression. Until that ends, folds are made by hand.
local bar = require('cursord.tools').bar

local api = vim.api
local M = {}

--- The buffers whose folds are made by hand.
local open = {} --- @type table<integer, true>

--- The foldable parts of the buffer, as pairs of first and last line: the title of a call, and its details.
--- @param buf integer
--- @return integer[][]
local function ranges(buf)
  local out, last = {}, nil --- @type integer[][], integer[]?
  for n, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    if not vim.startswith(line, bar) then
      last = nil
    elseif last then
      last[2] = n
    else
      last = { math.max(n - 1, 1), n }
      out[#out + 1] = last
    end
  end
  return out
end

local function fold_by_hand()
  for buf in pairs(open) do
    for _, win in ipairs(api.nvim_buf_is_valid(buf) and vim.fn.win_findbuf(buf) or {}) do
      api.nvim_win_call(win, function()
        vim.wo[win][0].foldmethod = 'manual'
        for _, range in ipairs(ranges(buf)) do
          if vim.fn.foldlevel(range[1]) == 0 or vim.fn.foldlevel(range[2]) == 0 then
            vim.cmd(('%d,%dfold'):format(range[1], range[2]))
          end
        end
        if api.nvim_win_get_cursor(win)[1] == api.nvim_buf_line_count(buf) then
          vim.cmd('normal! zb') -- folding has left empty room below
        end
      end)
    end
  end
end

api.nvim_create_autocmd('InsertLeave', {
  group = api.nvim_create_augroup('cursord_folds', {}),
  callback = function()
    for buf in pairs(open) do
      for _, win in ipairs(api.nvim_buf_is_valid(buf) and vim.fn.win_findbuf(buf) or {}) do
        vim.wo[win][0].foldmethod = 'expr'
      end
    end
    open = {}
  end,
})

--- Folds a buffer's calls by hand until Insert mode ends.
--- @param buf integer
function M.by_hand(buf)
  open[buf] = true
  vim.schedule(fold_by_hand)
end

return M
