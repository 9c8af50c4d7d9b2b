--- Colours of code in the language that a block of code names, by treesitter or by Vim's syntax.
local api = vim.api
local M = {}

--- @alias cursord.Span { [1]: integer, [2]: integer, [3]: integer, [4]: string } row, first and last column, highlight group

--- Limits of what is coloured: bytes by treesitter; lines, and bytes of a line, by Vim's syntax.
local bytes_most, lines_most, line_most = 256 * 1024, 400, 400

local others = { shell = 'sh', console = 'sh', zsh = 'zsh', ['c++'] = 'cpp', golang = 'go' }

--- The file type that the words behind a fence name: "py", "python", "lib/a.go", "12:20:lib/a.go".
--- @param info string
--- @return string?
function M.filetype(info)
  local word = info:match('^%s*{?%.?([^%s}]+)')
  if not word then
    return nil
  end
  local path = word:match('^%d+:%d+:(.+)$') or word
  local known = others[path:lower()]
  local name = path:find('[./]') and path or 'x.' .. path:lower()
  local ok, found = pcall(vim.filetype.match, { filename = name })
  return known or ok and found or path:lower():match('^[%w_-]+$')
end

--- @param filetype string
--- @return string? # the language of its parser, if it is there
local function language(filetype)
  local lang = vim.treesitter.language.get_lang(filetype) or filetype
  local there = pcall(vim.treesitter.language.add, lang)
    and pcall(vim.treesitter.language.inspect, lang)
  return there and vim.treesitter.query.get(lang, 'highlights') and lang or nil
end

--- @param text string
--- @param lang string
--- @param keep fun(name: string): boolean
--- @return { [1]: integer, [2]: integer, [3]: integer, [4]: integer, [5]: string, [6]: table, [7]: TSNode, [8]: string }[] # the
--- ranges of the captures that are kept, with the name, the metadata, the node and the language
function M.captures(text, lang, keep)
  local out = {}
  local ok, parser = pcall(vim.treesitter.get_string_parser, text, lang)
  if not ok or not parser then
    return out
  end
  parser:parse(true)
  parser:for_each_tree(function(tree, of)
    local query = vim.treesitter.query.get(of:lang(), 'highlights')
    if not query then
      return
    end
    for id, node, metadata in query:iter_captures(tree:root(), text) do
      local name = query.captures[id]
      if keep(name) then
        local at = vim.treesitter.get_range(node, text, metadata[id])
        local about = vim.tbl_extend('force', metadata, metadata[id] or {})
        out[#out + 1] = { at[1], at[2], at[4], at[5], name, about, node, of:lang() }
      end
    end
  end)
  return out
end

--- @param name string of a capture
--- @return boolean
function M.is_colour(name)
  return not name:find('^_') and not name:find('^n?o?spell') and not name:find('^conceal')
end

--- @param lines string[]
--- @param lang string
--- @return cursord.Span[]
local function by_treesitter(lines, lang)
  local out = {}
  for _, at in ipairs(M.captures(table.concat(lines, '\n') .. '\n', lang, M.is_colour)) do
    for row = at[1], math.min(at[3], #lines - 1) do
      local from = row == at[1] and at[2] or 0
      local to = row == at[3] and at[4] or #lines[row + 1]
      if to > from then
        out[#out + 1] = { row, from, to, ('@%s.%s'):format(at[5], at[8]) }
      end
    end
  end
  return out
end

local scratch = {} --- @type table<string, integer> buffers, by file type

--- @param lines string[]
--- @param filetype string
--- @return cursord.Span[]
local function by_syntax(lines, filetype)
  local out = {}
  if #api.nvim_get_runtime_file(('syntax/%s.vim'):format(filetype), false) == 0 then
    return out
  end
  local buf = scratch[filetype]
  if not buf or not api.nvim_buf_is_valid(buf) then
    buf = api.nvim_create_buf(false, true)
    vim.bo[buf].undolevels, scratch[filetype] = -1, buf
    vim.bo[buf].syntax = filetype
  end
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.list_slice(lines, 1, lines_most))
  api.nvim_buf_call(buf, function()
    for row = 1, math.min(#lines, lines_most) do
      local was, from = 0, 1
      for col = 1, math.min(#lines[row], line_most) + 1 do
        local id = col <= #lines[row] and vim.fn.synID(row, col, 1) or 0
        if id ~= was then
          if was ~= 0 then
            out[#out + 1] = { row - 1, from - 1, col - 1, vim.fn.synIDattr(was, 'name') }
          end
          was, from = id, col
        end
      end
    end
  end)
  return out
end

--- @param lines string[]
--- @param info string the words behind the fence
--- @return cursord.Span[]
function M.spans(lines, info)
  local filetype = M.filetype(info)
  if not filetype or #lines == 0 then
    return {}
  end
  local lang = language(filetype)
  if not lang then
    return by_syntax(lines, filetype)
  end
  local bytes = 0
  for _, line in ipairs(lines) do
    bytes = bytes + #line + 1
  end
  return bytes <= bytes_most and by_treesitter(lines, lang) or {}
end

return M
