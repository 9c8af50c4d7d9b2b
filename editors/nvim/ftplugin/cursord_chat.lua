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
require('cursord.keys').transcript(vim.api.nvim_get_current_buf())
