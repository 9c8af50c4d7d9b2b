--- The colours of patches in our own buffers: a background for added and deleted lines, changed words, and above them the
--- colours of treesitter. They are computed when a line is drawn.
local colours = require('cursord.review.colours')
local words = require('cursord.review.words')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_paint')

--- Longer hunks get only the background.
local lines_most = 400

--- @class cursord.PaintedLine
--- @field group? string for the whole line
--- @field hunk? cursord.Hunk
--- @field index? integer the number of the line in the hunk, from 1
--- @field path? string the file of the text

--- @type table<integer, fun(row: integer): cursord.PaintedLine?>
local painters = {}

--- @alias cursord.Layers table<integer, { [1]: integer, [2]: integer, [3]: string }[]>
local known = setmetatable({}, { __mode = 'k' }) --- @type table<cursord.Hunk, cursord.Layers>

local languages = {} --- @type table<string, true> those whose groups are there

--- The language of a file, if its parser is installed. Highlight groups cannot be made while Neovim draws.
--- @param path string
--- @param prepare? boolean make the highlight groups of the language, too
--- @return string?
local function language(path, prepare)
  local filetype = vim.filetype.match({ filename = path })
  local lang = filetype and (vim.treesitter.language.get_lang(filetype) or filetype)
  local treesitter = vim.treesitter.language
  if not lang or not pcall(treesitter.add, lang) or not pcall(treesitter.inspect, lang) then
    return nil
  elseif prepare and not languages[lang] then
    languages[lang] = true
    local query = vim.treesitter.query.get(lang, 'highlights')
    for _, name in ipairs(query and query.captures or {}) do
      api.nvim_get_hl_id_by_name(('@%s.%s'):format(name, lang))
    end
  end
  return languages[lang] and lang or nil
end

--- Makes the highlight groups of a file's language.
--- @param path string
function M.prepare(path)
  language(path, true)
end

--- @param out cursord.Layers
--- @param old { [1]: integer, [2]: string }[] a run of deleted lines, by line number
--- @param new { [1]: integer, [2]: string }[] the lines that replace them
local function add_words(out, old, new)
  local function text(line)
    return line[2]
  end
  for _, pair in ipairs(words.pairs(vim.tbl_map(text, old), vim.tbl_map(text, new))) do
    local gone, added = old[pair[1]], new[pair[2]]
    local in_old, in_new = words.spans(gone[2], added[2])
    for _, span in ipairs(in_old or {}) do
      table.insert(out[gone[1]], { span[1], span[2], 'CursordDeleteText' })
    end
    for _, span in ipairs(in_new or {}) do
      table.insert(out[added[1]], { span[1], span[2], 'CursordAddText' })
    end
  end
end

--- The colours of a hunk's lines, by line number.
--- @param hunk cursord.Hunk
--- @param path string
--- @return cursord.Layers
local function layers_of(hunk, path)
  local out = known[hunk]
  if out then
    return out
  end
  out = {}
  known[hunk] = out
  for i = 1, #hunk.lines do
    out[i] = {}
  end
  if #hunk.lines > lines_most then
    return out
  end
  local sides = { ['-'] = { lines = {}, at = {} }, ['+'] = { lines = {}, at = {} } }
  local old, new = {}, {}
  for i, line in ipairs(hunk.lines) do
    local sign, text = line:sub(1, 1), line:sub(2)
    if sign ~= '+' and #new > 0 or sign == ' ' then
      add_words(out, old, new)
      old, new = {}, {}
    end
    if sign ~= ' ' then
      table.insert(sign == '-' and old or new, { i, text })
    end
    for which, side in pairs(sides) do
      if sign == which or sign == ' ' then
        table.insert(side.lines, text)
        side.at[#side.lines] = (sign == which or which == '+') and i or nil
      end
    end
  end
  add_words(out, old, new)
  local lang = language(path)
  for _, side in pairs(lang and sides or {}) do
    side.captures = {}
    pcall(colours.capture, side, lang)
    for n, i in pairs(side.at) do
      vim.list_extend(out[i], side.captures[n] or {})
    end
  end
  return out
end

local backgrounds = { ['+'] = 'CursordAdd', ['-'] = 'CursordDelete' }

--- @param buf integer
--- @param row integer
--- @param from integer
--- @param opts table
local function mark(buf, row, from, opts)
  opts.ephemeral, opts.strict = true, false
  api.nvim_buf_set_extmark(buf, ns, row, from, opts)
end

api.nvim_set_decoration_provider(ns, {
  on_win = function(_, _, buf)
    return painters[buf] ~= nil
  end,
  on_line = function(_, _, buf, row)
    local line = painters[buf](row)
    if not line then
      return
    end
    local hunk = line.index and line.hunk
    local group = line.group or hunk and backgrounds[hunk.lines[line.index]:sub(1, 1)]
    if group then
      local opts = { end_row = row + 1, end_col = 0, hl_group = group, priority = 90 }
      opts.hl_eol = hunk and true or nil
      mark(buf, row, 0, opts)
    end
    for n, layer in ipairs(hunk and layers_of(hunk, line.path)[line.index] or {}) do
      local opts = { end_col = layer[2] + 1, hl_group = layer[3], priority = 90 + n }
      mark(buf, row, layer[1] + 1, opts)
    end
  end,
})

--- Paints a buffer, until it is wiped out. The painter says what each row shows.
--- @param buf integer
--- @param painter fun(row: integer): cursord.PaintedLine?
function M.attach(buf, painter)
  painters[buf] = painter
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    once = true,
    callback = function()
      painters[buf] = nil
    end,
  })
end

return M
