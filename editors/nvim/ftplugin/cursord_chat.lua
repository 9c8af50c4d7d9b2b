-- Before 0.12 the parser takes seconds for a long text, at each change of it.
if vim.fn.has('nvim-0.12') == 0 or not pcall(vim.treesitter.start, 0, 'markdown') then
  vim.bo.syntax = 'markdown'
end
vim.keymap.set('n', 'gp', function()
  local session = vim.api.nvim_buf_get_name(0):match('^cursord://chat/(.*)$')
  local shown = session and require('cursord.transcript').of(session)
  if shown then
    shown:older()
  end
end, { buffer = true, desc = 'cursord: older messages' })
for _, key in ipairs({ 'i', 'a', 'o' }) do
  vim.keymap.set('n', key, function()
    local ws = require('cursord.workspace').find()
    if ws then
      require('cursord.chat').focus(ws)
    end
  end, { buffer = true, desc = 'cursord: write a prompt' })
end
