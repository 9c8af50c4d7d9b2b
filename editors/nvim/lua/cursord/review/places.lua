--- The places of hunks in buffers.
local marks = require('cursord.review.marks')
local rpc = require('cursord.rpc')
local view = require('cursord.review.view')

local api = vim.api
local M = {}

--- Buffers that show hunks without being a file's buffer.
--- @class cursord.Elsewhere
--- @field ws cursord.Workspace
--- @field path fun(row: integer): string?
--- @field hunk fun(row: integer): cursord.Hunk?
--- @field parts fun(first: integer, last: integer): cursord.Part[]
M.others = {} --- @type table<integer, cursord.Elsewhere>

--- @class cursord.Place
--- @field id string
--- @field hunk cursord.Hunk
--- @field first integer the first row, from 0
--- @field last integer the last row; before first if only deleted lines are shown

--- @param buf integer
--- @param shown cursord.Shown
--- @return cursord.Place
local function place_of(buf, shown)
  local hunk, groups = shown.hunk, shown.groups
  local first, last = 0, -1
  if #groups > 0 then
    first = marks.rows(buf, groups[1])
    local row, count = marks.rows(buf, groups[#groups])
    last = row + count - 1
  end
  return { id = hunk.id, hunk = hunk, first = first, last = last }
end

--- The hunks of a buffer in order, at their present places, without those of which a decision is on its way.
--- @param buf integer
--- @return cursord.Place[]
function M.places(buf)
  local shown = view.get(buf)
  local out = {}
  for _, hunk in ipairs(shown and shown.diff.hunks or {}) do
    local one = shown.shown[hunk.id]
    if not one.deciding then
      out[#out + 1] = place_of(buf, one)
    end
  end
  return out
end

--- A row of a place on which the cursor can be.
--- @param buf integer
--- @param place_ cursord.Place
--- @return integer
function M.cursor_row(buf, place_)
  return math.min(place_.first, api.nvim_buf_line_count(buf) - 1)
end

--- The workspace of a buffer that shows hunks.
--- @param buf integer
--- @return cursord.Workspace?
function M.workspace(buf)
  local of = M.others[buf] or require('cursord.docs').get(buf)
  return of and of.ws
end

--- The hunk at a row. Deleted lines that are shown beside the row count, too.
--- @param buf integer
--- @param row integer
--- @return cursord.Place?
function M.at(buf, row)
  local other = M.others[buf]
  if other then
    local part = other.hunk(row)
    return part and { id = part.id, hunk = part, first = row, last = row }
  end
  local of, beside = view.get(buf), nil --- @type cursord.View?, cursord.Place?
  for _, shown in pairs(of and of.shown or {}) do
    if of and view.is_of_deleted(of.diff, shown.hunk) and not shown.deciding then
      return place_of(buf, shown)
    end
  end
  local near, order = view.within(buf, row - 1, row + 1), {} --- @type cursord.Shown[], table<string, integer>
  for i, hunk in ipairs(#near > 1 and of and of.diff.hunks or {}) do
    order[hunk.id] = i
  end
  table.sort(near, function(a, b) -- of several at one line, the uppermost
    return (order[a.hunk.id] or 0) < (order[b.hunk.id] or 0)
  end)
  for _, shown in ipairs(near) do
    local p = place_of(buf, shown)
    if row >= p.first and row <= p.last then
      return p
    elseif p.last < p.first and (row == p.first or row == p.first - 1) then
      if row == p.first or not beside then
        beside = p
      end
    end
  end
  return beside
end

--- @class cursord.Part
--- @field id string
--- @field hunk cursord.Hunk
--- @field lines? { from: integer, to: integer } among the hunk's changed lines; nil for all

--- The parts of hunks in a range of rows: the lines in the range, and the deleted lines that are shown inside it or
--- directly at its edge.
--- @param buf integer
--- @param first integer
--- @param last integer
--- @return cursord.Part[]
function M.parts(buf, first, last)
  if M.others[buf] then
    return M.others[buf].parts(first, last)
  end
  local shown = view.get(buf)
  local out = {}
  local count = api.nvim_buf_line_count(buf)
  for _, hunk in ipairs(shown and shown.diff.hunks or {}) do
    local from, to, all = nil, nil, 0
    local function take(at)
      from, to = math.min(from or at, at), math.max(to or 0, at + 1)
    end
    for _, group in ipairs(shown.shown[hunk.id].groups) do
      local row, rows = marks.rows(buf, group)
      all = all + #group.here + #group.away
      local beside = row + (group.isolated and math.max(rows - 1, 0) or 0)
      local at_end = beside >= count and last == count - 1
      if #group.away > 0 and (beside >= first and beside <= last or at_end) then
        take(group.away_from)
        take(group.away_from + #group.away - 1)
      end
      if rows == #group.here then
        for i = 0, rows - 1 do
          if row + i >= first and row + i <= last then
            take(group.here_from + i)
          end
        end
      elseif row <= last and row + rows > first then
        -- The person has edited inside the group; only the daemon knows which line is which.
        from, to = all - #group.here - #group.away, all
      end
    end
    if from then
      local part = { id = hunk.id, hunk = hunk }
      if from > 0 or to < all then
        part.lines = { from = from, to = to }
      end
      out[#out + 1] = part
    end
  end
  return out
end

--- Says that there is no hunk at a place, and how to get to one.
--- @param ws? cursord.Workspace
--- @param where string
function M.say_none(ws, where)
  local text = 'no hunk ' .. where
  if ws and ws:pending() > 0 then
    local ways = require('cursord.ways')
    local any = require('cursord.review.nav').has_stops(ws)
    text = any and ('%s; %s goes to the next one'):format(text, ways.to('next'))
      or ('%s; %s lists those without text'):format(text, ways.to('review'))
  end
  rpc.say(text, vim.log.levels.WARN)
end

return M
