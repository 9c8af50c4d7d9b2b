--- Groups of changed lines as extmarks.
local config = require('cursord.config')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord')
local ns_words = api.nvim_create_namespace('cursord_words')
M.ns, M.ns_words = ns, ns_words

--- A group is a run of deleted lines and the added lines that stand in their place.
--- @class cursord.Group
--- @field mark? integer spans the added lines, or is where the deleted ones were
--- @field virtual? integer has the deleted lines
--- @field below boolean the deleted ones were behind the last line
--- @field dels string[]
--- @field adds string[]
--- @field row integer by the diff
--- @field from integer of its first line, among the hunk's changed lines
--- @field dressed? boolean its words are marked

--- Splits a hunk into groups, with the rows at which they are by the diff.
--- @param hunk cursord.Hunk
--- @return cursord.Group[] groups
--- @return { row: integer, text: string }[] present the lines that must be there
function M.parse(hunk)
  local row = hunk.newLines == 0 and hunk.newStart or hunk.newStart - 1
  local groups, present, group, changed = {}, {}, nil, 0
  for _, line in ipairs(hunk.lines) do
    local sign, text = line:sub(1, 1), line:sub(2)
    if sign == ' ' then
      group = nil
    else
      if not group or sign == '-' and #group.adds > 0 then
        group = { row = row, dels = {}, adds = {}, from = changed, below = false }
        groups[#groups + 1] = group
      end
      table.insert(sign == '-' and group.dels or group.adds, text)
      changed = changed + 1
    end
    if sign ~= '-' then
      present[#present + 1] = { row = row, text = text }
      row = row + 1
    end
  end
  return groups, present
end

local function same_line(a, b)
  return a == b or a == b .. '\r' or a == '\239\187\191' .. b or a == '\239\187\191' .. b .. '\r'
end

--- Whether the lines that a hunk has are in the buffer where it says.
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

--- The deleted lines as virtual ones; with spans by number of the line.
local function virtual(dels, spans)
  local out = {}
  for i, line in ipairs(dels) do
    local text = (line:gsub('\r$', ''))
    local chunks, at = {}, 0
    for _, span in ipairs(spans and spans[i] or {}) do
      if span[1] > at then
        chunks[#chunks + 1] = { text:sub(at + 1, span[1]), 'CursordDelete' }
      end
      chunks[#chunks + 1] =
        { text:sub(span[1] + 1, span[2]), { 'CursordDelete', 'CursordDeleteText' } }
      at = span[2]
    end
    chunks[#chunks + 1] = { text:sub(at + 1), 'CursordDelete' }
    -- Tabs have no width of their own in virtual lines.
    for _, chunk in ipairs(chunks) do
      chunk[1] = chunk[1]:gsub('\t', '    ')
    end
    chunks[#chunks + 1] = { (' '):rep(vim.o.columns), 'CursordDelete' }
    out[i] = chunks
  end
  return out
end

--- @param buf integer
--- @param group cursord.Group
--- @param row integer
--- @param spans? table<integer, integer[][]>
local function place_virtual(buf, group, row, spans)
  group.virtual = api.nvim_buf_set_extmark(buf, ns_words, row, 0, {
    id = group.virtual,
    virt_lines = virtual(group.dels, spans),
    virt_lines_above = not group.below,
    undo_restore = false,
  })
end

--- Places the marks of a group where the diff has it.
--- @param buf integer
--- @param group cursord.Group
function M.place(buf, group)
  local cfg = config.get().review
  local kind = #group.dels == 0 and 'add' or #group.adds == 0 and 'delete' or 'change'
  local last = api.nvim_buf_line_count(buf) - 1
  local row = math.min(group.row, last)
  group.below = group.row > last
  local opts = { priority = 90, undo_restore = false }
  if #group.adds > 1 then
    opts.end_row, opts.end_col = row + #group.adds - 1, 0
  end
  if cfg.overlay and #group.adds > 0 then
    opts.line_hl_group = 'CursordAdd'
  end
  if cfg.signs then
    opts.sign_text = cfg.sign_text[kind]
    opts.sign_hl_group = ({
      add = 'CursordSignAdd',
      change = 'CursordSignChange',
      delete = 'CursordSignDelete',
    })[kind]
  end
  group.mark = api.nvim_buf_set_extmark(buf, ns, row, 0, opts)
  if cfg.overlay and #group.dels > 0 then
    place_virtual(buf, group, row)
  end
end

--- Where a group is now: its first row and how many rows of it there are.
--- @param buf integer
--- @param group cursord.Group
--- @return integer row
--- @return integer count
function M.rows(buf, group)
  local at = api.nvim_buf_get_extmark_by_id(buf, ns, group.mark, { details = true })
  if #group.adds == 0 then
    return group.below and at[1] + 1 or at[1], 0
  end
  return at[1], (at[3].end_row or at[1]) - at[1] + 1
end

--- Marks the words of a group that came into sight.
--- @param buf integer
--- @param group cursord.Group
function M.dress(buf, group)
  group.dressed = true
  local both = math.min(#group.dels, #group.adds)
  local row, count = M.rows(buf, group)
  if both == 0 or count ~= #group.adds or not config.get().review.words then
    return
  end
  local in_dels = {}
  local words = require('cursord.review.words')
  for i = 1, both do
    local old, new = words.spans(group.dels[i], group.adds[i])
    in_dels[i] = old
    for _, span in ipairs(new or {}) do
      -- Of what was edited since, nothing is marked.
      pcall(api.nvim_buf_set_extmark, buf, ns_words, row + i - 1, span[1], {
        end_col = span[2],
        hl_group = 'CursordAddText',
        priority = 91,
        undo_restore = false,
        invalidate = true,
      })
    end
  end
  if group.virtual then
    place_virtual(buf, group, row, in_dels)
  end
end

--- @param buf integer
--- @param group cursord.Group
function M.remove(buf, group)
  local row, count = M.rows(buf, group)
  if group.virtual then
    api.nvim_buf_del_extmark(buf, ns_words, group.virtual)
  end
  if group.dressed and count > 0 and #group.dels > 0 then
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
