vim.bo.omnifunc = "v:lua.require'cursord.complete'.omnifunc"
vim.bo.textwidth = 0
pcall(vim.treesitter.start, 0, 'markdown')

require('cursord.complete').attach(vim.api.nvim_get_current_buf())
if vim.b.cursord_inline then
  return -- the inline prompt has keys of its own
end

local function submit()
  require('cursord.chat').submit()
end
vim.keymap.set('n', '<CR>', submit, { buffer = true, desc = 'cursord: send' })
vim.keymap.set('i', '<C-s>', submit, { buffer = true, desc = 'cursord: send' })
require('cursord.keys').input(vim.api.nvim_get_current_buf())
