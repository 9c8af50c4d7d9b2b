--- Colours of changed lines. They are backgrounds, so that the text keeps the colours of its syntax.
require('cursord.review.grounds')

local api = vim.api
local M = {}

--- Limits of the texts that treesitter colours.
local lines_most, line_most = 400, 1000

--- @class cursord.HunkSide
--- @field lines string[] one side of a hunk, including context
--- @field captures? table<integer, { [1]: integer, [2]: integer, [3]: string }[]> by line: first byte, end, and group

--- The treesitter colours of lines that are not in the buffer, if treesitter colours the buffer.
--- @param buf integer
--- @param side cursord.HunkSide
--- @param n integer the number of a line
--- @return { [1]: integer, [2]: integer, [3]: string }[]
function M.of(buf, side, n)
  if not side.captures then
    side.captures = {}
    local highlighter = vim.treesitter.highlighter.active[buf]
    if highlighter and #side.lines <= lines_most then
      pcall(M.capture, side, highlighter.tree:lang())
    end
  end
  return side.captures[n] or {}
end

--- @param side cursord.HunkSide
--- @param lang string
function M.capture(side, lang)
  local lines = vim.tbl_map(function(line)
    return #line <= line_most and line or ''
  end, side.lines)
  local text = table.concat(lines, '\n') .. '\n'
  local query = vim.treesitter.query.get(lang, 'highlights')
  local tree = vim.treesitter.get_string_parser(text, lang):parse()[1]
  if not query or not tree then
    return
  end
  for id, node in query:iter_captures(tree:root(), text, 0, -1) do
    local name = query.captures[id]
    if not name:find('^_') and not name:find('^n?o?spell') and not name:find('^conceal') then
      local first, from, last, to = node:range()
      for row = first, math.min(last, #lines - 1) do
        local of = side.captures[row + 1] or {}
        side.captures[row + 1] = of
        local a = row == first and from or 0
        local b = row == last and to or #lines[row + 1]
        of[#of + 1] = { a, b, ('@%s.%s'):format(name, lang) }
      end
    end
  end
end

--- Returns a function for the widths of tabs in a buffer.
--- @param buf integer
--- @return fun(column: integer): integer the width of a tab that begins in a column
function M.tabs(buf)
  local stops = vim.tbl_map(tonumber, vim.split(vim.bo[buf].vartabstop, ',', { trimempty = true }))
  return function(column)
    local at = 0
    for _, width in ipairs(stops) do
      at = at + width
      if at > column then
        return at - column
      end
    end
    local width = stops[#stops] or vim.bo[buf].tabstop
    return width - (column - at) % width
  end
end

--- Splits a line into the chunks of a virtual line: tabs become blanks, and each part has its colours.
--- @param line string
--- @param base string the group of the whole line
--- @param layers { [1]: integer, [2]: integer, [3]: string }[] groups of parts; later ones win
--- @param tab fun(column: integer): integer
--- @return { [1]: string, [2]: string[] }[] chunks
--- @return integer width in cells
function M.chunks(line, base, layers, tab)
  local edges, seen = {}, {}
  local function edge(at)
    if at > 0 and at < #line and not seen[at] then
      seen[at] = true
      edges[#edges + 1] = at
    end
  end
  for _, layer in ipairs(layers) do
    edge(layer[1])
    edge(layer[2])
  end
  table.sort(edges)
  edges[#edges + 1] = #line
  local chunks, from, column = {}, 0, 0
  for _, to in ipairs(edges) do
    local groups = { base }
    for _, layer in ipairs(layers) do
      if layer[1] <= from and layer[2] >= to then
        groups[#groups + 1] = layer[3]
      end
    end
    local out = {}
    for _, piece in ipairs(vim.split(line:sub(from + 1, to), '\t', { plain = true })) do
      if #out > 0 then
        local blanks = (' '):rep(tab(column))
        out[#out + 1], column = blanks, column + #blanks
      end
      out[#out + 1], column = piece, column + api.nvim_strwidth(piece)
    end
    chunks[#chunks + 1] = { table.concat(out), groups }
    from = to
  end
  return chunks, column
end

return M
