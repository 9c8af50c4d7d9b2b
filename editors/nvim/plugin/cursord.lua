if vim.g.loaded_cursord then
  return
end
vim.g.loaded_cursord = 1

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_create_user_command('Cursord', function()
    vim.notify('cursord needs Neovim 0.10 or newer', vim.log.levels.ERROR)
  end, { nargs = '*' })
  return
end

vim.api.nvim_create_user_command('Cursord', function(args)
  require('cursord.command').run(args)
end, {
  nargs = '*',
  bang = true,
  range = true,
  complete = function(...)
    return require('cursord.command').complete(...)
  end,
  desc = "Cursor's agent: ask, chat, review",
})

-- Each <Plug> map loads the plugin when it is first used.
local function plug(modes, name, rhs, expr)
  vim.keymap.set(
    modes,
    '<Plug>(cursord-' .. name .. ')',
    rhs,
    { expr = expr, desc = 'cursord: ' .. name }
  )
end
local plain = {
  'chat',
  'review',
  'patch',
  'diff',
  'comment',
  'cancel',
  'undo',
  'redo',
  'preview',
  'why',
  'rewind',
  'fork',
  'edit',
  'steer',
  'overlay',
  'approvals',
  'approve',
  'deny',
}
for _, name in ipairs(plain) do
  plug('n', name, '<Cmd>Cursord ' .. name .. '<CR>')
end
plug('n', 'ask', '<Cmd>Cursord ask<CR>')
plug('x', 'ask', ':Cursord ask<CR>')
plug('x', 'why', ':Cursord why<CR>')
plug('n', 'accept-all', '<Cmd>Cursord accept!<CR>')
plug('n', 'reject-all', '<Cmd>Cursord reject!<CR>')
for _, name in ipairs({ 'next', 'prev' }) do
  plug({ 'n', 'x', 'o' }, name, function()
    return '<Cmd>Cursord ' .. name .. ' ' .. vim.v.count1 .. '<CR>'
  end, true)
end
for _, name in ipairs({ 'accept', 'reject' }) do
  plug('n', name, function()
    return require('cursord.operators').hunk(name)
  end, true)
  plug({ 'n', 'x' }, name .. '-operator', function()
    return require('cursord.operators').range(name)
  end, true)
  plug('x', name, function()
    return require('cursord.operators').range(name)
  end, true)
end
plug({ 'o', 'x' }, 'inner-hunk', ':<C-u>lua require("cursord.operators").inner_hunk()<CR>')

local links = {
  CursordAdd = 'DiffAdd',
  CursordDelete = 'DiffDelete',
  CursordAddText = 'DiffText',
  CursordDeleteText = 'DiffText',
  CursordSignAdd = 'Added',
  CursordSignChange = 'Changed',
  CursordSignDelete = 'Removed',
  CursordMaybe = 'DiagnosticWarn',
  CursordMaybeText = 'DiagnosticWarn',
  CursordSignMaybe = 'DiagnosticWarn',
  CursordNote = 'Comment',
  CursordFile = 'Title',
  CursordRange = 'Special',
  CursordLink = 'Underlined',
  CursordFolded = 'Folded',
  CursordChatHead = 'Title',
  CursordChatCode = 'NormalFloat',
  CursordChatTool = 'Comment',
  CursordChatDone = 'DiagnosticOk',
  CursordChatFailed = 'DiagnosticError',
}
for name, link in pairs(links) do
  vim.api.nvim_set_hl(0, name, { link = link, default = true })
end

-- What the disk held when a buffer was read or written tells later whether an agent has written the file since.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
  callback = function(args)
    require('cursord.asread').note(args.buf, args.match)
  end,
})

-- Neovim connects when a file of a known folder is opened, or when an agent begins to work in its folder: the person pauses,
-- begins to type, or comes back from where the turn was started. Other looks are when a daemon begins, and when it says that a
-- folder has got its first session.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'CursorHold', 'CursorHoldI' }, {
  callback = function(args)
    require('cursord.glance').look(args.buf)
  end,
})
vim.api.nvim_create_autocmd({ 'FocusGained', 'FileChangedShellPost', 'BufWritePost' }, {
  callback = function(args)
    require('cursord.glance').look(args.buf, 0)
  end,
})
vim.api.nvim_create_autocmd({ 'InsertEnter', 'BufModifiedSet' }, {
  callback = function(args)
    require('cursord.glance').look_at_change(args.buf, args.event == 'BufModifiedSet')
  end,
})

-- Nested: autocommands of other plugins may run while this one waits.
vim.api.nvim_create_autocmd('BufWritePre', {
  nested = true,
  callback = function(args)
    require('cursord.glance').before_write(args.buf)
  end,
})

vim.api.nvim_create_autocmd('FileChangedShell', {
  group = vim.api.nvim_create_augroup('cursord_shell', {}),
  callback = function(args)
    require('cursord.shell').changed(args.buf)
  end,
})

vim.api.nvim_create_autocmd('SessionLoadPost', {
  callback = function()
    require('cursord.restore').windows()
  end,
})

-- Without autostart, a folder that has nothing to review is connected by its first command.
local config = vim.g.cursord
if type(config) == 'function' or type(config) == 'table' and config.autostart then
  vim.api.nvim_create_autocmd('VimEnter', {
    once = true,
    callback = function()
      require('cursord.command').autostart()
    end,
  })
end
