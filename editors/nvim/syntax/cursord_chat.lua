-- Without treesitter, which takes most of a second at each change of a long transcript.
vim.cmd('runtime! syntax/markdown.vim')
vim.cmd([[silent! syntax clear markdownError]]) -- it marks each "_" within a word
vim.cmd([[syntax match CursordLink /\f\+\.\w\+:\d\+\>/ containedin=ALL]])
vim.b.current_syntax = 'cursord_chat'
