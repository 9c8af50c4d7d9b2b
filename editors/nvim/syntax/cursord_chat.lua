-- The plugin draws the Markdown itself (markdown.lua), if Neovim has the parsers.
if not require('cursord.markdown').is_there() then
  vim.cmd('runtime! syntax/markdown.vim')
  vim.cmd([[silent! syntax clear markdownError]]) -- it marks each "_" within a word
end
vim.cmd([[syntax match CursordLink /\f\+\.\w\+:\d\+\>/ containedin=ALL]])
vim.b.current_syntax = 'cursord_chat'
