vim.bo.omnifunc = "v:lua.require'cursord.context'.omnifunc"
vim.bo.textwidth = 0
pcall(vim.treesitter.start, 0, 'markdown')

local function submit()
  require('cursord.chat').submit()
end
vim.keymap.set('n', '<CR>', submit, { buffer = true, desc = 'cursord: send' })
vim.keymap.set('i', '<C-s>', submit, { buffer = true, desc = 'cursord: send' })
vim.keymap.set('i', '@', function()
  local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
  local starts = before == '' or before:sub(-1):find('%s')
  return starts and vim.fn.pumvisible() == 0 and '@<C-x><C-o><C-p>' or '@' -- <C-p>: nothing is chosen yet
end, { buffer = true, expr = true, desc = 'cursord: complete context' })
