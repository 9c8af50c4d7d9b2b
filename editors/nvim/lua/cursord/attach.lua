--- Autocommands of open workspaces. They connect buffers with the modules that follow files and draw hunks.
local docs = require('cursord.docs')

local group = vim.api.nvim_create_augroup('cursord', {})

local function on(events, callback)
  vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
end

-- Nested: autocommands of other plugins may run while this one waits.
vim.api.nvim_create_autocmd('BufWritePre', {
  group = group,
  nested = true,
  callback = function(args)
    require('cursord.meanwhile').before_write(args.buf)
    require('cursord.review.kept').before_write(args.buf)
  end,
})

-- Only an exception of Vimscript keeps Neovim from writing.
vim.api.nvim_create_autocmd('BufWritePre', {
  group = group,
  command = "let g:cursord_refusal = v:lua.require'cursord.meanwhile'.refusal(+expand('<abuf>'))"
    .. " | if g:cursord_refusal != '' | throw 'cursord: ' . g:cursord_refusal | endif",
})

on({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'BufWinEnter' }, function(args)
  docs.attach(args.buf)
end)
on({ 'BufReadPost', 'FileChangedShellPost' }, function(args)
  docs.reloaded(args.buf)
end)
on('BufWritePost', function(args)
  if docs.written(args.buf, args.match) then
    require('cursord.review.kept').written(args.buf)
  end
end)

require('cursord.review.view')
require('cursord.review.moved')
require('cursord.review.quickfix')
require('cursord.status')
require('cursord.approvals')
require('cursord.unseen')
require('cursord.chat')
