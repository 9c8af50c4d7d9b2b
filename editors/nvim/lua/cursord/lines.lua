--- Differences between texts, in lines.
local api = vim.api
local M = {}

local line_diff = vim.text and vim.text.diff or vim.diff

--- A buffer's text as its file has it. An empty buffer has no line; one with an empty line has one.
--- @param buf integer
--- @return string
function M.text(buf)
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  if
    text == ''
    and api.nvim_buf_call(buf, function()
      return vim.fn.line2byte(2)
    end) == -1
  then
    return ''
  end
  return vim.bo[buf].endofline and text .. '\n' or text
end

--- The number of bytes at which two texts begin, or end, alike.
--- @param at fun(text: string, n: integer, size: integer): string a piece behind n bytes
local function common(old, new, at)
  local size, n = 65536, 0
  local most = math.min(#old, #new)
  while size >= 1 do
    while n + size <= most and at(old, n, size) == at(new, n, size) do
      n = n + size
    end
    size = size / 2
  end
  return n
end

local function from_start(text, n, size)
  return text:sub(n + 1, n + size)
end

local function from_end(text, n, size)
  return text:sub(#text - n - size + 1, #text - n)
end

local newline = 10

--- @class cursord.Piece
--- @field from integer the first old line that is replaced, from 1; if none is, the line before which lines are inserted
--- @field count integer the number of old lines that are replaced
--- @field lines string[] the new lines

--- The changes that turn one text into another. Both texts end with a line end.
--- @param old string
--- @param new string
--- @param line_at fun(n: integer): integer the number of the old line that begins after n bytes
--- @return cursord.Piece[]
function M.pieces(old, new, line_at)
  if old == new then
    return {}
  end
  local head = common(old, new, from_start)
  while head > 0 and old:byte(head) ~= newline do
    head = head - 1
  end
  local a, b = old:sub(head + 1), new:sub(head + 1)
  local tail = common(a, b, from_end)
  -- Back to the beginning of the line: lines are compared whole.
  while
    tail > 0
    and not (
      (tail == #a or a:byte(#a - tail) == newline) and (tail == #b or b:byte(#b - tail) == newline)
    )
  do
    tail = tail - 1
  end
  a, b = a:sub(1, #a - tail), b:sub(1, #b - tail)
  local before = line_at(head) - 1
  local lines = vim.split(b, '\n', { plain = true })
  local out = {} --- @type cursord.Piece[]
  for _, piece in
    ipairs(line_diff(a, b, { result_type = 'indices' }) --[[@as integer[][] ]])
  do
    local from, count, to, many = unpack(piece)
    out[#out + 1] = {
      -- Of an insertion, vim.diff names the line before it.
      from = before + from + (count == 0 and 1 or 0),
      count = count,
      lines = many > 0 and vim.list_slice(lines, to, to + many - 1) or {},
    }
  end
  return out
end

--- @param text string
function M.counted(text)
  return function(n)
    return select(2, text:sub(1, n):gsub('\n', '')) + 1
  end
end

--- @param text string
--- @return string
function M.with_eol(text)
  return text:sub(-1) == '\n' and text or text .. '\n'
end

--- The text of a file as Neovim shows it: without a byte order mark and without the CR of line ends. It is nil if Neovim
--- converts it otherwise.
--- @param buf integer
--- @param text? string
--- @return string?
function M.shown(buf, text)
  local bo = vim.bo[buf]
  local utf8 = bo.fileencoding == '' or bo.fileencoding == 'utf-8'
  if not text or bo.binary or not utf8 or bo.bomb ~= (text:sub(1, 3) == '\239\187\191') then
    return nil
  end
  text = bo.bomb and text:sub(4) or text
  if bo.fileformat == 'dos' then
    local bare, ends = text:gsub('\r\n', '\n')
    if select(2, bare:gsub('\n', '\n')) ~= ends then
      return nil
    end
    text = bare
  elseif bo.fileformat ~= 'unix' then
    return nil
  end
  return text ~= '' and not text:find('[\r%z]') and text or nil
end

--- Moves changes into a text that others have changed meanwhile.
--- @param pieces cursord.Piece[]
--- @param others cursord.Piece[] the others' changes of the same text
--- @return cursord.Piece[]? # nil if both change the same lines
function M.rebase(pieces, others)
  local out, shift, i = {}, 0, 1
  for _, piece in ipairs(pieces) do
    while others[i] and others[i].from + others[i].count <= piece.from do
      shift = shift + #others[i].lines - others[i].count
      i = i + 1
    end
    if others[i] and others[i].from < piece.from + piece.count then
      return nil
    end
    out[#out + 1] = { from = piece.from + shift, count = piece.count, lines = piece.lines }
  end
  return out
end

--- @param pieces cursord.Piece[]
--- @return boolean
function M.are_utf8(pieces)
  for _, piece in ipairs(pieces) do
    if not pcall(vim.fn.json_encode, piece.lines) then
      return false
    end
  end
  return true
end

--- Returns a function that says where a line is after changes.
--- @param pieces cursord.Piece[]
--- @return fun(line: integer): integer # lines count from 1
function M.moved(pieces)
  return function(line)
    local shift = 0
    for _, piece in ipairs(pieces) do
      if line < piece.from then
        break
      elseif line < piece.from + piece.count then
        return math.max(
          1,
          piece.from + shift + math.min(line - piece.from, math.max(#piece.lines - 1, 0))
        )
      end
      shift = shift + #piece.lines - piece.count
    end
    return line + shift
  end
end

--- Edits of the protocol as pieces.
--- @param edits cursord.TextEdit[]
--- @return cursord.Piece[]? # nil if an edit changes the end of the last line
function M.pieces_of(edits)
  local out = {} --- @type cursord.Piece[]
  for _, edit in ipairs(edits) do
    local from, to, text = edit.range.start, edit.range['end'], edit.newText
    if from.character > 0 or to.character > 0 or text ~= '' and text:sub(-1) ~= '\n' then
      return nil
    end
    out[#out + 1] = {
      from = from.line + 1,
      count = to.line - from.line,
      lines = text ~= '' and vim.split(text:sub(1, -2), '\n', { plain = true }) or {},
    }
  end
  return out
end

return M
