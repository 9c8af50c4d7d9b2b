--- Groups of changed lines as extmarks.
local author = require('cursord.review.author')
local colours = require('cursord.review.colours')
local config = require('cursord.config')
local notes = require('cursord.review.notes')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord')
local ns_words = api.nvim_create_namespace('cursord_words')
M.ns, M.ns_words = ns, ns_words

--- A group is a run of deleted lines with the added lines that replace them. One side is in the buffer ("here"), the
--- other is not ("away"): usually the deleted lines are away; of a hunk in a copy of the workspace, the added ones.
--- @class cursord.Group
--- @field mark? integer the extmark over the here lines, or where they would be
--- @field paint? integer the extmark that colours the here lines
--- @field virtual? integer the extmark with the away lines
--- @field side cursord.HunkSide the side of the hunk with the away lines
--- @field side_from integer the number of the first away line in it
--- @field below boolean the group is behind the buffer's last line
--- @field here string[]
--- @field away string[]
--- @field here_from integer the number of the first here line among the hunk's changed lines
--- @field away_from integer
--- @field isolated boolean
--- @field maybe boolean the hunk may be a person's
--- @field note? string the note above the first line
--- @field stack? integer how many groups of other sessions are above it at the same line
--- @field row integer according to the diff
--- @field dressed? boolean all parts are drawn

--- The row of a hunk's first line, context included, in the file.
--- @param hunk cursord.Hunk
--- @return integer
function M.first_row(hunk)
  local start, count = hunk.newStart, hunk.newLines
  if hunk.isolated then
    start, count = hunk.oldStart, hunk.oldLines
  end
  return count == 0 and start or start - 1
end

--- The line from which the place of a hunk is counted.
--- @param hunk cursord.Hunk
--- @return integer
function M.start(hunk)
  return hunk.isolated and hunk.oldStart or hunk.newStart
end

--- The row of a hunk's first changed line, according to the diff.
--- @param hunk cursord.Hunk
--- @return integer
function M.row(hunk)
  local row = M.first_row(hunk)
  for _, line in ipairs(hunk.lines) do
    if line:sub(1, 1) ~= ' ' then
      break
    end
    row = row + 1
  end
  return math.max(row, 0)
end

