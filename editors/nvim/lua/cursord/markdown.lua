--- Draws the Markdown of the chat, text by text: marks that colour and conceal. The text in the buffer stays as it is. Treesitter
--- for the whole buffer would take most of a second at each change of a long transcript, and an open fence in one text would
--- make code of all that follows.
local code = require('cursord.code')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_markdown')

--- Whether Neovim has the parsers. Its own builds have them.
--- @return boolean
function M.is_there()
  local language = vim.treesitter.language
  for _, lang in ipairs({ 'markdown', 'markdown_inline' }) do
    if not pcall(language.add, lang) or not pcall(language.inspect, lang) then
      return false
    end
  end
  return true
end

--- @class cursord.Section
--- @field first integer the number of its first line
--- @field last integer
--- @field info? string of a block of code: what stands behind its fence
--- @field open? boolean of a block of code: its end has not come

--- Parts a text into blocks of code and what stands between them, there at empty lines.
--- @param lines string[]
--- @return cursord.Section[]
function M.sections(lines)
  local out, first, fence = {}, 1, nil --- @type cursord.Section[], integer, string?
  local function add(last, info)
    if last >= first then
      out[#out + 1] = { first = first, last = last, info = info }
      first = last + 1
    end
  end
  local info
  for i, line in ipairs(lines) do
    local ticks, rest = line:match('^%s*(```+)([^`]*)$')
    if not ticks then
      ticks, rest = line:match('^%s*(~~~+)(.*)$')
    end
    if fence then
      if ticks and vim.startswith(ticks, fence) and rest:match('^%s*$') then
        add(i, info)
        fence = nil
      end
    elseif ticks then
      add(i - 1)
      fence, info = ticks, vim.trim(rest)
    elseif line:match('^%S') and i > first and lines[i - 1]:match('^%s*$') then
      add(i - 1)
    end
  end
  if first <= #lines then
    add(#lines, fence and info or nil)
    out[#out].open = fence ~= nil
  end
  return out
end

--- @class cursord.Canvas
--- @field buf integer
--- @field row integer of the first line
--- @field lines string[]
--- @field conceals boolean

--- @param on cursord.Canvas
--- @param row integer from 0, in the lines
--- @param col integer
--- @param end_row integer
--- @param end_col integer
--- @param opts table
local function mark(on, row, col, end_row, end_col, opts)
  if not on.conceals then
    opts.conceal = nil
  end
  if opts.hl_group or opts.conceal then
    opts.end_row, opts.end_col, opts.strict = on.row + end_row, end_col, false
    api.nvim_buf_set_extmark(on.buf, ns, on.row + row, col, opts)
  end
end

--- @param on cursord.Canvas
--- @param section cursord.Section
local function draw_code(on, section)
  local first, last = section.first - 1, section.last - 1
  local closed = not section.open and last > first
  for row = on.row + first, on.row + last do
    local opts = { line_hl_group = 'CursordChatCode', priority = 90 }
    api.nvim_buf_set_extmark(on.buf, ns, row, 0, opts)
  end
  for _, row in ipairs({ first, closed and last or nil }) do
    local line = on.lines[row + 1]
    local from, to = line:find('[`~]+')
    mark(on, row, from - 1, row, to, { conceal = '', priority = 110 })
    if to < #line then
      mark(on, row, to, row, #line, { hl_group = 'CursordNote', priority = 110 })
    end
  end
  local inner =
    vim.list_slice(on.lines, section.first + 1, closed and section.last - 1 or section.last)
  for _, span in ipairs(code.spans(inner, section.info)) do
    local row = first + 1 + span[1]
    mark(on, row, span[2], row, span[3], { hl_group = span[4], priority = 100 })
  end
end

local bullets = { list_marker_minus = true, list_marker_star = true, list_marker_plus = true }

--- Captures that show a text as code is shown. Blocks of code are drawn otherwise.
local function is_drawn(name)
  return name ~= 'markup.raw.block' and not name:find('^_') and not name:find('^n?o?spell')
end

--- Whether no line has what Markdown could give a meaning to. The parsers are not asked then: to read their queries takes as long
--- as all the rest of the first answer.
--- @param lines string[]
--- @return boolean
function M.is_plain(lines)
  for _, line in ipairs(lines) do
    if
      line:find('[^%w%. ,;:?\'"()\128-\255-]')
      or line:find('^[ -]')
      or line:find('^%d+[.)]')
      or line:find('  $')
    then
      return false
    end
  end
  return true
end

--- @param on cursord.Canvas
--- @param section cursord.Section
local function draw_text(on, section)
  local lines = vim.list_slice(on.lines, section.first, section.last)
  if M.is_plain(lines) then
    return
  end
  local top = section.first - 1
  for _, at in ipairs(code.captures(table.concat(lines, '\n') .. '\n', 'markdown', is_drawn)) do
    local row, col, end_row, end_col, name, about, node, lang = unpack(at)
    local inline = lang == 'markdown_inline'
    local opts = {
      conceal = about.conceal,
      priority = (tonumber(about.priority) or 100) + (inline and 5 or 0),
    }
    if name ~= 'conceal' then
      opts.hl_group = ('@%s.%s'):format(name, lang)
    end
    local type = node:type()
    if bullets[type] then
      local from = lines[row + 1]:find('[-*+]', col + 1) or col + 1
      mark(on, top + row, from - 1, top + row, from, { conceal = '•', priority = 110 })
    elseif
      type == 'block_quote_marker'
      or name == 'punctuation.special' and type == 'block_continuation'
    then
      local from = lines[row + 1]:find('>', col + 1, true)
      if from and from <= end_col then
        mark(on, top + row, from - 1, top + row, from, { conceal = '▎', priority = 110 })
      end
    elseif type == 'atx_heading' then
      local marker = lines[row + 1]:match('^%s*#+%s*')
      mark(on, top + row, 0, top + row, #marker, { conceal = '', priority = 110 })
    end
    mark(on, top + row, col, top + end_row, end_col, opts)
  end
end

--- Draws lines of the buffer, as many as there is time for. Returns how many of them are final: further lines do not change how
--- they are drawn.
--- @param buf integer
--- @param row integer the first line's
--- @param last integer the row behind the last line
--- @param conceals boolean
--- @param until_time number after which no further section is begun
--- @return integer
--- @return boolean # whether all are drawn
function M.draw(buf, row, last, conceals, until_time)
  local lines = api.nvim_buf_get_lines(buf, row, last, false)
  local on, final = { buf = buf, row = row, lines = lines, conceals = conceals }, 0
  for _, section in ipairs(M.sections(lines)) do
    if section.first > 1 and vim.uv.hrtime() > until_time then
      return final, false
    end
    api.nvim_buf_clear_namespace(buf, ns, row + section.first - 1, row + section.last)
    if section.info then
      draw_code(on, section)
    else
      draw_text(on, section)
    end
    final = section.last < #lines and section.last or final
  end
  return final, true
end

return M
