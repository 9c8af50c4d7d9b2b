-- Not by treesitter, which takes most of a second for a long transcript, at each change of it.
vim.cmd('runtime! syntax/markdown.vim')
vim.cmd([[silent! syntax clear markdownError]]) -- it marks each "_" within a word
vim.cmd([[syntax match CursordLink /\f\+\.\w\+:\d\+\>/ containedin=ALL]])
vim.b.current_syntax = 'cursord_chat'