--- Splits a hunk into groups, with their rows according to the diff.
--- @param hunk cursord.Hunk
--- @return cursord.Group[] groups
--- @return { row: integer, text: string }[] present the lines that the buffer must have
function M.parse(hunk)
  local row = M.first_row(hunk)
  local isolated, maybe = hunk.isolated or false, author.maybe_yours(hunk)
  local elsewhere = isolated and '+' or '-'
  local groups, present, group, before, changed = {}, {}, nil, ' ', 0
  local side = { lines = {} } --- @type cursord.HunkSide
  for _, line in ipairs(hunk.lines) do
    local sign, text = line:sub(1, 1), line:sub(2)
    if sign == ' ' then
      group = nil
    else
      if not group or sign == '-' and before == '+' then
        group = {
          row = row,
          here = {},
          away = {},
          isolated = isolated,
          maybe = maybe,
          below = false,
          side = side,
          side_from = #side.lines + 1,
          stack = hunk.stack or 0,
        }
        groups[#groups + 1] = group
        group.note = #groups == 1 and author.note_of(hunk) or nil
      end
      local lines, from = group.here, 'here_from'
      if sign == elsewhere then
        lines, from = group.away, 'away_from'
      end
      group[from] = group[from] or changed
      lines[#lines + 1] = text
      changed = changed + 1
    end
    before = sign
    if sign == ' ' or sign == elsewhere then
      side.lines[#side.lines + 1] = text
    end
    if sign ~= elsewhere then
      present[#present + 1] = { row = row, text = text }
      row = row + 1
    end
  end
  return groups, present
end

--- A group for a hunk that is about the whole file: a note above the first line.
--- @param hunk cursord.Hunk
--- @param note string
--- @return cursord.Group
function M.whole(hunk, note)
  return {
    row = 0,
    here = {},
    away = {},
    isolated = false,
    maybe = author.maybe_yours(hunk),
    below = false,
    side = { lines = {} },
    side_from = 1,
    note = note,
  }
end

local function same_line(a, b)
  return a == b or a == b .. '\r' or a == '\239\187\191' .. b or a == '\239\187\191' .. b .. '\r'
end

--- Whether the buffer has the lines of a hunk at the hunk's place.
function M.is_there(buf, present)
  if #present == 0 then
    return true
  end
  local first = present[1].row
  local lines = api.nvim_buf_get_lines(buf, first, present[#present].row + 1, false)
  for _, want in ipairs(present) do
    local line = lines[want.row - first + 1]
    if not line or not same_line(want.text, line) then
      return false
    end
  end
  return true
end

--- @type table<boolean, { here: string, away: string, here_text: string, away_text: string }> by whether it is isolated
local highlights = {
  [false] = {
    here = 'CursordAdd',
    away = 'CursordDelete',
    here_text = 'CursordAddText',
    away_text = 'CursordDeleteText',
  },
  [true] = {
    here = 'CursordDelete',
    away = 'CursordAdd',
    here_text = 'CursordDeleteText',
    away_text = 'CursordAddText',
  },
}

--- The away lines as virtual lines; spans are by line number.
--- @param buf integer
--- @param group cursord.Group
--- @param spans? table<integer, integer[][]>
local function virtual(buf, group, spans)
  local out = {}
  local hl, tab = highlights[group.isolated], colours.tabs(buf)
  for i, line in ipairs(group.away) do
    local layers = {}
    for _, span in ipairs(spans and spans[i] or {}) do
      layers[#layers + 1] = { span[1], span[2], hl.away_text }
    end
    vim.list_extend(layers, colours.of(buf, group.side, group.side_from + i - 1))
    local chunks = colours.chunks((line:gsub('\r$', '')), hl.away, layers, tab)
    chunks[#chunks + 1] = { (' '):rep(vim.o.columns), hl.away }
    out[i] = chunks
  end
  return out
end

--- Colours the here lines up to the window's edge.
--- @param buf integer
--- @param group cursord.Group
--- @param row integer
--- @param count integer
local function paint(buf, group, row, count)
  group.paint = api.nvim_buf_set_extmark(buf, ns_words, row, 0, {
    end_row = row + count,
    end_col = 0,
    hl_group = group.maybe and 'CursordMaybe' or highlights[group.isolated].here,
    hl_eol = true,
    priority = 90,
    undo_restore = false,
    strict = false,
  })
end

--- @param buf integer
--- @param group cursord.Group
--- @param row integer the group's first row
--- @param count integer the group's number of rows
--- @param spans? table<integer, integer[][]>
--- @param beside boolean another window shows the away lines
local function place_virtual(buf, group, row, count, spans, beside)
  -- Of a hunk in a copy, the new lines are shown below the old ones.
  local under = group.isolated and count > 0
  local at = math.min(under and row + count - 1 or row, api.nvim_buf_line_count(buf) - 1)
  local shown = beside and {} or virtual(buf, group, spans)
  local note = group.note and notes.fold(buf, group.note) or {}
  for i = #note, 1, -1 do
    table.insert(shown, 1, { { note[i], 'CursordMaybeText' } })
  end
  -- Virtual lines of one line are in the order of the columns.
  group.virtual = api.nvim_buf_set_extmark(buf, ns_words, at, group.stack or 0, {
    strict = false,
    virt_lines = shown,
    virt_lines_above = not under and not group.below,
    undo_restore = false,
  })
end

--- Places the extmarks of a group. The function dress() draws its away lines and changed words later.
--- @param buf integer
--- @param group cursord.Group
function M.place(buf, group)
  local cfg = config.get().review
  local dels, adds = group.away, group.here
  if group.isolated then
    dels, adds = adds, dels
  end
  local kind = group.maybe and 'maybe'
    or #dels == 0 and #adds > 0 and 'add'
    or #adds == 0 and 'delete'
    or 'change'
  local last = api.nvim_buf_line_count(buf) - 1
  local row = math.min(group.row, last)
  group.below = group.row > last
  local opts = { priority = 90, undo_restore = false }
  if #group.here > 1 then
    opts.end_row, opts.end_col = row + #group.here - 1, 0
  end
  if cfg.signs then
    opts.sign_text = cfg.sign_text[kind]
    opts.sign_hl_group = ({
      add = 'CursordSignAdd',
      change = 'CursordSignChange',
      delete = 'CursordSignDelete',
      maybe = 'CursordSignMaybe',
    })[kind]
  end
  group.mark = api.nvim_buf_set_extmark(buf, ns, row, 0, opts)
end

--- The present first row of a group, and its number of rows.
--- @param buf integer
--- @param group cursord.Group
--- @return integer row
--- @return integer count
function M.rows(buf, group)
  local at = api.nvim_buf_get_extmark_by_id(buf, ns, group.mark, { details = true })
  if #group.here == 0 then
    return group.below and at[1] + 1 or at[1], 0
  end
  return at[1], (at[3].end_row or at[1]) - at[1] + 1
end

--- Marks the changed words.
--- @param row integer
--- @return table<integer, integer[][]> # the spans in away lines, by line number
local function mark_words(buf, group, row)
  local words = require('cursord.review.words')
  local in_away = {}
  for _, pair in ipairs(words.pairs(group.away, group.here)) do
    local away, here = words.spans(group.away[pair[1]], group.here[pair[2]])
    in_away[pair[1]] = away
    for _, span in ipairs(here or {}) do
      -- A line that was edited since gets no mark.
      pcall(api.nvim_buf_set_extmark, buf, ns_words, row + pair[2] - 1, span[1], {
        end_col = span[2],
        hl_group = highlights[group.isolated].here_text,
        priority = 91,
        undo_restore = false,
        invalidate = true,
      })
    end
  end
  return in_away
end

--- Draws the parts of a group that matter only in sight.
--- @param buf integer
--- @param group cursord.Group
--- @param beside boolean another window shows the away lines
--- @return boolean # whether lines were added to the screen
function M.dress(buf, group, beside)
  local cfg = config.get().review
  group.dressed = true
  local row, count = M.rows(buf, group)
  if cfg.overlay and count > 0 then
    paint(buf, group, row, count)
  end
  local spans = cfg.words and count == #group.here and mark_words(buf, group, row) or nil
  if cfg.overlay and (group.note or #group.away > 0 and not beside) then
    place_virtual(buf, group, row, count, spans, beside)
    return true
  end
  return false
end

--- @param buf integer
--- @param group cursord.Group
function M.remove(buf, group)
  local row, count = M.rows(buf, group)
  if group.paint then
    api.nvim_buf_del_extmark(buf, ns_words, group.paint)
  end
  if group.virtual then
    api.nvim_buf_del_extmark(buf, ns_words, group.virtual)
  end
  if group.dressed and count > 0 and #group.away > 0 then
    for _, mark in
      ipairs(
        api.nvim_buf_get_extmarks(
          buf,
          ns_words,
          { row, 0 },
          { row + count - 1, -1 },
          { details = true }
        )
      )
    do
      if not mark[4].virt_lines then
        api.nvim_buf_del_extmark(buf, ns_words, mark[1])
      end
    end
  end
  api.nvim_buf_del_extmark(buf, ns, group.mark)
end

return M
